import { describe, expect, it } from 'vitest'
import { evalItem, evalRow } from '../../runs/eval-row.fixture.ts'
import { curveOf, smoothed } from '../../runs/report/bands.ts'
import type { EvalItem, EvalRow, MetricsRow } from '../../runs/rows.ts'
import { onAllProblems } from './all-problems.ts'
import { beforeTraining, type FinishedRun, metricNamed, tokensUntil } from './index.ts'
import { judgeWorkOf } from './metric.ts'

it('finds what a judge was asked', () => {
  const row = { step: 1, time: { judgeCallCount: 6, judgeCachedShare: 0.25, judgeCalls: 3.5 } }
  expect(judgeWorkOf({ metrics: [row] })).toEqual({ judgeCalls: 6, judgeCachedShare: 0.25 })
})

const row = (step: number, entropy: number): MetricsRow => ({
  step,
  entropy,
  tokens: 10,
  criteria: { a: step / 10 },
  time: { total: 2 },
})
const evaluation = (step: number, set: string, more: Partial<EvalRow> = {}): EvalRow =>
  evalRow(step / 10, {
    step,
    set,
    n: 2,
    items: [evalItem('x', 1), evalItem('y', 0)],
    criteria: { 'rare-1': 0.2, 'rare-2': 0.4, common: 0.9 },
    ...more,
  })
const right = (value: number) => ({ accuracy: { value } })
const run = (more: Partial<FinishedRun> = {}): FinishedRun => ({
  arm: 'a',
  start: 's',
  seed: '1',
  steps: 5,
  metrics: [1, 3, 2, 1, 0].map((entropy, i) => row(i + 1, entropy)),
  evals: [
    evaluation(0, 'one'),
    evaluation(0, 'two'),
    evaluation(5, 'one'),
    evaluation(5, 'two', { scores: right(0.9) }),
  ],
  probes: {},
  seconds: 12,
  ...more,
})

const value = (name: string, options: Record<string, unknown> = {}, of: FinishedRun = run()) => {
  const { metric, options: checked } = metricNamed({ name, options }, 'test')
  return metric.value(of, checked)
}

describe('metrics of evaluations', () => {
  it('read the last one on a set, the first set unless named', () => {
    expect([value('score'), value('score', { set: 'two' }), value('score', { set: 'three' })]).toEqual([
      0.5,
      0.9,
      null,
    ])
    expect(value('score', { score: 'correctAndValid' })).toBeNull()
  })

  it('find a score by its name, and as the primary one', () => {
    const scores = {
      correctAndProved: { value: 0.3 },
      accuracy: { value: 0.6 },
      'greedy.accuracy': { value: 0.7 },
    }
    const logic = run({ evals: [evaluation(5, 'one', { scores, primary: 'correctAndProved' })] })
    const read = (score?: string, of = logic) => value('score', score === undefined ? {} : { score }, of)
    expect([read(), read('primary'), read('correctAndProved'), read('rubric')]).toEqual([0.6, 0.3, 0.3, null])
    expect([read('greedy.accuracy'), read('greedy.primary')]).toEqual([0.7, null])
    // Where answers are not right or wrong, `accuracy` was always the name of the main score.
    const rubric = { rubric: { value: 0.4 }, 'greedy.rubric': { value: 0.5 }, wellFormed: { value: 1 } }
    const checklist = run({ evals: [evaluation(5, 'one', { scores: rubric, primary: 'rubric' })] })
    expect([read(undefined, checklist), read('greedy.accuracy', checklist)]).toEqual([0.4, 0.5])
    expect([read('wellFormed', checklist), read('correctAndProved', checklist)]).toEqual([1, null])
  })

  it('give the items of the score that is asked for', () => {
    const items = [
      evalItem('x', 1, { scores: { accuracy: 1, correctAndProved: 0 } }),
      evalItem('y', 1, { scores: { accuracy: 1, correctAndProved: 1 } }),
    ]
    const of = run({ evals: [evaluation(5, 'one', { items })] })
    const itemsOf = (score: string) => {
      const { metric, options } = metricNamed({ name: 'score', options: { score } }, 'test')
      return metric.items!(of, options)
    }
    expect([...itemsOf('correctAndProved')!.values()]).toEqual([0, 1])
    expect(itemsOf('validProofs')).toBeNull()
  })

  it('average criteria that begin alike', () => {
    expect(value('criterion', { id: 'common' })).toBe(0.9)
    expect(value('criterion', { id: 'rare-*' })).toBeCloseTo(0.3, 12)
    expect(value('criterion', { id: 'none' })).toBeNull()
  })

  it('know the start of a run from its own first evaluation', () => {
    const start = beforeTraining(run())
    expect([value('score', {}, start), value('tokens', {}, start), start.steps]).toEqual([0, 0, 0])
  })

  it('give items where they are right or wrong, and nothing where they are shares', () => {
    const { metric, options } = metricNamed({ name: 'score', options: {} }, 'test')
    expect([...metric.items!(run(), options)!]).toEqual([
      ['x', 1],
      ['y', 0],
    ])
    const shares = run({ evals: [evaluation(5, 'one', { items: [evalItem('x', 0.5)] })] })
    expect(metric.items!(shares, options)).toBeNull()
  })

  it('take the size of a bias', () => {
    const balance = { macroRecall: 0.5, minClassRecall: 0.2, predicted: {}, trueBias: -0.3 }
    const biased = run({ evals: [evaluation(5, 'one', { balance })] })
    expect(value('balance', { of: 'absoluteTrueBias' }, biased)).toBe(0.3)
    expect(value('balance', {}, biased)).toBe(0.2)
  })
})

