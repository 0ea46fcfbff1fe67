import { describe, expect, it } from 'vitest'
import type { CountedValue } from '../recipes/common/task-kind.ts'
import { pairedDifferences } from './compare.ts'
import { type GradedAnswer, type Measured, measure, metricNames, weightedMetric } from './metrics.ts'
import type { MeasuredProblem, MeasuredTask } from './task.ts'

const NAMES = [{ name: 'x', words: 'x', group: 'score', unit: 'share' }] as const

const measured = (counted: readonly (CountedValue | null)[]): Measured => ({
  model: 'm',
  items: counted.flatMap((own, i) => (own ? [{ id: `p${i}`, values: { x: own }, graded: [] }] : [])),
  metrics: {},
  nullRate: 0,
  nullRates: {},
  unjudged: [],
})
const values = (...xs: number[]) => measured(xs.map(value => ({ value })))
const paired = (a: Measured, b: Measured) => pairedDifferences(a, b, NAMES).x!

describe('two models on the same problems', () => {
  it('are compared by McNemar where each problem is right or wrong', () => {
    // 8 won, 2 lost: two-sided binomial p of 2 or fewer of 10 is 2 (1 + 10 + 45) / 1024.
    const a = values(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0)
    const b = values(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0)
    const own = paired(a, b)
    expect(own).toMatchObject({ n: 12, won: 8, lost: 2, tied: 2, test: 'McNemar', difference: 0.5 })
    expect(own.p).toBeCloseTo(112 / 1024, 12)
    const [low, high] = own.interval!
    expect(low).toBeGreaterThan(-0.1)
    expect(high).toBeLessThan(1)
  })

  it('are compared by sign flips elsewhere: all patterns of few differences', () => {
    // Of 2^3 patterns only the given one and its opposite reach a sum of .6.
    const own = paired(values(0.3, 0.5, 0.4), values(0.1, 0.3, 0.2))
    expect(own).toMatchObject({ test: 'sign flips', won: 3, lost: 0 })
    expect(own.p).toBeCloseTo(2 / 8, 12)
  })

  it('that are alike on few problems may differ on others', () => {
    // Wilson's upper end of 0 of 3: 1.96^2 / (3 + 1.96^2).
    const [low, high] = paired(values(1, 1, 0), values(1, 1, 0)).interval!
    expect([low, high]).toEqual([expect.closeTo(-0.5615, 4), expect.closeTo(0.5615, 4)])
    const same = Array.from({ length: 200 }, (_, i) => i % 2)
    expect(paired(values(...same), values(...same)).interval![0]).toBeCloseTo(-0.0188, 4)
  })

  it('weigh problems by what they hold', () => {
    const weighed = (...xs: [number, number][]) => measured(xs.map(([value, weight]) => ({ value, weight })))
    const own = paired(weighed([1, 3], [0, 1]), weighed([0, 3], [1, 1]))
    expect(own).toMatchObject({ difference: (3 - 1) / 4, a: 3 / 4, b: 1 / 4, test: 'sign flips' })
  })

  it('count the problems alone that both have', () => {
    const own = paired(measured([{ value: 1 }, null, { value: null }, { value: 1 }]), values(0, 1, 1, 1))
    expect(own).toMatchObject({ n: 2, a: 1, b: 0.5, won: 1, tied: 1 })
    expect(pairedDifferences(measured([null]), values(1), NAMES).x).toBeNull()
  })
})

it('a weighted mean resamples problems with all that they hold', () => {
  const { value, interval } = weightedMetric([1, 0, 0.5], [2, 1, 2])
  expect(value).toBeCloseTo(3 / 5, 12)
  expect(interval![0]).toBeLessThan(0.6)
  expect(interval![1]).toBeGreaterThan(0.6)
  expect(weightedMetric([0.25], [2])).toEqual({ value: 0.25, interval: null, n: 1 })
})

it('has an interval also where nothing was ever met, of instructions that stand twice in a prompt', () => {
  const task = { scores: {}, primary: '' } as unknown as MeasuredTask
  const problem = (id: string) => ({
    ...{ id, messages: [], rubric: { criteria: [] } },
    rates: new Map([
      ['a', 'kind'],
      ['b', 'kind'],
    ]),
  })
  const problems = ['1', '2', '3'].map(problem) as unknown as MeasuredProblem[]
  const graded = ['a', 'b'].map(criterionId => ({ criterionId, met: false, source: 'rule' }))
  const answers = problems.map(({ id }) => [
    { answer: { id, sample: 0, prompt: [], response: '' }, text: '', verdicts: graded },
  ]) as unknown as GradedAnswer[][]
  const names = metricNames(task, problems, { heldOut: false })
  const { kind } = measure('m', task, problems, answers, names).metrics
  // Wilson's interval of 0 of 3: 1.96^2 / (3 + 1.96^2).
  expect(kind.value).toBe(0)
  expect(kind.interval![1]).toBeCloseTo(0.5615, 4)
})

it('of several answers is their mean, with the deviation between the first, the second, ... answers to all problems', () => {
  const task = {
    scores: { score: { words: 'score', count: ({ score }: GradedAnswer) => ({ value: score }) } },
    primary: 'score',
  } as unknown as MeasuredTask
  const problems = ['1', '2', '3'].map(id => ({
    ...{ id, messages: [], rubric: { criteria: [] }, rates: new Map() },
  })) as unknown as MeasuredProblem[]
  const names = metricNames(task, problems, { heldOut: false })
  const scoreOf = (...scores_P: (number | null)[][]) => {
    const graded = (score: number | null, sample: number) => ({
      ...{ answer: { id: '', sample, prompt: [], response: '' }, text: '', verdicts: [], score },
    })
    const answers = scores_P.map(own => own.map(graded)) as unknown as GradedAnswer[][]
    return measure('m', task, problems, answers, names).metrics.score
  }
  // Means of the repeats: 1/3, 2/3, 1; their mean is 2/3, their deviations -1/3, 0 and 1/3: sd 1/3.
  const { value, sd } = scoreOf([1, 1, 1], [0, 0, 1], [0, 1, 1])
  expect([value, sd]).toEqual([expect.closeTo(2 / 3, 12), expect.closeTo(1 / 3, 12)])
  // A problem without a further answer has no part in further repeats, and so nobody has.
  expect(scoreOf([1, 0, 1], [1, 1], []).sd).toBeCloseTo(Math.SQRT1_2 / 2, 12)
  expect(scoreOf([1], [0], [1])).not.toHaveProperty('sd')
  expect(scoreOf([1, null], [1, null], [1, null])).not.toHaveProperty('sd')
})
