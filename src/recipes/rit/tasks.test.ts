import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { writeQuestions } from '../../tasks/questions/rows.fixture.ts'
import { checkRit } from './check.ts'
import { ritSchema } from './config.ts'
import { openTask } from './tasks.ts'

let folder: string
let model: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rit-tasks-'))
  model = writeTinyChat(join(folder, 'model'), 8192)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const config = (more: object = {}) =>
  ritSchema.parse({
    task: {
      ...{
        kind: 'questions',
        format: 'writingbench',
        file: writeQuestions(folder, 'writingbench'),
        holdOut: 2,
      },
      ...more,
    },
    judge: { fleet: { endpoints: [{ url: 'http://127.0.0.1:1/v1', model: 'none' }] } },
  })

/** What training and evaluation make of an answer, by a judge who finds all criteria met, and gives a 2 of 10 for each. */
const scores = (more: object = {}): Promise<(number | null)[]> => {
  const judge = scriptedModel(({ messages }) => {
    const asked = messages.map(({ content }) => content).join()
    const count = Number(/, (\d+) in all/.exec(asked)?.[1])
    const list = <T>(entry: T): T[] => Array.from({ length: count }, () => entry)
    if (asked.includes('You judge the answer to a query')) {
      expect(asked).not.toContain('quiet thought')
      return JSON.stringify({ judgement: list(1) })
    }
    return JSON.stringify({ verdicts: list({ explanation: 'poor', score: 2 }) })
  })
  return openTask(
    config(more),
    model,
    async ({ task, close }) => {
      const tokens = Int32Array.from([...Buffer.from('<think>quiet thought</think>an answer'), 257])
      const [problem] = task.train as never[]
      const [trained] = await task.grade([{ problem, tokens, step: 1 }])
      const [tested] = await task.grade([{ problem, tokens }])
      await close()
      return [trained.score, tested.score]
    },
    judge,
  )
}

it('open answers are paid by binary verdicts in training, and evaluated by the score of the benchmark (Eq. 5)', async () => {
  const [trained, tested] = await scores()
  expect(trained).toBe(1)
  expect(tested).toBeCloseTo(1 / 9, 12)
})

it('or they are paid that score in training, too', async () => {
  const [trained, tested] = await scores({ openReward: 'score' })
  expect(tested).toBeCloseTo(1 / 9, 12)
  expect(trained).toBe(tested)
})

describe('questions without a judge', () => {
  const starts = { kind: 'rule', fn: 'regex', params: { pattern: '^quiet' } }
  const file = (name: string, rows: readonly object[]): string => {
    const path = join(folder, name)
    writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    return path
  }
  const open = (verifier?: object) =>
    ['a', 'b', 'c'].map(id => ({
      ...{ id, question: `Write ${id}.` },
      rubric: { criteria: [{ id: 'an', text: 'Is an answer.', points: 1, verifier }] },
    }))
  const thinking = (verifier?: object) => [
    { id: 'a', criteria: [{ id: 'quiet', text: 'Is quiet.', points: 1, verifier }] },
    { id: 'b', criteria: [{ id: 'quiet', text: 'Is quiet.', points: 1, verifier }] },
  ]
  const settings = (rows: readonly object[], rubrics: readonly object[]) => ({
    recipe: 'rit',
    model: { folder: model },
    task: { kind: 'questions', format: 'plain', file: file('open.jsonl', rows), holdOut: 1 },
    rubric: { source: 'file', file: file('thinking.jsonl', rubrics) },
    rollout: { prompts: 1, samples: 2, maxTokens: 16 },
  })
  const answer = { kind: 'rule', fn: 'contains', params: { any: ['answer'] } }

  it('are judged by rules, thinking and answer each by its own', async () => {
    const config = ritSchema.parse(settings(open(answer), thinking(starts)))
    const [score, verdicts] = await openTask(config, model, async ({ task, verifier, close }) => {
      const tokens = Int32Array.from([...Buffer.from('<think>quiet thought</think>an answer'), 257])
      const [problem] = task.train
      const [graded] = await task.grade([{ problem, tokens, step: 1 } as never])
      const { rubric } = readRubricFile(config.rubric.file!).items[0]
      const [judged] = await verifier.verify([{ problem, rubric, response: task.thinking.read(tokens) }])
      await close()
      return [graded.score, judged.map(({ met }) => met)]
    })
    expect(score).toBe(1)
    expect(verdicts).toEqual([true])
  })

  it.each([
    [/judge: expected one for open questions with criteria that no rule decides/, open(), thinking(starts)],
    [/rubric\.file: .*thinking\.jsonl: quiet: expected a rule, got none/, open(answer), thinking()],
  ])('are refused where no rule decides a criterion: %s', (message, rows, rubrics) => {
    expect(() => checkRit(ritSchema.parse(settings(rows, rubrics)), 'run')).toThrow(message)
  })
})
