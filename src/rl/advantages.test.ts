import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NumericError } from '../util/errors.ts'
import { std } from '../util/statistics.ts'
import {
  ADVANTAGE_PRESETS,
  amongKnown,
  batchNormalised,
  drGrpoAdvantages,
  grpoAdvantages,
  maxRlAdvantages,
  reinforcePlusPlusReturns,
  rlooAdvantages,
  rubricNormAdvantages,
  stepAdvantages,
} from './index.ts'

const closeTo = (actual: readonly number[], expected: readonly number[], tolerance = 1e-9) => {
  expect(actual).toHaveLength(expected.length)
  for (const [i, x] of expected.entries()) expect(Math.abs(actual[i] - x)).toBeLessThanOrEqual(tolerance)
}

// Rewards on a grid, so that a group either has no range or a clear one.
const rewards = fc
  .array(fc.integer({ min: -20, max: 20 }), { minLength: 2, maxLength: 8 })
  .map(xs => xs.map(x => x / 4))
const groups = fc.array(rewards, { minLength: 1, maxLength: 5 })

describe('grpoAdvantages', () => {
  it('reproduces worked stage advantages (ddof 0, no epsilon)', () => {
    const stages = [
      [1.8, 0.85, 0.9, 0.5],
      [1.0, 1.35, 0.9, 0.5],
      [1.5, 1.3, 0.8, 1],
      [1.3, 0.9, 1, 0],
    ]
    const columns = [0, 1, 2, 3].map(k => stages.map(row => row[k]))
    const { advantages_P_G } = grpoAdvantages(columns, { epsilon: 0 })
    closeTo(advantages_P_G[0], [1.372, -1.372, 0.343, -0.343], 1e-4)
    closeTo(advantages_P_G[1], [-1.1043, 1.1043, 0.8835, -0.8835], 1e-4)
    closeTo(advantages_P_G[2], [0, 0, -Math.SQRT2, Math.SQRT2], 1e-4)
    closeTo(advantages_P_G[3], [0, 0, Math.SQRT2, -Math.SQRT2], 1e-4)
  })

  it('has both conventions of the deviation: a factor sqrt(8/7) at G = 8', () => {
    const group = [0, 1, 0, 1, 1, 0, 0.5, 0.25]
    const [population] = grpoAdvantages([group], { epsilon: 0 }).advantages_P_G
    const [sample] = grpoAdvantages([group], { epsilon: 0, ddof: 1 }).advantages_P_G
    expect(population[1] / sample[1]).toBeCloseTo(Math.sqrt(8 / 7), 12)
  })

  it('gives zero for equal rewards and counts the group', () => {
    const result = grpoAdvantages([
      [0.3, 0.3, 0.3],
      [0, 1],
      [1, 1 + 1e-13],
    ])
    expect(result.advantages_P_G[0]).toEqual([0, 0, 0])
    expect(result.advantages_P_G[2]).toEqual([0, 0])
    expect(result).toMatchObject({ groups: 3, zeroVarianceGroups: 2, singletonGroups: 0 })
    expect(result.realBatchRatio).toBeCloseTo(1 / 3, 12)
  })

  it('gives zero for a group of one and counts it', () => {
    expect(grpoAdvantages([[5]])).toEqual({
      advantages_P_G: [[0]],
      groups: 1,
      singletonGroups: 1,
      zeroVarianceGroups: 0,
      emptyGroups: 0,
      realBatchRatio: 0,
    })
    expect(grpoAdvantages([]).realBatchRatio).toBe(0)
  })

  it('refuses a reward that is not finite, by group and index', () => {
    const rules = [grpoAdvantages, drGrpoAdvantages, rlooAdvantages, maxRlAdvantages, batchNormalised]
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      for (const rule of rules) {
        expect(() =>
          rule([
            [0, 1],
            [1, 1, bad],
          ]),
        ).toThrow(NumericError)
        expect(() => rule([[bad]])).toThrow(`group 0, index 0: expected a finite number, got ${bad}`)
      }
  })

  it('is unchanged by a positive affine change of the rewards', () => {
    const scale = fc.integer({ min: 1, max: 40 }).map(n => n / 4)
    fc.assert(
      fc.property(groups, scale, fc.integer({ min: -10, max: 10 }), (rewards_P_G, a, b) => {
        const changed = rewards_P_G.map(group => group.map(r => a * r + b))
        const before = grpoAdvantages(rewards_P_G, { epsilon: 0 }).advantages_P_G
        const after = grpoAdvantages(changed, { epsilon: 0 }).advantages_P_G
        for (const [p, group] of before.entries()) closeTo(after[p], group, 1e-9)
      }),
    )
  })

  it('centres every group and has unit deviation where there is any', () => {
    fc.assert(
      fc.property(groups, rewards_P_G => {
        const { advantages_P_G } = grpoAdvantages(rewards_P_G, { epsilon: 0 })
        for (const group of advantages_P_G) {
          expect(Math.abs(group.reduce((sum, a) => sum + a, 0))).toBeLessThan(1e-9)
          if (group.some(a => a !== 0)) expect(std(group)).toBeCloseTo(1, 9)
        }
      }),
    )
  })

  it('divides by the deviation of the batch or by nothing on request', () => {
    const rewards_P_G = [
      [0, 2],
      [1, 5],
    ]
    const batch = std([0, 2, 1, 5], 1)
    const { advantages_P_G } = grpoAdvantages(rewards_P_G, { scale: 'batch', ddof: 1, epsilon: 0 })
    closeTo(
      advantages_P_G.flat(),
      [-1, 1, -2, 2].map(x => x / batch),
    )
    closeTo(drGrpoAdvantages(rewards_P_G).advantages_P_G.flat(), [-1, 1, -2, 2])
    expect(ADVANTAGE_PRESETS['trl:grpo'].epsilon).toBe(1e-4)
  })
})

