import { describe, expect, it } from 'vitest'
import type { LogicVerdicts } from '../../tasks/logic/task.ts'
import { Rng } from '../../util/rng.ts'
import { normalisedAdvantages } from '../options/normalise.ts'
import { CONDITIONS, type Condition } from './config.ts'
import { type Paying, paidFor, said } from './rewards.fixture.ts'
import { conditionWeights, type LogicWeights } from './rewards.ts'

const reward = async (own: LogicVerdicts, condition: Condition, paying?: Paying) =>
  (await paidFor([own], condition, paying))[0].reward!
const creditsOf = ({ verdicts }: LogicVerdicts) => verdicts.map(({ credit }) => credit!)

const random_P_G = (groups: number, samples: number): LogicVerdicts[][] => {
  const rng = new Rng('rewards')
  return Array.from({ length: groups }, () =>
    Array.from({ length: samples }, () => said(rng.int(2), rng.next(), rng.int(6) / 5)),
  )
}

const advantagesOf = async (
  said_P_G: LogicVerdicts[][],
  condition: Condition,
  weights: LogicWeights = conditionWeights(condition),
  options = {},
) => {
  const groups = await Promise.all(said_P_G.map(group => paidFor(group, condition, { weights })))
  const own = { weights: weights as Record<string, number> }
  return normalisedAdvantages({ condition, advantage: options }, groups, own).advantages_P_G
}

const largestDifference = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]) =>
  Math.max(...a.flatMap((row, p) => row.map((value, g) => Math.abs(value - b[p][g]))))

describe('weights of the conditions', () => {
  it('are those of the rubric and sum to one', () => {
    expect(conditionWeights('hybrid')).toEqual({ C1: 0.3, C2: 0.25, C3: 0.1, C4: 0.15, C5: 0.2 })
  })

  it('renormalise over the criteria that a condition has', () => {
    const { C1, C2, C3, ...others } = conditionWeights('rubric')
    expect(C1).toBeCloseTo(0.4615, 4)
    expect(C2).toBeCloseTo(0.3846, 4)
    expect(C3).toBeCloseTo(0.1538, 4)
    expect(others).toEqual({})
    expect(conditionWeights('flat_same')).toEqual(conditionWeights('rubric'))
    expect(conditionWeights('rubric_norm')).toEqual(conditionWeights('rubric'))
  })

  it('outcome has answer and format three to one', () => {
    const weights = conditionWeights('outcome')
    expect(Object.keys(weights)).toEqual(['C1', 'C3'])
    expect(weights.C1).toBeCloseTo(0.75, 12)
    expect(weights.C3).toBeCloseTo(0.25, 12)
  })

  it('flat_equal and z3 give each checked criterion a third', () => {
    for (const condition of ['flat_equal', 'z3'] as const)
      expect(conditionWeights(condition)).toEqual({ C1: 1 / 3, C2: 1 / 3, C3: 1 / 3 })
  })

  it.each(CONDITIONS)('%s: weights sum to 1, or there are none', condition => {
    const values = Object.values(conditionWeights(condition))
    const sum = values.reduce((a, b) => a + b, 0)
    expect(sum).toBeCloseTo(values.length === 0 ? 0 : 1, 12)
    expect(values.length === 0).toBe(condition === 'baseline' || condition === 'proof')
  })
})

describe('reward', () => {
  const sample = said(1, 0.5, 0.8, 0.4, 0.25)

  it('is three times the weighted sum', async () => {
    // 3 (.3 + .125 + .08 + .06 + .05)
    expect(await reward(sample, 'hybrid')).toBeCloseTo(1.845, 12)
    // 3 (.3 + .125 + .08) / .65
    expect(await reward(sample, 'rubric')).toBeCloseTo(1.515 / 0.65, 12)
    expect(await reward(sample, 'outcome')).toBeCloseTo(3 * (0.75 + 0.2), 12)
  })

  it('spans 0 to 3 in every condition that trains', async () => {
    const full = said(1, 1, 1, 1, 1, true)
    const none = said(0, 0, 0, 0, 0, false)
    for (const condition of CONDITIONS.filter(name => name !== 'baseline')) {
      expect(await reward(full, condition)).toBeCloseTo(3, 12)
      expect(await reward(none, condition)).toBe(0)
    }
  })

  it('proof pays all or nothing, whatever the criteria say', async () => {
    expect(await reward(said(1, 1, 1, 1, 1, false), 'proof')).toBe(0)
    expect(await reward(said(0, 0, 0, 0, 0, true), 'proof')).toBe(3)
  })

  it('is null where nothing can be said of the response, and never a zero', async () => {
    for (const excluded of ['solver-failed', 'inconsistent-premises'] as const)
      for (const condition of ['rubric', 'proof'] as const)
        expect(await reward({ ...sample, excluded, score: null }, condition)).toBeNull()
    // No formula of the conclusion: nobody knows whether it is proved.
    expect(await reward({ ...sample, proved: null }, 'proof')).toBeNull()
    expect(await reward({ ...sample, proved: null }, 'rubric')).toBeGreaterThan(0)
  })

  it('takes other weights than the condition has', async () => {
    expect(await reward(sample, 'rubric', { weights: { C4: 1 } })).toBeCloseTo(1.2, 12)
  })
})

