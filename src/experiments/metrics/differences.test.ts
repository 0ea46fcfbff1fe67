import { describe, expect, it } from 'vitest'
import { evalItem, evalRow } from '../../runs/eval-row.fixture.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { missingMetrics } from '../analysis/missing-metrics.ts'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import { type FinishedRun, metricNamed } from './index.ts'
import type { Peers } from './metric.ts'

const evaluation = (
  step: number,
  set: string,
  scores: Record<string, number>,
  primary = 'accuracy',
): EvalRow =>
  evalRow(0, {
    step,
    set,
    n: 4,
    primary,
    scores: Object.fromEntries(Object.entries(scores).map(([name, value]) => [name, { value }])),
    items: [evalItem('x', 1)],
  })

const run = (more: Partial<FinishedRun> = {}): FinishedRun => ({
  arm: 'rit',
  start: 's',
  seed: '1',
  steps: 10,
  metrics: [],
  evals: [],
  probes: {},
  seconds: 0,
  ...more,
})

const read = (name: string, options: Record<string, unknown>, of: FinishedRun, peers?: Peers) => {
  const { metric, options: checked } = metricNamed({ name, options }, 'test')
  return metric.value(of, checked, peers)
}

describe('a score under the name that the recipe gave it', () => {
  const of = run({ evals: [evaluation(10, 'unseen', { accuracy: 0.5, 'pass@8': 0.9, 'avg@8': 0.6 })] })

  it('is read whatever the name', () => {
    expect(read('score', { score: 'pass@8' }, of)).toBe(0.9)
    expect(read('score', { score: 'avg@8' }, of)).toBe(0.6)
    expect(read('score', { score: 'max@8' }, of)).toBeNull()
  })

  it('is told as missing with the names that there are', () => {
    const [first] = fakeContent().claims as object[]
    const claims = [
      { ...first, arms: { a: 'better', b: 'plain' }, metric: { name: 'score', score: 'pass@9' } },
    ]
    const [found] = missingMetrics(fakeRegistration({ claims, charts: [] }), { ...of, arm: 'better' })
    expect(found).toBe(
      'claims[0].metric: no score (score pass@9) in a finished run of better; did you mean pass@8?',
    )
    const far = [{ ...first, arms: { a: 'better', b: 'plain' }, metric: { name: 'score', score: 'zzzzz' } }]
    const [other] = missingMetrics(fakeRegistration({ claims: far, charts: [] }), { ...of, arm: 'better' })
    expect(other).toContain('its scores are accuracy, pass@8, avg@8')
  })
})

describe('score-difference', () => {
  const of = run({
    evals: [
      evaluation(0, 'unseen', { accuracy: 0.3, 'best@16': 0.6 }),
      evaluation(0, 'hinted', { accuracy: 0.35 }),
      evaluation(10, 'unseen', { accuracy: 0.5, 'best@16': 0.9 }),
      evaluation(10, 'hinted', { accuracy: 0.7 }),
      evaluation(10, 'placebo', { accuracy: 0.55 }),
    ],
  })

  it('is between two test sets of one run, after the last step', () => {
    expect(read('score-difference', { set: 'hinted', minus: 'placebo' }, of)).toBeCloseTo(0.15, 12)
    expect(read('score-difference', { set: 'hinted', minus: 'unseen' }, of)).toBeCloseTo(0.2, 12)
    expect(read('score-difference', { set: 'hinted', minus: 'elsewhere' }, of)).toBeNull()
  })

  it('or between two scores', () => {
    const options = { set: 'unseen', score: 'best@16', minusScore: 'accuracy' }
    expect(read('score-difference', options, of)).toBeCloseTo(0.4, 12)
  })

  it('has no value where the last evaluation lacks one of them, and a curve where both were measured', () => {
    const { metric, options } = metricNamed(
      { name: 'score-difference', options: { set: 'hinted', minus: 'unseen' } },
      'test',
    )
    expect(metric.over!(of, options).map(({ step }) => step)).toEqual([0, 10])
    const evals = of.evals.filter(({ set, step }) => set !== 'unseen' || step === 0)
    expect(read('score-difference', { set: 'hinted', minus: 'unseen' }, { ...of, evals })).toBeNull()
  })

  it('is refused without anything to take away', () => {
    expect(() => read('score-difference', { set: 'hinted' }, of)).toThrow(
      'minus (another test set) or minusScore (another score)',
    )
  })
})

