import { describe, expect, it } from 'vitest'
import { evalItem, evalRow } from '../../runs/eval-row.fixture.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { type FinishedRun, metricNamed } from './index.ts'
import type { Peers } from './metric.ts'

type Line = [thinking: number, words: number]
const row = (step: number, lines: readonly Line[]): EvalRow =>
  evalRow(0, {
    step,
    set: 'unseen',
    n: lines.length,
    items: lines.map(([thinking, words], i) => evalItem(`p${i}`, 0, { scores: { thinking, words } })),
  })
const run = (arm: string, lines: readonly Line[], start: readonly Line[] = []): FinishedRun => ({
  arm,
  start: 'a',
  seed: '1',
  steps: 10,
  metrics: [],
  evals: [row(0, start), row(10, lines)],
  probes: {},
  seconds: 0,
})

// Four problems: rit alone is best, all three are equal, rit and orm share, the start is best.
const START: Line[] = [
  [0.1, 10],
  [0.5, 10],
  [0.2, 10],
  [0.9, 10],
]
const rit = run(
  'rit',
  [
    [0.9, 20],
    [0.5, 10],
    [0.7, 11],
    [0.3, 10],
  ],
  START,
)
const orm = run(
  'orm',
  [
    [0.4, 10],
    [0.5, 10],
    [0.7, 10],
    [0.3, 10],
  ],
  START,
)
const peers: Peers = arm => ({ rit, orm })[arm]
const among = ['rit', 'orm', 'start']

const read = (of: FinishedRun, more: object = {}, others: Peers | undefined = peers) => {
  const { metric, options } = metricNamed({ name: 'win-rate', options: { among, ...more } }, 'test')
  return { value: metric.value(of, options, others), details: metric.details!(of, options, others) }
}

describe('win-rate', () => {
  it('is the share of problems on which an arm is the best, equals sharing', () => {
    // rit: 1 + 1/3 + 1/2 + 0; orm: 0 + 1/3 + 1/2 + 0; the start: 0 + 1/3 + 0 + 1; of 4.
    expect(read(rit).value).toBeCloseTo((1 + 1 / 3 + 1 / 2) / 4, 12)
    expect(read(orm).value).toBeCloseTo((1 / 3 + 1 / 2) / 4, 12)
    expect(read({ ...rit, arm: 'start', evals: rit.evals.slice(0, 1) }).value).toBeCloseTo(
      (1 / 3 + 1) / 4,
      12,
    )
  })

  it('looks at problems of matched length only, and says how many those are', () => {
    // The first is twice as long in rit; the third a tenth longer.
    const matched = read(rit, { length: 'words', within: 0.1 })
    expect(matched.value).toBeCloseTo((1 / 3 + 1 / 2) / 3, 12)
    expect(matched.details).toEqual({ compared: 0.75 })
    expect(read(rit, { length: 'words', within: 0.05 }).value).toBeCloseTo(1 / 3 / 2, 12)
    expect(read(rit).details).toBeNull()
  })

  it('uses problems that all arms have', () => {
    const fewer = run('orm', [[0.4, 10]], START)
    expect(read(rit, {}, arm => ({ rit, orm: fewer })[arm]).value).toBe(1)
  })

  it('has no value without the other arms, for another arm, and without the score', () => {
    expect(read(rit, {}, () => undefined).value).toBeNull()
    expect(read(run('other', START)).value).toBeNull()
    expect(read(rit, { score: 'depth' }).value).toBeNull()
  })
})
