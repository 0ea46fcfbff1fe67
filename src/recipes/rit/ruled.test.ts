import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMetrics } from '../../runs/readers.ts'
import type { ThinkingVerifier } from '../../tasks/thinking.ts'
import { checkRit } from './check.ts'
import { ritSchema } from './config.ts'
import { ritEntry } from './entry.ts'
import { runRit } from './run.ts'
import { withRules } from './tasks.ts'

const SLOW_MS = 180_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rit-ruled-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const rubricFile = (name: string, criteria: readonly string[]) => {
  const path = join(folder, name)
  writeFileSync(path, `about: thinking\ncriteria:\n${criteria.map(each => `  - ${each}\n`).join('')}`)
  return path
}

const RULE =
  '{id: need, text: Says what is needed, points: 5, verifier: {kind: rule, fn: contains, params: {any: [needs]}}}'
const TEXT = '{id: want, text: Says what is wanted, points: 3}'
const OWN =
  '{id: order, text: Right order, points: 2, verifier: {kind: rule, fn: packing_thought, params: {is: right-order}}}'

const settings = (file: string, task: 'packing' | 'arithmetic' = 'packing') =>
  ritSchema.parse({
    policy: { threads: 1 },
    task: { kind: task },
    model: { folder: `package:models/${task === 'packing' ? 'packing-thinking-start' : 'arithmetic-start'}` },
    steps: 1,
    rollout: { prompts: 2, samples: 4, maxTokens: 48 },
    evaluation: { problems: 4, samples: 2 },
    rubric: { source: 'file', file },
    dropZero: false,
  })

describe('a rubric of thinking with rules', () => {
  const response = { text: '', thinking: 'anna needs rope', answer: 'rope', closed: true }
  const asked: string[][] = []
  const others: ThinkingVerifier<string> = {
    verify: async items =>
      items.map(({ rubric: { criteria } }) => {
        asked.push(criteria.map(({ id }) => id))
        return criteria.map(({ id }) => ({ criterionId: id, met: false, source: 'llm' }))
      }),
  }
  const task = { question: (problem: string) => problem }
  const rule = (id: string, word: string) => ({
    ...{ id, text: id, points: 1 },
    verifier: { kind: 'rule' as const, fn: 'contains', params: { any: [word] } },
  })

  it('executes them on the thinking, and asks about the others alone', async () => {
    const rubric = { criteria: [rule('a', 'needs'), { id: 'b', text: 'b', points: 1 }, rule('c', 'wants')] }
    const verdicts = await withRules(others, task).verify([{ problem: 'q', response, rubric }])
    expect(verdicts[0].map(({ criterionId, met }) => [criterionId, met])).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
    ])
    expect(asked).toEqual([['b']])
  })

  it('keeps a list of another length, which says nothing, as one of nulls', async () => {
    const short: ThinkingVerifier<string> = { verify: async items => items.map(() => []) }
    const rubric = { criteria: [rule('a', 'needs'), { id: 'b', text: 'b', points: 1 }] }
    const [verdicts] = await withRules(short, task).verify([{ problem: 'q', response, rubric }])
    expect(verdicts.map(({ met }) => met)).toEqual([true, null])
  })

  it(
    'trains the miniature, beside its own predicates and without a judge',
    async () => {
      const dir = join(folder, 'run')
      await runRit(settings(rubricFile('mixed.yaml', [RULE, OWN])), { dir, resume: false })
      const [row] = readMetrics(dir)
      expect(row.judgeNullRate).toBe(0)
      expect(row.criteria).toMatchObject({ 'thinking.need': expect.any(Number) })
    },
    SLOW_MS,
  )

  it('is refused before anything is sampled where a criterion needs a judge and there is none', () => {
    const file = rubricFile('text.yaml', [RULE, TEXT])
    const refusal = /rubric\.file: .*text\.yaml: criterion "want"/
    expect(() => checkRit(settings(file), 'run')).toThrow(refusal)
    expect(() => checkRit(settings(file, 'arithmetic'), 'plan')).toThrow(refusal)
    const fleet = { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'judge' }] }
    expect(() =>
      checkRit({ ...settings(file), judge: ritSchema.parse({ judge: { fleet } }).judge }, 'run'),
    ).not.toThrow()
  })

  it('is refused where a rule does not take its parameters', () => {
    const wrong =
      '{id: w, text: Says so, points: 1, verifier: {kind: rule, fn: contains, params: {words: [a]}}}'
    expect(() => checkRit(settings(rubricFile('wrong.yaml', [wrong])), 'run')).toThrow(/wrong\.yaml.*"w"/)
  })

  it('says in a plan that the file is still to come', () => {
    const { lines } = ritEntry.plan(settings(join(folder, 'later.yaml')))
    expect(lines.join('\n')).toMatch(/rubric +file \(.*later\.yaml, not there yet\)/)
  })
})
