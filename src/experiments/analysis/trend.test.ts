import { describe, expect, it } from 'vitest'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import type { FinishedRun } from '../metrics/index.ts'
import { analyseClaims, comparisonName } from './claims.ts'
import { reachWarnings } from './reach.ts'

const LADDER = ['oracle', 'refined', 'initial', 'chance']
const arms = Object.fromEntries(LADDER.map((name, rung) => [name, { settings: { rung } }]))
const [first] = fakeContent().claims as object[]
const trend = (changes: object = {}) =>
  fakeRegistration({
    arms: { ...(fakeContent().arms as object), ...arms },
    claims: [{ ...first, arms: LADDER, test: 'trend', smallestEffect: 0.05, ...changes }],
    charts: [],
  })

/** Scores by rung with noise that is written out: never more than .02. */
const runsWith = (score: (rung: number) => number, seeds = 5): FinishedRun[] =>
  LADDER.flatMap((arm, rung) =>
    ['a', 'b'].flatMap(start =>
      Array.from({ length: seeds }, (_, s) => {
        const noise = 0.02 * Math.sin(1 + 7 * rung + 3 * s + (start === 'a' ? 0 : 11))
        const value = score(rung) + noise + (start === 'b' ? 0.2 : 0)
        return {
          arm,
          start,
          seed: String(s + 1),
          steps: 60,
          metrics: [],
          evals: [{ step: 60, set: 'unseen', n: 2048, primary: 'accuracy', scores: { accuracy: { value } } }],
          probes: {},
          seconds: 1,
        }
      }),
    ),
  )

describe('a trend over an ordered list of arms', () => {
  it('is reproduced where every rung is above the next', () => {
    const [claim] = analyseClaims(
      trend(),
      runsWith(rung => 0.6 - 0.1 * rung),
    )
    const [comparison] = claim.comparisons
    // All 25 pairs of six pairs of arms in two cold starts, none in the rising order.
    expect(comparison.trend).toMatchObject({ statistic: 0, expected: 150, exact: false })
    expect(comparison.p).toBeCloseTo(2 / 20_001, 12)
    expect(claim.p).toBe(comparison.p)
    // From the first to the last: three rungs of .1.
    expect(comparison.statistics!.difference).toBeCloseTo(0.3, 1)
    expect(comparison.statistics!.n).toBe(10)
    expect(claim.status).toBe('reproduced')
    expect(comparisonName(comparison, 0)).toBe('trend oracle … refined … initial … chance')
  })

  it('has the line through all rungs as its effect, not the ends alone', () => {
    const steep = [0.6, 0.6, 0.3, 0.3]
    const [claim] = analyseClaims(
      trend(),
      runsWith(rung => steep[rung]),
    )
    // Slope by least squares: (1.5 * .6 + .5 * .6 - .5 * .3 - 1.5 * .3) / 5 a rung = .12, three rungs: .36.
    expect(claim.comparisons[0].statistics!.difference).toBeCloseTo(0.36, 1)
  })

  it('is denied where nothing changes, and where it is the other way round', () => {
    const [level] = analyseClaims(
      trend({ smallestEffect: 0.1 }),
      runsWith(() => 0.5),
    )
    expect(level.status).toBe('not reproduced')
    const [rising] = analyseClaims(
      trend(),
      runsWith(rung => 0.3 + 0.1 * rung),
    )
    expect(rising.status).toBe('not reproduced')
    const [less] = analyseClaims(
      trend({ direction: 'less' }),
      runsWith(rung => 0.3 + 0.1 * rung),
    )
    expect(less.status).toBe('reproduced')
  })

  it('uses blocks in which all arms are done', () => {
    const runs = runsWith(rung => 0.6 - 0.1 * rung).filter(
      ({ arm, seed }) => arm !== 'initial' || seed !== '5',
    )
    const [claim] = analyseClaims(trend(), runs)
    expect(claim.comparisons[0].ladder!.blocks).toHaveLength(8)
    expect(claim.reason).toContain('so far, with 8 of the 10 that were registered')
    const holes = runsWith(rung => 0.6 - 0.1 * rung).map(run =>
      run.arm === 'initial' && run.seed === '5' ? { ...run, evals: [] } : run,
    )
    const [other] = analyseClaims(trend(), holes)
    expect(other.reason).toContain('2 of 10 pairs have no value and are left out')
  })

  it('is told where so few runs cannot carry it', () => {
    const few = trend({})
    expect(reachWarnings(few)).toEqual([])
    expect(reachWarnings({ ...few, seeds: [1] })[0]).toContain('fewer than 6 pairs')
  })
})