describe('advantages by condition', () => {
  const said_P_G = random_P_G(12, 8)

  it.each(['rubric', 'flat_same'] as const)('%s is a flat sum with the rubric’s weights', async condition => {
    const flat_P_G = said_P_G.map(group => {
      const sums = group.map(own => {
        const [C1, C2, C3] = creditsOf(own)
        return 0.3 * C1 + 0.25 * C2 + 0.1 * C3
      })
      const centre = sums.reduce((a, b) => a + b) / sums.length
      const spread = Math.sqrt(sums.reduce((a, b) => a + (b - centre) ** 2, 0) / sums.length)
      return sums.map(sum => (sum - centre) / spread)
    })
    const options = { epsilon: 0 }
    const advantages = await advantagesOf(said_P_G, condition, conditionWeights(condition), options)
    expect(largestDifference(advantages, flat_P_G)).toBeLessThan(1e-9)
    expect(largestDifference(advantages, await advantagesOf(said_P_G, 'flat_equal'))).toBeGreaterThan(0.01)
  })

  it('does not see a positive affine change of the reward', async () => {
    const weights = conditionWeights('rubric')
    const scaled = Object.fromEntries(Object.entries(weights).map(([id, weight]) => [id, 7 * weight]))
    const shifted_P_G = said_P_G.map(group =>
      group.map(own => {
        const [C1, C2, C3, C4, C5] = creditsOf(own).map(credit => credit / 2 + 0.25)
        return said(C1, C2, C3, C4, C5)
      }),
    )
    const plain = await advantagesOf(said_P_G, 'rubric')
    expect(largestDifference(plain, await advantagesOf(shifted_P_G, 'rubric', scaled))).toBeLessThan(1e-5)
  })

  it('centres and scales each group, and counts the groups without a spread', async () => {
    const group = [said(1, 1, 1), said(0, 1, 1), said(1, 0, 1), said(0, 0, 1)]
    const flat = [said(1, 1, 1), said(1, 1, 1), said(1, 1, 1), said(1, 1, 1)]
    const weights = { C1: 0.5, C2: 0.5 }
    const rewards = await Promise.all([group, flat].map(each => paidFor(each, 'rubric', { weights })))
    const result = normalisedAdvantages({ condition: 'rubric', advantage: { epsilon: 0 } }, rewards, {
      weights,
    })
    // Rewards 3, 1.5, 1.5, 0: mean 1.5, population standard deviation sqrt(1.125).
    const unit = 1.5 / Math.sqrt(1.125)
    const expected = [unit, 0, 0, -unit]
    expect(rewards[0].map(each => each.reward)).toEqual([3, 1.5, 1.5, 0])
    for (const [g, value] of result.advantages_P_G[0].entries()) expect(value).toBeCloseTo(expected[g], 12)
    expect(result.advantages_P_G[1]).toEqual([0, 0, 0, 0])
    expect(result.zeroVarianceGroups).toBe(1)
  })

  it.each(['rubric', 'rubric_norm', 'outcome'] as const)(
    '%s fails on a score that is not a number',
    async condition => {
      const group = [said(1, Number.NaN, 1), said(0, 1, 1)]
      await expect(advantagesOf([group], condition)).rejects.toThrow(/credit in \[0, 1\], got NaN/)
    },
  )
})

describe('rubric_norm', () => {
  // C1 alternates, C2 falls by 3 to 1, C3 never differs.
  const group = [said(1, 0.9, 1), said(0, 0.3, 1), said(1, 0.3, 1), said(0, 0.3, 1)]
  const weights = { C1: 0.6, C2: 0.3, C3: 0.1 }

  it('standardises each criterion in its group, mixes, and standardises over the batch (GDPO)', async () => {
    const z1 = [1, -1, 1, -1]
    const z2 = [Math.sqrt(3), -1 / Math.sqrt(3), -1 / Math.sqrt(3), -1 / Math.sqrt(3)]
    const mixed = z1.map((z, g) => 0.6 * z + 0.3 * z2[g])
    const spread = Math.sqrt(mixed.reduce((sum, value) => sum + value * value, 0) / 4)
    const [advantages] = await advantagesOf([group], 'rubric_norm', weights, { epsilon: 0 })
    for (const [g, value] of advantages.entries()) expect(value).toBeCloseTo(mixed[g] / spread, 9)
  })

  it('gives a criterion without variance no part, and its weight to nobody', async () => {
    // A second group with another spread makes the batch scale see how large the first group's mix is.
    const other = [said(1, 0, 0), said(0, 0, 0), said(0, 0, 0), said(0, 0, 0)]
    const without = await advantagesOf([group, other], 'rubric_norm', { C1: 0.6, C2: 0.3 }, { epsilon: 0 })
    const withC3 = await advantagesOf([group, other], 'rubric_norm', weights, { epsilon: 0 })
    expect(largestDifference(without, withC3)).toBeLessThan(1e-12)
  })

  it('is another algorithm than the weighted sum', async () => {
    const said_P_G = random_P_G(4, 8)
    expect(
      largestDifference(await advantagesOf(said_P_G, 'rubric_norm'), await advantagesOf(said_P_G, 'rubric')),
    ).toBeGreaterThan(0.01)
  })

  it('still reports the composite as the reward', async () => {
    expect(await reward(group[1], 'rubric_norm', { weights })).toBeCloseTo(3 * (0.3 * 0.3 + 0.1), 12)
  })
})