describe('evaluations on fewer problems than the last', () => {
  const items = (x: number, y?: number): EvalItem[] => [
    evalItem('x', x, { criteria: { one: x / 2, two: null } }),
    ...(y === undefined ? [] : [evalItem('y', y, { criteria: { one: y / 2 } })]),
  ]
  const evals = [
    evaluation(0, 'one', { scores: right(0.4), items: items(0.5, 0.3) }),
    // On the easy one of the two.
    evaluation(3, 'one', { n: 1, scores: right(0.7), criteria: { one: 0.35, two: 0.9 }, items: items(0.7) }),
    evaluation(3, 'two', { n: 1, scores: right(0.7), items: items(0.7) }),
    evaluation(5, 'one', { scores: right(0.6), criteria: { one: 0.3, two: 0.1 }, items: items(0.8, 0.4) }),
  ]

  it('are read by the change on the problems that both have, not by how easy those are', () => {
    const read = onAllProblems(evals)
    expect(read.map(({ scores }) => scores.accuracy.value)).toEqual([0.4, expect.closeTo(0.5, 12), 0.7, 0.6])
    // .3 and half of the change; of the other criterion no item tells.
    expect(read[1].criteria).toEqual({ one: expect.closeTo(0.25, 12), two: 0.9 })
    expect(read[1].n).toBe(1)
  })

  it('keep scores that items do not carry as they were measured', () => {
    const shares = {
      correctAndProved: { value: 0.8, interval: [0.7, 0.9] as const },
      wellFormed: { value: 0.7 },
    }
    const measured = (row: EvalRow) => ({ ...row, scores: { ...row.scores, ...shares } })
    const read = onAllProblems(evals.map(measured))
    expect(read[1].scores).toEqual({ ...shares, accuracy: { value: expect.closeTo(0.5, 12) } })
  })

  it('stay as they are where no items tell', () => {
    const bare = evals.map(({ items: _items, ...row }) => row)
    expect(onAllProblems(bare)).toEqual(bare)
    const strangers = [{ ...evals[1], items: [evalItem('z', 1)] }, evals[3]]
    expect(onAllProblems(strangers)).toEqual(strangers)
  })
})

