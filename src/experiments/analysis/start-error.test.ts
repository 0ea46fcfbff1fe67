import { describe, expect, it } from 'vitest'
import { evalItem } from '../../runs/eval-row.fixture.ts'
import { Rng } from '../../util/rng.ts'
import { fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { metricNamed } from '../metrics/index.ts'
import { comparePairs, type RunPair } from './analysis.ts'
import { directionTest } from './pair-tests.ts'
import { sharedErrorOf, shareError, startErrors } from './start-error.ts'

const PROBLEMS = 500

/** Two starts of one true share, each measured once; five seeds from each, which all gain as much. */
const against = (rng: Rng, gain: number, sd: number, share = 0.6): RunPair[] =>
  ['a', 'b'].flatMap(start => {
    let right = 0
    for (let i = 0; i < PROBLEMS; i++) if (rng.next() < share) right++
    return Array.from({ length: 5 }, (_, seed) => ({
      start,
      seed: String(seed),
      a: share + gain + sd * rng.normal(),
      b: right / PROBLEMS,
    }))
  })

const errorsOf = (pairs: readonly RunPair[]) =>
  Object.fromEntries(pairs.map(({ start, b }) => [start, shareError(b, PROBLEMS)]))

const statisticsOf = (pairs: readonly RunPair[]) =>
  comparePairs(pairs, {
    direction: 'greater',
    smallestEffect: 0.01,
    startError: sharedErrorOf(pairs, errorsOf(pairs)),
  })!

describe("the start's own sampling error", () => {
  it('is that of a share on so many problems, also at the ends', () => {
    expect(shareError(0.5, 2000)).toBeCloseTo(0.5 / Math.sqrt(2000), 4)
    expect(shareError(1, 2000)).toBeGreaterThan(0.0005)
  })

  it('is shared by the pairs of a start: half of the pairs each, half of each error, as independent ones', () => {
    const pairs = [{ start: 'a' }, { start: 'b' }, { start: 'a' }, { start: 'b' }]
    expect(sharedErrorOf(pairs, { a: 0.03, b: 0.04 })).toBeCloseTo(0.025, 12)
    expect(sharedErrorOf(pairs.slice(0, 3), { a: 0.03, b: 0.04 })).toBeCloseTo(
      Math.hypot((2 / 3) * 0.03, 0.04 / 3),
      12,
    )
    expect(sharedErrorOf(pairs, null)).toBeNull()
    expect(sharedErrorOf(pairs, { a: 0.03, b: null })).toBeNull()
  })

  it('comes from the values of the problems, from an interval over them, or from the share', () => {
    const runs = fakeRuns(fakeRegistration()).filter(({ arm }) => arm === 'plain')
    const errors = (name: string, options: object, of = runs) =>
      startErrors(
        of,
        'start',
        { name, options: { ...options } },
        metricNamed({ name, options: { ...options } }, 'test'),
      )
    expect(errors('score', { set: 'unseen' })).toEqual({
      a: expect.closeTo(shareError(0.3, 2048), 12),
      b: expect.closeTo(shareError(0.3, 2048), 12),
    })
    expect(errors('response-tokens', {})).toEqual({ a: null, b: null })
    const kept = runs.map(run => ({
      ...run,
      evals: run.evals.map(row => ({
        ...row,
        items: [0.1, 0.2, 0.3, 0.4].map((accuracy, i) => evalItem(String(i), accuracy)),
        criteriaIntervals: { one: [0.5 - 1.96 * 0.01, 0.5 + 1.96 * 0.01] as const },
      })),
    }))
    expect(errors('score', {}, kept)!.a).toBeCloseTo(Math.sqrt(0.05 / 3 / 4), 12)
    expect(errors('criterion', { id: 'one' }, kept)!.a).toBeCloseTo(0.01, 5)
    expect(
      startErrors(
        runs,
        'plain',
        { name: 'score', options: {} },
        metricNamed({ name: 'score', options: {} }, 'test'),
      ),
    ).toBeNull()
  })
})

describe('intervals against the start, by simulation', () => {
  const TRIALS = 300
  const rng = new Rng('coverage against the start')
  const all = Array.from({ length: TRIALS }, () => statisticsOf(against(rng, 0.05, 0.01)))
  const covers = ([low, high]: readonly [number, number]) => low <= 0.05 && 0.05 <= high

  it('hold the true gain as often as they say; over pairs alone they did not', () => {
    const now = all.filter(({ interval }) => covers(interval)).length / TRIALS
    const before = all.filter(({ pairsAlone }) => covers(pairsAlone.interval)).length / TRIALS
    // Three standard errors of a share of 300 trials.
    expect(now).toBeGreaterThan(0.95 - 0.038)
    expect(now).toBeLessThan(0.95 + 0.038)
    expect(before).toBeLessThan(0.75)
  })

  it('are right for pairs that share nothing too: ten of them need more than a percentile interval', () => {
    const own = new Rng('coverage of pairs')
    const pairs = Array.from(
      { length: TRIALS },
      () =>
        comparePairs(
          Array.from({ length: 10 }, (_, i) => ({
            start: 'a',
            seed: String(i),
            a: 0.05 + 0.02 * own.normal(),
            b: 0,
          })),
          { direction: 'greater', smallestEffect: 0.01 },
        )!,
    )
    const now = pairs.filter(({ interval }) => covers(interval)).length / TRIALS
    const before = pairs.filter(({ pairsAlone }) => covers(pairsAlone.interval)).length / TRIALS
    expect(now).toBeGreaterThan(0.95 - 0.038)
    expect(now).toBeLessThan(0.95 + 0.038)
    expect(before).toBeLessThan(now)
  })

  it('go with a test that finds a gain where there is none at most one time in twenty', () => {
    const own = new Rng('level against the start')
    const ps = Array.from({ length: 400 }, () => {
      const pairs = against(own, 0, 0.01)
      const differences = pairs.map(({ a, b }) => a - b)
      const error = sharedErrorOf(pairs, errorsOf(pairs))!
      return {
        now: directionTest(differences, 'greater', 0, error),
        before: directionTest(differences, 'greater', 0),
      }
    })
    const rate = (of: 'now' | 'before') => ps.filter(each => each[of] < 0.05).length / ps.length
    expect(rate('now')).toBeLessThan(0.06)
    expect(rate('before')).toBeGreaterThan(0.2)
  })
})
