import { describe, expect, it } from 'vitest'
import { logicVerdicts } from '../../grade/logic/rubric.ts'
import { checkSettings } from './check-settings.ts'
import { rubricAsRewardSchema } from './config.ts'
import { conditionWeights, rewardOf, rolloutAdvantages, weighedCriteria, weightsWithout } from './rewards.ts'

const grade = (C1: number, C2: number, C3: number, C4 = 0, C5 = 0) => {
  const criteria = { C1, C2, C3, C4, C5 }
  const rewarded = { criteria, correctAndProved: false, excluded: null }
  return { rewarded, verdicts: logicVerdicts({ criteria }) }
}

describe('rubric dropout in rubric-as-reward', () => {
  const weights = conditionWeights('hybrid')

  it('gives the weight of what is left out to the others in proportion', () => {
    expect(weighedCriteria(weights).map(({ id }) => id)).toEqual(['C1', 'C2', 'C3', 'C4', 'C5'])
    const left = weightsWithout(weights, new Set([0, 3]))
    expect(Object.keys(left)).toEqual(['C2', 'C3', 'C5'])
    // .25, .10 and .20 of .55.
    expect(left.C2).toBeCloseTo(0.25 / 0.55, 12)
    expect(left.C3).toBeCloseTo(0.1 / 0.55, 12)
    expect(left.C5).toBeCloseTo(0.2 / 0.55, 12)
    expect(weightsWithout(weights, new Set())).toBe(weights)
    expect(weighedCriteria({ C1: 1, C2: 0 })).toEqual([{ id: 'C1', points: 1 }])
  })

  it('pays three times the mean of what is left, whatever is left', () => {
    const paid = (places: number[]) =>
      rewardOf(grade(1, 0.5, 1, 0, 0.25), 'hybrid', weightsWithout(weights, new Set(places))).reward
    expect(paid([])).toBeCloseTo(3 * (0.3 + 0.125 + 0.1 + 0.05), 12)
    expect(paid([0, 3])).toBeCloseTo((3 * (0.125 + 0.1 + 0.05)) / 0.55, 12)
    const all = rewardOf(grade(1, 1, 1, 1, 1), 'hybrid', weightsWithout(weights, new Set([1, 2])))
    expect(all.reward).toBeCloseTo(3, 12)
    // The row keeps every criterion.
    expect(all.parts).toEqual({ C1: 1, C2: 1, C3: 1, C4: 1, C5: 1 })
  })

  it('weighs each group by its own criteria where they are normalised one by one', () => {
    const own = conditionWeights('rubric_norm')
    const group = [grade(1, 0, 0), grade(0, 1, 0)]
    const groups = [group, group].map(each => each.map(one => rewardOf(one, 'rubric_norm', own)))
    const weightsOf = (p: number) => weightsWithout(own, new Set([p === 0 ? 0 : 1]))
    const { advantages_P_G } = rolloutAdvantages(groups, 'rubric_norm', weightsOf, {})
    expect(advantages_P_G[0].map(Math.sign)).toEqual([-1, 1])
    expect(advantages_P_G[1].map(Math.sign)).toEqual([1, -1])
  })

  it.each([
    ['"proof"', { condition: 'proof' }],
    ['"baseline"', { condition: 'baseline' }],
    ['"per-step"', { condition: 'hybrid', credit: 'per-step' }],
    ['ask "all"', { condition: 'hybrid', rubricDropout: { rate: 0.5, ask: 'kept' } }],
    ['leave something out', { condition: 'rubric' }],
    ['leave something out', { condition: 'outcome', rubricDropout: { rate: 0.5, keepAtLeast: 2 } }],
    [
      'ids of criteria',
      { condition: 'rubric', rubricDropout: { rate: 0.5, keepAtLeast: 1, protect: ['C5'] } },
    ],
  ])('is refused where it does nothing or cannot be: %s', (words, settings) => {
    const config = rubricAsRewardSchema.parse({ rubricDropout: { rate: 0.5 }, ...settings })
    expect(() => checkSettings(config)).toThrow(words)
  })

  it('is allowed where it does something, and absent it is no setting', () => {
    for (const settings of [
      { condition: 'hybrid', rubricDropout: { rate: 0.3 } },
      { condition: 'rubric', rubricDropout: { rate: 0.34, keepAtLeast: 2 } },
      { condition: 'rubric_norm', rubricDropout: { rate: 0.5, keepAtLeast: 1, protect: ['C1'] } },
    ])
      expect(() => checkSettings(rubricAsRewardSchema.parse(settings))).not.toThrow()
    expect(rubricAsRewardSchema.parse({})).not.toHaveProperty('rubricDropout')
  })
})