describe('metrics of curves', () => {
  it('read dotted names and smooth', () => {
    expect(curveOf(run().metrics, 'criteria.a').map(point => point.value)).toEqual([0.1, 0.2, 0.3, 0.4, 0.5])
    const points = [0, 3, 0, 3].map((each, i) => ({ step: i + 1, value: each }))
    expect(smoothed(points, 3).map(point => point.value)).toEqual([1.5, 1, 2, 1.5])
    expect(smoothed(points, 1)).toEqual(points)
  })

  it('are smoothed over steps, not over the rows that have a value', () => {
    const points = [1, 2, 9].map(step => ({ step, value: step }))
    expect(smoothed(points, 3).map(point => point.value)).toEqual([1.5, 1.5, 9])
    expect(smoothed(points, 3, [3, 5, 8])).toEqual([
      { step: 3, value: 2 },
      { step: 8, value: 9 },
    ])
  })

  it.each([
    ['first', 1],
    ['last', 0],
    ['max', 3],
    ['min', 0],
    ['mean', 1.4],
    ['change', -1],
    ['largest-drop', 3],
    // Places 0, .25, ... 1: the sum of (x - .5)(y - 1.4) is -1, that of (x - .5)^2 is .625.
    ['slope', -1.6],
  ])('%s is %d', (statistic, expected) => {
    expect(value('curve', { key: 'entropy', statistic })).toBeCloseTo(expected, 12)
  })

  it('may be of a part of the run', () => {
    expect(value('curve', { key: 'entropy', statistic: 'mean', from: 0.6 })).toBeCloseTo(0.5, 12)
    expect(value('curve', { key: 'entropy', statistic: 'mean', to: 0.4 })).toBeCloseTo(2, 12)
    expect(value('curve', { key: 'none' })).toBeNull()
  })

  describe('with steps that have no value', () => {
    /** Ten steps, of which the first four and the sixth have an entropy. */
    const gappy = run({
      steps: 10,
      metrics: [1, 3, 2, 1, null, 0.5, null, null, null, null].map((entropy, i) => ({
        ...row(i + 1, 0),
        entropy,
      })),
    })
    const ofGappy = (options: object) => value('curve', { key: 'entropy', window: 1, ...options }, gappy)

    it('are placed by step', () => {
      expect(ofGappy({ statistic: 'mean', to: 0.4 })).toBe(1.75)
      expect(ofGappy({ statistic: 'max', from: 0.2 })).toBe(2)
      // One value is no spread, none is nothing.
      expect(ofGappy({ statistic: 'standard-deviation', from: 0.5 })).toBeNull()
      expect(ofGappy({ statistic: 'last', from: 0.7 })).toBeNull()
      // The line through (0, 1), (1/9, 3), (2/9, 2), (3/9, 1), (5/9, .5).
      expect(ofGappy({ statistic: 'slope' })).toBeCloseTo((9 * -4) / 14.8, 12)
      expect(value('peak-place', { window: 1 }, gappy)).toBeCloseTo(1 / 9, 12)
    })

    it('end at the last value that is known, and tell how much is', () => {
      expect(ofGappy({ statistic: 'last' })).toBe(0.5)
      const details = (name: string, options: Record<string, unknown>, of = gappy) => {
        const { metric, options: checked } = metricNamed({ name, options }, 'test')
        return metric.details!(of, checked)
      }
      expect(details('curve', { key: 'entropy' })).toEqual({ known: 0.5, lastStep: 6 })
      expect(details('curve', { key: 'entropy', from: 0.7 })).toEqual({ known: 0 })
      expect(details('curve', { key: 'entropy' }, run())).toBeNull()
      expect(details('rises-then-falls', { window: 1 })).toEqual({
        rise: 2,
        fall: 2.5,
        peak: expect.closeTo(1 / 9, 12),
        known: 0.5,
        lastStep: 6,
      })
      expect(details('rises-then-falls', { window: 1 }, run())).toEqual({
        rise: 2,
        fall: 3,
        peak: 0.25,
      })
    })

    it('do not tell whether a curve falls that ends too early', () => {
      expect(value('rises-then-falls', { window: 1, before: 0.5 }, gappy)).toBe(1)
      expect(value('rises-then-falls', { window: 1, before: 0.7 }, gappy)).toBeNull()
    })
  })

  it('say whether a curve rises and then falls', () => {
    const of = (entropies: number[], options = {}) =>
      value(
        'rises-then-falls',
        { window: 1, ...options },
        run({ metrics: entropies.map((e, i) => row(i + 1, e)) }),
      )
    expect(of([1, 3, 2, 1, 0])).toBe(1)
    expect(of([3, 2, 1, 0.5, 0])).toBe(0)
    expect(of([0, 1, 2, 3, 2])).toBe(0)
    expect(of([1, 1.1, 1, 1, 0], { rise: 0.5 })).toBe(0)
    expect([of([1, 3, 2, 2, 2.5], { fall: 0.5 }), of([1, 3, 2, 2, 2.6], { fall: 0.5 })]).toEqual([1, 0])
    expect(value('peak-rise', { window: 1 })).toBe(2)
    expect(value('peak-place', { window: 1 })).toBe(0.25)
  })

  it('tell a spread in proportion, whatever scales the values', () => {
    // Mean 1.4, variance 1.3; ten times the values have the same value, the same values one higher another one.
    const of = (factor: number, shift = 0) =>
      value(
        'curve',
        { key: 'entropy', statistic: 'log-relative-variance' },
        run({ metrics: [1, 3, 2, 1, 0].map((e, i) => row(i + 1, factor * e + shift)) }),
      )!
    expect(of(1)).toBeCloseTo(Math.log(1.3 / 1.4 ** 2), 12)
    expect(of(10)).toBeCloseTo(of(1), 12)
    expect(of(1, 1)).toBeCloseTo(Math.log(1.3 / 2.4 ** 2), 12)
  })

  it('count tokens and seconds of the steps', () => {
    expect([value('tokens'), value('seconds'), tokensUntil(run(), 3)]).toEqual([50, 10, 30])
  })
})