describe('judge-gap', () => {
  const of = run({
    evals: [
      evaluation(0, 'u', { 'judge.train': 0.5, 'judge.a': 0.5, 'judge.b': 0.4 }, 'judge.train'),
      evaluation(10, 'u', { 'judge.train': 0.8, 'judge.a': 0.6, 'judge.b': 0.3 }, 'judge.train'),
    ],
  })
  const gap = (more: object = {}, from = of) =>
    read('judge-gap', { train: 'judge.train', heldOut: ['judge.*'], ...more }, from)

  it('is the gain under the own judge less that under the others', () => {
    // .3 against the mean of .1 and -.1.
    expect(gap()).toBeCloseTo(0.3, 12)
    expect(gap({ of: 'trainGain' })).toBeCloseTo(0.3, 12)
    expect(gap({ of: 'heldOutGain' })).toBeCloseTo(0, 12)
    expect(gap({ of: 'reversals' })).toBe(1)
    expect(gap({ heldOut: ['judge.a'] })).toBeCloseTo(0.2, 12)
  })

  it('has no value without a start, or where a judge lacks', () => {
    expect(gap({}, { ...of, evals: of.evals.slice(1) })).toBeNull()
    expect(gap({ heldOut: ['judge.a', 'judge.c'] })).toBeNull()
  })
})

describe('all-of', () => {
  const curve = (thinking: number, response: number) =>
    run({
      metrics: Array.from({ length: 11 }, (_, i) => ({
        step: i + 1,
        thinking: 0.5 + (thinking * i) / 10,
        response: 0.5 + (response * i) / 10,
      })),
      steps: 11,
    })
  const options = {
    of: [
      { metric: { name: 'curve', key: 'thinking', statistic: 'change' }, above: 0.02 },
      { metric: { name: 'curve', key: 'response', statistic: 'change' }, below: -0.02 },
    ],
  }

  it('is 1 where every value of the run is where it has to be', () => {
    expect(read('all-of', options, curve(0.3, -0.1))).toBe(1)
    expect(read('all-of', options, curve(0.3, 0.1))).toBe(0)
    expect(read('all-of', options, curve(-0.3, -0.1))).toBe(0)
    expect(read('all-of', options, run())).toBeNull()
  })

  it('tells the values, and wants bounds', () => {
    const { metric, options: checked } = metricNamed({ name: 'all-of', options }, 'test')
    const found = metric.details!(curve(0.3, -0.1), checked)!
    expect(found['figure 1']).toBeCloseTo(0.3, 12)
    expect(found['figure 2']).toBeCloseTo(-0.1, 12)
    const loose = { of: [options.of[0], { metric: { name: 'tokens' } }] }
    expect(() => read('all-of', loose, run())).toThrow(
      'expected above or below, got an object; say what the value has to be',
    )
  })
})

describe('a curve where another one is at a level', () => {
  // Entropy falls by a tenth of a nat a step in one arm, by a fifth in the other; their rewards rise by .05 and .1 a step.
  const of = (arm: string, fall: number, rise: number) =>
    run({
      arm,
      steps: 20,
      metrics: Array.from({ length: 20 }, (_, i) => ({
        step: i + 1,
        entropy: 5 - fall * i,
        reward: Math.min(1, rise * i),
      })),
    })
  const [slow, fast] = [of('rit', 0.1, 0.04), of('orm', 0.2, 0.1)]
  const peers: Peers = arm => ({ rit: slow, orm: fast })[arm]
  const matched = (more: object) => ({
    key: 'entropy',
    statistic: 'slope',
    matched: { key: 'reward', window: 1, span: 0.2, ...more },
  })

  it('takes the lowest of what the arms reach at most, in each run where it is reached first', () => {
    // At most .76 and 1: .76 is reached at step 20 and at step 9.
    const options = matched({ among: ['rit', 'orm'] })
    const { metric, options: checked } = metricNamed({ name: 'curve', options }, 'test')
    expect(metric.details!(slow, checked, peers)).toEqual({ matchedStep: 20 })
    expect(metric.details!(fast, checked, peers)).toEqual({ matchedStep: 9 })
    // The slope is per span: four steps of twenty, though the slower run ends in the middle of it.
    expect(metric.value(slow, checked, peers)).toBeCloseTo(-0.4, 10)
    expect(metric.value(fast, checked, peers)).toBeCloseTo(-0.8, 10)
  })

  it('or a level that is given; a run that never reaches it has no value', () => {
    const at = (level: number) => ({ ...matched({ level }), statistic: 'first' })
    // Reward .4 at step 11 of the slower: read from step 9 on.
    expect(read('curve', at(0.4), slow)).toBeCloseTo(5 - 0.8, 10)
    expect(read('curve', at(0.9), slow)).toBeNull()
    expect(read('curve', matched({ among: ['rit', 'orm'] }), slow)).toBeNull()
  })

  it('is refused with a place of its own, and without a level', () => {
    expect(() => read('curve', { ...matched({ level: 1 }), from: 0.5 }, slow)).toThrow('no from or to')
    expect(() => read('curve', matched({}), slow)).toThrow('either level (a number) or among')
  })
})
