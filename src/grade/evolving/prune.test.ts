import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rollout, rubric } from './evolving.fixture.ts'
import { prune, type RubricStatistics, statisticsOf } from './prune.ts'
import { type Level, STAGES, type Stage } from './rubrics.ts'

const spread = (variance: number | null): RubricStatistics => ({ scored: 4, score: 0.5, variance })

const fates = (
  variances: readonly (number | null)[],
  { caps = [3, 2, 2, 3] as [number, number, number, number], dropZeroVariance = true } = {},
) =>
  prune(
    variances.map((_, i) => rubric(`r${i}`, 2)),
    variances.map(spread),
    { caps, dropZeroVariance },
  ).map(fate => fate[0])

describe('statistics of a rubric', () => {
  const scored = (levels: readonly (Level | null)[], stages?: readonly string[]) =>
    levels.map((level, i) => ({
      rollout: rollout(`x${i}`, ['p', stages?.[i] ?? 'r', 'v', 'a']),
      scores: { r: { level } },
    }))

  it('are mean and population variance of what was earned', () => {
    // Gains 0, 1/2, 1: mean 1/2, variance 1/6; the same of a flaw, the other way round.
    const found = statisticsOf(rubric('r', 2), scored([0, 1, 2]))
    expect(found).toMatchObject({ scored: 3, score: 0.5 })
    expect(found.variance).toBeCloseTo(1 / 6, 12)
    expect(statisticsOf(rubric('r', 2, { sign: 'negative' }), scored([0, 0, 2])).score).toBeCloseTo(2 / 3, 12)
  })

  it('leave out levels that were not given, and rollouts without the stage', () => {
    expect(statisticsOf(rubric('r', 2), scored([2, null, 0, 0], ['r', 'r', 'r', ' ']))).toEqual({
      scored: 2,
      score: 0.5,
      variance: 0.25,
    })
  })

  it('have no variance where fewer than two are known', () => {
    expect(statisticsOf(rubric('r', 2), scored([2, null]))).toEqual({ scored: 1, score: 1, variance: null })
    expect(statisticsOf(rubric('r', 2), [])).toEqual({ scored: 0, score: null, variance: null })
  })
})

describe('pruning', () => {
  it('drops the lowest variance while there are more than the cap', () => {
    expect(fates([0.1, 0.25, 0.05, 0.2])).toEqual(['p', 'k', 'p', 'k'])
    expect(fates([0.1, 0.25])).toEqual(['k', 'k'])
  })

  it('drops the oldest among equals', () => {
    expect(fates([0.1, 0.1, 0.1])).toEqual(['p', 'k', 'k'])
    expect(fates([0.2, 0.1, 0.1, 0.1])).toEqual(['k', 'p', 'p', 'k'])
  })

  it('takes variances for equal that differ by rounding alone: the same levels in another order', () => {
    const levels: Level[] = [2, 1, 1, 2, 2, 1]
    const own = [levels, levels.toReversed(), [1, 2, 2, 1, 1, 2] as Level[]].map((each, i) =>
      statisticsOf(
        rubric(`r${i}`, 2),
        each.map((level, j) => ({ rollout: rollout(`x${j}`), scores: { [`r${i}`]: { level } } })),
      ),
    )
    // A third of a half in two sums, which rounding sets apart in one order or another.
    const apart = own.map((each, i) => ({ ...each, variance: each.variance! * (1 - i * Number.EPSILON) }))
    const active = own.map((_, i) => rubric(`r${i}`, 2))
    expect(prune(active, apart, { caps: [3, 2, 2, 3], dropZeroVariance: true })).toEqual([
      'pruned',
      'kept',
      'kept',
    ])
  })

  it('sets aside what no two rollouts differ on, at any number, unless told not to', () => {
    expect(fates([0, 0.1])).toEqual(['i', 'k'])
    expect(fates([1e-17])).toEqual(['i'])
    expect(fates([0, 0.1], { dropZeroVariance: false })).toEqual(['k', 'k'])
    expect(fates([0.1, 0, 0.2], { dropZeroVariance: false })).toEqual(['k', 'p', 'k'])
  })

  it('keeps what nothing is known of, but for what is known to differ', () => {
    expect(fates([null, null])).toEqual(['k', 'k'])
    expect(fates([0.2, null, 0.01])).toEqual(['k', 'p', 'k'])
    expect(fates([null, null, null])).toEqual(['p', 'k', 'k'])
    // Known to be equal goes before unknown.
    expect(fates([null, 0, 0.1], { dropZeroVariance: false })).toEqual(['k', 'p', 'k'])
  })

  it('keeps nothing with cap 0, and caps every stage by itself', () => {
    expect(fates([0.1, 0.2], { caps: [3, 0, 2, 3] })).toEqual(['p', 'p'])
    const active = [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4].map((stage, i) =>
      rubric(`r${i}`, stage as Stage),
    )
    const kept = prune(
      active,
      active.map(() => spread(0.1)),
      { caps: [3, 2, 2, 3], dropZeroVariance: true },
    )
    expect(
      STAGES.map(stage => active.filter((own, i) => own.stage === stage && kept[i] === 'kept').length),
    ).toEqual([3, 2, 2, 3])
  })

  it('never keeps more than the cap, nor drops one that tells more than one that stays', () => {
    const variances = fc.array(fc.constantFrom(null, 0, 0.05, 0.1, 0.25), { maxLength: 9 })
    fc.assert(
      fc.property(variances, fc.integer({ min: 0, max: 4 }), fc.boolean(), (own, cap, dropZeroVariance) => {
        const found = fates(own, { caps: [0, cap, 0, 0], dropZeroVariance })
        const rank = (value: number | null) => value ?? 1e-9
        const kept = own.filter((_, i) => found[i] === 'k').map(rank)
        const pruned = own.filter((_, i) => found[i] === 'p').map(rank)
        return kept.length <= cap && Math.max(...pruned, 0) <= Math.min(...kept, 1)
      }),
    )
  })
})