describe('metrics of probes', () => {
  const probes = {
    'best-of-n': { samples: 8, problems: 1, curve: [{ n: 4, score: 0.7 }] },
    novelty: { n: 3, median: 1.5, logMean: 1.4, mean: 9, above: { 2: 2, 10: 1, 100: 0 } },
    internalisation: { '0.5': { n: 3, initialToPlain: 0.5, plainToScaffolded: 0.3, plainToItself: 0.25 } },
  }
  it('read what was measured, and nothing where nothing was', () => {
    const probed = run({ probes })
    expect(value('best-of-n', { n: 4 }, probed)).toBe(0.7)
    expect(value('best-of-n', { n: 8 }, probed)).toBeNull()
    expect([value('novelty', {}, probed), value('novelty', { of: 'above10' }, probed)]).toEqual([1.5, 1])
    expect(value('internalisation', {}, probed)).toBeCloseTo(0.05, 12)
    expect(value('internalisation', { threshold: 0.9 }, probed)).toBeNull()
    expect(value('novelty')).toBeNull()
  })

  it('read the novelty of responses that were shown a share of the rubric', () => {
    const summary = (median: number, above2: number) => ({
      n: 10,
      median,
      logMean: median,
      mean: median,
      above: { 2: above2, 10: 1, 100: 0 },
    })
    const shares = [1, 0.5, 0].map((share, i) => ({
      share,
      plain: summary(4 - i, 9 - i),
      shown: summary(8 - i, 3 - i),
    }))
    const probed = run({ probes: { novelty: { ...summary(1.5, 2), shares } } })
    expect(value('novelty', { share: 0.5 }, probed)).toBe(3)
    expect(value('novelty', { share: 0.5, of: 'above2', prompt: 'shown' }, probed)).toBe(2)
    expect(value('novelty', { share: 1, lessShare: 0, of: 'above2' }, probed)).toBe(2)
    expect(value('novelty', { share: 0.25 }, probed)).toBeNull()
    expect(value('novelty', { share: 1, lessShare: 0.25 }, probed)).toBeNull()
    expect(() => value('novelty', { lessShare: 0 }, probed)).toThrow('share beside lessShare')
    expect(() => value('novelty', { prompt: 'shown' }, probed)).toThrow('share beside prompt: shown')
    const both = { trained: { lexical: 0.6, semantic: 0.3 }, initial: { lexical: 0.8, semantic: 0.5 } }
    const diverse = run({ probes: { diversity: { n: 100, samples: 16, ...both } } })
    expect([value('diversity', {}, diverse), value('diversity', { of: 'semantic' }, diverse)]).toEqual([
      0.6, 0.3,
    ])
  })
})
