import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { FormalGrader } from '../grade/formal-grader.ts'
import { RuleGrader } from '../grade/rules/index.ts'
import { mainTest } from '../tasks/task.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { type SavedAnswer, SavedAnswers } from './answers.ts'
import type { Benchmark } from './benchmark.ts'
import { GRADING, gradeAll } from './grading.ts'
import { ifbench, ifeval } from './instructions.ts'
import { measure, metricNames } from './metrics.ts'
import { spoken } from './spoken.ts'
import { measuredProblems, measuredTask } from './task.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-measure-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, rows: readonly unknown[]): string => {
  const path = join(folder, name)
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}

const measured = async (kind: Benchmark, file: string, responses: readonly (readonly string[])[]) => {
  const parts = { ...GRADING, asked: 'words' as const, folder: '', format: spoken, judged: false }
  const task = await kind.open({}, { ...parts, files: [file], tests: 0 })
  const problems = measuredProblems(kind, task, mainTest(task)[1])
  const answers_P = problems.map(({ id, messages }, p) =>
    responses[p].map((response, sample): SavedAnswer => ({ id, sample, prompt: messages, response })),
  )
  const graders = { rules: new RuleGrader(), formal: new FormalGrader(), judge: null, heldOut: null }
  const graded_P = await gradeAll(kind, task, problems, answers_P, graders, { onGraded: () => {} })
  const own = measuredTask('own', kind, task, problems)
  return measure('m', own, problems, graded_P, metricNames(own, problems, { heldOut: false }))
}

const ROWS = [
  {
    key: 1,
    prompt: 'Say it.',
    instruction_id_list: ['punctuation:no_comma', 'change_case:english_lowercase'],
    kwargs: [{}, {}],
  },
  {
    key: 2,
    prompt: 'Three.',
    instruction_id_list: ['detectable_format:number_bullet_lists'],
    kwargs: [{ num_bullets: 2 }],
  },
  { key: 3, prompt: 'No.', instruction_id_list: ['punctuation:no_comma'], kwargs: [{ num_bullets: null }] },
]

describe('IFEval', () => {
  it('counts prompts and instructions, strictly and loosely, as its own code does', async () => {
    const file = write('rows.jsonl', ROWS)
    // Worked by evaluation_lib.py: strict [[T, F], [T], [F]], loose [[T, T], [T], [T]]: the first line of the first and the last goes.
    const responses = [
      ['Sure!\nall in small letters here'],
      ['* one\n* two'],
      ['Well, here it is:\nno commas at all'],
    ]
    const { metrics } = await measured(ifeval, file, responses)
    const values = Object.fromEntries(Object.entries(metrics).map(([name, { value }]) => [name, value]))
    expect(values).toMatchObject({
      promptStrict: 1 / 3,
      instructionStrict: 2 / 4,
      promptLoose: 1,
      instructionLoose: 1,
      'punctuation:no_comma': 1 / 2,
      'change_case:english_lowercase': 0,
      'detectable_format:number_bullet_lists': 1,
    })
  })

  it('follows nothing with a blank response, and does not grade thinking', async () => {
    const file = write('blank.jsonl', [ROWS[2], { ...ROWS[2], key: 4 }])
    const { metrics } = await measured(ifeval, file, [[' \n'], ['<think>a, b</think>a b']])
    expect(metrics.promptLoose.value).toBe(1 / 2)
  })

  it.each([
    [{ ...ROWS[0], kwargs: [{}] }, /rows2\.jsonl:1: kwargs: expected one for each of 2 instructions, got 1/],
    [{ ...ROWS[2], instruction_id_list: ['punctuation:no_commas'] }, /expected the id of an instruction/],
    [{ ...ROWS[1], kwargs: [{ bullets: 2 }] }, /bullets/],
    [{ prompt: 'x' }, /key/],
  ])('refuses a row that is none: %j', (row, words) => {
    expect(() => ifeval.rows(write('rows2.jsonl', [row]))).toThrow(words)
  })
})

it('the public prompts of both are problems', ({ skip }) => {
  const [own, other] = [sharedData('ifeval/prompts.jsonl'), sharedData('ifbench/prompts.jsonl')]
  if (own === null || other === null) return skip('no ../shared/data/ifeval here')
  expect([ifeval.rows(own).length, ifbench.rows(other).length]).toEqual([200, 100])
})

describe('saved answers', () => {
  it('are found by prompt and by id, in the order of the file', () => {
    const [problem] = ifeval.rows(write('one.jsonl', [ROWS[0]]))
    const responses = (rows: readonly object[]) =>
      new SavedAnswers(write('answers.jsonl', rows)).to(problem).map(({ response }) => response)
    expect(
      responses([
        { prompt: 'Say it.', response: 'a' },
        { prompt: 'Other', response: 'b' },
      ]),
    ).toEqual(['a'])
    expect(
      responses([
        { id: 1, response: 'a' },
        { id: 1, response: 'b' },
        { id: 2, response: 'c' },
      ]),
    ).toEqual(['a', 'b'])
    // An id that another file gave to another prompt.
    expect(responses([{ id: 1, prompt: 'Other', response: 'a' }])).toEqual([])
  })
})
