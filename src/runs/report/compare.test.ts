import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { compareMany } from '../compare/compare.ts'
import { evalRowOf } from '../eval-row.fixture.ts'
import type { EvalRow } from '../rows.ts'
import { RunFolder } from '../run-folder.ts'
import { compareRuns } from './compare.ts'
import { pairedDifference } from './paired.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-compare-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const answers = (rights: number[], ids?: string[]): EvalRow => evalRowOf(rights, { step: 10 }, ids)

const makeRun = (id: string, reward: number, learningRate: number, evaluation: EvalRow) => {
  const run = RunFolder.create(join(root, id), { config: { policy: { learningRate }, group: 8 }, seed: 3 })
  for (let step = 1; step <= 20; step++)
    run.appendMetrics({ step, reward: step < 19 ? 0 : reward, time: { total: 2 } })
  run.appendEvals([evaluation])
  run.close()
  return join(root, id)
}

it('compares last metrics, settings, and evaluations pair by pair', () => {
  const a = makeRun('first', 1, 0.1, answers([0, 0, 1, 1]))
  const b = makeRun('second', 1.5, 0.2, answers([1, 1, 1, 1]))
  const { text, json } = compareRuns(a, b)
  expect(json.a).toEqual({ id: 'first', seed: 3, steps: 20, trainSeconds: 40 })
  expect(json.metrics.find(metric => metric.name === 'reward')).toEqual({ name: 'reward', a: 1, b: 1.5 })
  expect(json.settings).toEqual([{ name: 'policy.learningRate', a: 0.1, b: 0.2 }])
  expect(json.evals).toHaveLength(1)
  expect(json.evals[0].paired).toMatchObject({ n: 4, before: 0.5, after: 1, difference: 0.5 })
  expect(text).toMatch(/real: answers right\s+50\.0%\s+100\.0%\s+\+50\.0\s+.*\(4 pairs\)/)
})

it('calls a score what the runs call it', () => {
  const scored = (id: string) =>
    makeRun(id, 1, 0.1, {
      ...answers([0.5, 1]),
      scores: { 'greedy.rubric': { value: 0.5 }, rubric: { value: 0.75 } },
      primary: 'rubric',
      scoreNames: { rubric: 'rubric score' },
    })
  const { text, json } = compareRuns(scored('rubric-a'), scored('rubric-b'))
  expect(json.evals.map(({ label }) => label)).toEqual(['rubric score', 'greedy: rubric score'])
  expect(text).toMatch(/real: rubric score\s+75\.0%/)
  expect(text).not.toContain('answers right')
})

it('says that runs read files of the same name that were not the same', () => {
  const reading = (id: string, sha256: string) => {
    const files = [
      { path: 'rows.jsonl', sha256: 'c'.repeat(64) },
      { path: 'rubric.yaml', sha256: sha256.repeat(64) },
    ]
    const run = RunFolder.create(join(root, id), { config: {}, files })
    run.appendEvals([answers([0, 1])])
    run.close()
    return join(root, id)
  }
  const { text, json } = compareRuns(reading('by-one', 'a'), reading('by-other', 'b'))
  const [a, b] = ['SHA-256 aaaaaaaaaaaa', 'SHA-256 bbbbbbbbbbbb']
  expect(json.settings).toEqual([{ name: 'contents of rubric.yaml', a, b }])
  expect(text).toContain('contents of rubric.yaml')
})

it('pairs only problems that both have', () => {
  const before = answers([0, 0, 0], ['x', 'y', 'z'])
  const after = answers([1, 1, 0], ['z', 'y', 'other'])
  expect(pairedDifference(before, after, 'accuracy')).toMatchObject({ n: 2, difference: 1, interval: [1, 1] })
  expect(pairedDifference(before, answers([1], ['q']), 'accuracy')).toBeNull()
  expect(pairedDifference(before, after, 'correctAndValid')).toBeNull()
})

it('shows the metrics that a paired difference is between', () => {
  const a = makeRun('few', 1, 0.1, answers([0, 1]))
  const b = makeRun('many', 1, 0.1, answers([1, 1, 0, 0, 0, 0]))
  const { text, json } = compareRuns(a, b)
  expect(json.evals[0]).toMatchObject({ a: 0.5, b: 1 / 3 })
  expect(text).toMatch(/real: answers right\s+50\.0%\s+100\.0%\s+\+50\.0\s+.*\(2 pairs\)/)
})