describe('rlooAdvantages', () => {
  it('is the reward minus the mean of the others', () => {
    fc.assert(
      fc.property(rewards, group => {
        const [advantages] = rlooAdvantages([group]).advantages_P_G
        const total = group.reduce((sum, r) => sum + r, 0)
        closeTo(
          advantages,
          group.map(r => r - (total - r) / (group.length - 1)),
        )
      }),
    )
  })
})

describe('batchNormalised', () => {
  it('standardises over everything', () => {
    closeTo(batchNormalised([[1], [2, 3]], { epsilon: 0 }).flat(), [-1.224744871, 0, 1.224744871], 1e-9)
    expect(batchNormalised([[2], [2]])).toEqual([[0], [0]])
  })
})

describe('the central ambiguity of Rubric as Reward', () => {
  const weights = { C1: 0.3, C2: 0.25, C3: 0.1 }
  const normalised = { C1: 0.3 / 0.65, C2: 0.25 / 0.65, C3: 0.1 / 0.65 }
  type Parts = Record<string, number>
  const sumOf = (w: Parts, parts: Parts) =>
    Object.entries(w).reduce((sum, [k, weight]) => sum + weight * parts[k], 0)
  const credit = fc.constantFrom(0, 0.3, 0.5, 1)
  const parts = fc.record({ C1: fc.constantFrom(0, 1), C2: credit, C3: fc.constantFrom(0, 0.2, 0.6, 1) })
  const batches = fc.array(fc.array(parts, { minLength: 2, maxLength: 8 }), { minLength: 1, maxLength: 4 })

  it('flat_same has the advantages of condition 4', () => {
    fc.assert(
      fc.property(batches, scores_P_G => {
        const rewardsBy = (w: Parts, scale: number) => scores_P_G.map(g => g.map(p => scale * sumOf(w, p)))
        const flat = grpoAdvantages(rewardsBy(weights, 1), { epsilon: 0 }).advantages_P_G
        const condition4 = grpoAdvantages(rewardsBy(normalised, 3), { epsilon: 0 }).advantages_P_G
        for (const [p, group] of flat.entries()) closeTo(group, condition4[p], 1e-6)
      }),
    )
  })

  it('rubric_norm differs: a rare criterion counts as much as its weight says', () => {
    const group = [
      { C1: 0, C2: 0.5, C3: 0.2 },
      { C1: 0, C2: 0.3, C3: 1 },
      { C1: 1, C2: 0.5, C3: 0.6 },
      { C1: 0, C2: 1, C3: 0.6 },
    ]
    const sum = grpoAdvantages([group.map(p => sumOf(normalised, p))]).advantages_P_G[0]
    const norm = rubricNormAdvantages([group], normalised).advantages_P_G[0]
    expect(Math.max(...sum.map((a, i) => Math.abs(a - norm[i])))).toBeGreaterThan(0.05)
  })

  it('rubric_norm ignores the scale of a criterion', () => {
    fc.assert(
      fc.property(batches, fc.constantFrom(0.5, 4, 100), (scores_P_G, factor) => {
        const scaled = scores_P_G.map(g => g.map(p => ({ ...p, C2: factor * p.C2 + 1 })))
        const before = rubricNormAdvantages(scores_P_G, weights, { epsilon: 0 }).advantages_P_G
        const after = rubricNormAdvantages(scaled, weights, { epsilon: 0 }).advantages_P_G
        for (const [p, group] of before.entries()) closeTo(after[p], group, 1e-6)
      }),
    )
  })
})

describe('rubricNormAdvantages', () => {
  it('standardises each criterion, mixes, and standardises over the batch: worked by hand', () => {
    // z(C1) = +-1 in both groups; C2 varies in the first group only, z = -+1 there.
    const scores = [
      [
        { C1: 1, C2: 0 },
        { C1: 0, C2: 1 },
      ],
      [
        { C1: 1, C2: 0.5 },
        { C1: 0, C2: 0.5 },
      ],
    ]
    const { advantages_P_G } = rubricNormAdvantages(scores, { C1: 3, C2: 1 }, { epsilon: 0 })
    const batch = Math.sqrt((2 * 2 ** 2 + 2 * 3 ** 2) / 4)
    closeTo(
      advantages_P_G.flat(),
      [2, -2, 3, -3].map(x => x / batch),
    )
    const given = rubricNormAdvantages(
      scores,
      { C1: 3, C2: 1 },
      { epsilon: 0, redistribute: true },
    ).advantages_P_G
    const withAll = Math.sqrt((2 * 2 ** 2 + 2 * 4 ** 2) / 4)
    closeTo(
      given.flat(),
      [2, -2, 4, -4].map(x => x / withAll),
    )
  })

  it('leaves groups without a signal at exactly zero and counts them', () => {
    const result = rubricNormAdvantages(
      [[{ C1: 1 }, { C1: 1 }], [{ C1: 0.1 }, { C1: 0.7 }, { C1: 0.2 }], [{ C1: 1 }]],
      {
        C1: 1,
      },
    )
    expect(result.advantages_P_G[0]).toEqual([0, 0])
    expect(result.advantages_P_G[2]).toEqual([0])
    expect(result).toMatchObject({ groups: 3, zeroVarianceGroups: 1, singletonGroups: 1 })
  })

  it('lets a failed verdict count neither way', () => {
    const scores = [
      [
        { C1: 1, C2: 1 },
        { C1: 0, C2: null },
        { C1: 0.5, C2: 0 },
      ],
    ]
    const { advantages_P_G } = rubricNormAdvantages(scores, { C2: 1 }, { epsilon: 0 })
    expect(advantages_P_G[0][1]).toBe(0)
    expect(advantages_P_G[0][0]).toBeCloseTo(-advantages_P_G[0][2], 12)
  })

  it('refuses a score that is not finite', () => {
    expect(() => rubricNormAdvantages([[{ C1: 1 }, { C1: Number.NaN }]], { C1: 1 })).toThrow(
      'group 0, index 1, criterion C1',
    )
  })
})

describe('stepAdvantages', () => {
  it('standardises over all steps of a group and keeps the shape', () => {
    const values = [[[1, 0], [1], []], [[0.5, 0.5]]]
    const advantages = stepAdvantages(values, { epsilon: 0 })
    closeTo(advantages[0].flat(), [0.5 ** 0.5, -(2 ** 0.5), 0.5 ** 0.5])
    expect(advantages.map(rollouts => rollouts.map(steps => steps.length))).toEqual([[2, 1, 0], [2]])
    expect(advantages[1][0]).toEqual([0, 0])
  })
})

describe('reinforcePlusPlusReturns', () => {
  it('starts afresh behind a masked token', () => {
    expect([...reinforcePlusPlusReturns([1, 2, 3], [1, 1, 0])]).toEqual([3, 2, 3])
  })
})

describe('groups that nobody could judge', () => {
  it('are neither equal nor different, and carry no gradient', () => {
    const items = [
      [null, null],
      [0, 1],
      [1, 1],
      [null, 1],
    ]
    const { advantages_P_G, ...counts } = amongKnown(items, known => grpoAdvantages(known, { epsilon: 0 }))
    expect(advantages_P_G).toEqual([
      [0, 0],
      [-1, 1],
      [0, 0],
      [0, 0],
    ])
    expect(counts).toEqual({
      groups: 4,
      singletonGroups: 1,
      zeroVarianceGroups: 1,
      emptyGroups: 1,
      realBatchRatio: 0.25,
    })
  })
})