it('gives an interval of the width that theory gives', () => {
  const n = 400
  const before = answers(Array.from({ length: n }, () => 0))
  const after = answers(Array.from({ length: n }, (_, i) => i % 2))
  const [low, high] = pairedDifference(before, after, 'accuracy')!.interval
  const reach = 1.96 * Math.sqrt(0.25 / n)
  expect(low).toBeGreaterThan(0.5 - 1.15 * reach)
  expect(low).toBeLessThan(0.5 - 0.85 * reach)
  expect(high).toBeGreaterThan(0.5 + 0.85 * reach)
  expect(high).toBeLessThan(0.5 + 1.15 * reach)
})

it('compares criteria pair by pair, and what each run paid since its start', () => {
  const withCriteria = (id: string, scores: number[], tax?: EvalRow['tax']) => {
    const row = answers(scores)
    const items = row.items!.map((item, i) => ({ ...item, criteria: { C4: scores[i], C5: null } }))
    return makeRun(id, 1, 0.1, {
      ...row,
      items,
      criteria: { C4: row.scores.accuracy.value, C5: null },
      ...(tax && { tax }),
    })
  }
  const fall = { n: 4, before: 0.8, after: 0.5, change: -0.3, interval: [-0.4, -0.2], unseen: true } as const
  const a = withCriteria('untaxed', [1, 1, 1, 1])
  const b = withCriteria('taxed', [0, 1, 0, 1], { C4: fall })
  const { text, json } = compareRuns(a, b)
  expect(json.criteria[0]).toMatchObject({
    criterion: 'C4',
    a: 1,
    b: 0.5,
    paired: { n: 4, difference: -0.5 },
    sinceStart: { a: null, b: fall },
  })
  expect(json.criteria[1]).toMatchObject({ criterion: 'C5', a: null, b: null, paired: null })
  expect(text).toMatch(/real: C4\s+100\.0%\s+50\.0%\s+−50\.0\s+.*\(4 pairs\)/)
  expect(text).toMatch(/real: C4\s+–\s+−30\.0 \[−40\.0 to −20\.0\] tax/)
})

it('takes no score by one rubric from a score by another', () => {
  const short = { id: 'short', text: 'Is short.', points: 2, check: 'rule length' }
  const scored = (id: string, points: number) => {
    const criteria = [{ ...short, points }]
    const run = RunFolder.create(join(root, id), {
      config: {},
      files: [{ path: 'rubric.yaml', sha256: String(points).repeat(64) }],
      rubric: { criteria, ofRows: 0, sha256: String(points).repeat(64) },
    })
    const rubric = (value: number) => ({ rubric: value, wellFormed: 1 })
    run.appendMetrics({ step: 1, reward: 0.5, entropy: 1, criteria: { short: 0.5 } })
    run.appendEvals([
      {
        ...answers([0, 1]),
        ...{ primary: 'rubric', scores: { rubric: { value: 0.5 }, wellFormed: { value: 1 } } },
        criteria: { short: 0.5 },
        items: ['p0', 'p1'].map(name => ({ id: name, scores: rubric(0.5), criteria: { short: 0.5 } })),
      },
    ])
    run.close()
    return join(root, id)
  }
  const [two, three] = [scored('two-points', 2), scored('three-points', 3)]
  const { json, text } = compareRuns(two, three)
  expect(json.evals.map(({ score, paired, otherRubric }) => [score, paired?.n, otherRubric])).toEqual([
    ['rubric', undefined, true],
    ['wellFormed', 2, undefined],
  ])
  // What it asks for is the same: only its worth differs.
  expect(json.criteria[0].paired).toMatchObject({ n: 2 })
  expect(text).toMatch(/real: rubric\s+50\.0%\s+50\.0%\s+–\s+another rubric/)
  // Rewards as little; what is by no rubric does.
  expect(json.metrics.flatMap(({ name, otherRubric }) => (otherRubric ? [name] : []))).toEqual(['reward'])
  expect(text).toMatch(/reward\s+0\.5\d*\s+0\.5\d*\s+another rubric/)
  const many = compareMany([two, three]).json
  expect(many.groups.map(({ runs }) => runs.length)).toEqual([1, 1])
  expect(many.settings.map(({ name }) => name)).toEqual(['contents of rubric.yaml'])
  expect(many.scores[0].groups[1].differenceToFirst).toMatchObject({
    difference: null,
    over: 'another rubric',
  })
})

it('says of runs that have begun and no more that there is nothing to compare', () => {
  const dirs = ['bare-a', 'bare-b'].map(id => {
    const run = RunFolder.create(join(root, id), { config: {} })
    run.close()
    return run.dir
  })
  expect(compareRuns(dirs[0], dirs[1]).text).toMatch(/^No metric that both runs have/)
})
