import { describe, expect, it } from 'vitest'
import { normalisedAdvantages } from '../options/normalise.ts'
import { checkRubricAsRewardSettings } from './check.ts'
import { rubricAsRewardSchema } from './config.ts'
import { paidFor, said } from './rewards.fixture.ts'
import { weighedRubric, weightsWithout } from './rewards.ts'

describe('rubric dropout in rubric-as-reward', () => {
  const hybrid = weighedRubric({ condition: 'hybrid', weights: null })

  it('gives the weight of what is left out to the others in proportion', () => {
    expect(hybrid.criteria.map(({ id }) => id)).toEqual(['C1', 'C2', 'C3', 'C4', 'C5'])
    const left = weightsWithout(hybrid, new Set(['C1', 'C4']))
    expect(Object.keys(left)).toEqual(['C2', 'C3', 'C5'])
    // .25, .10 and .20 of .55.
    expect(left.C2).toBeCloseTo(0.25 / 0.55, 12)
    expect(left.C3).toBeCloseTo(0.1 / 0.55, 12)
    expect(left.C5).toBeCloseTo(0.2 / 0.55, 12)
    expect(weightsWithout(hybrid, new Set())).toEqual({ C1: 0.3, C2: 0.25, C3: 0.1, C4: 0.15, C5: 0.2 })
    const own = weighedRubric({ condition: 'rubric', weights: { C1: 1, C2: 0 } })
    expect(own.criteria.map(({ id, points }) => [id, points])).toEqual([['C1', 1]])
  })

  it('pays three times the mean of what is left, whatever is left', async () => {
    const paid = async (leftOut: string[], own = said(1, 0.5, 1, 0, 0.25)) =>
      (await paidFor([own], 'hybrid', { leftOut }))[0]
    expect((await paid([])).reward).toBeCloseTo(3 * (0.3 + 0.125 + 0.1 + 0.05), 12)
    expect((await paid(['C1', 'C4'])).reward).toBeCloseTo((3 * (0.125 + 0.1 + 0.05)) / 0.55, 12)
    const all = await paid(['C2', 'C3'], said(1, 1, 1, 1, 1))
    expect(all.reward).toBeCloseTo(3, 12)
    // The row keeps every criterion.
    expect(all.parts).toEqual({ C1: 1, C2: 1, C3: 1, C4: 1, C5: 1 })
  })

  it('pays by another rule, and by groups of criteria, where that is set', async () => {
    const paid = async (options: Record<string, unknown>, own = said(0, 1, 1)) =>
      (await paidFor([own], 'rubric', { options }))[0].reward
    // Weights .3, .25 and .1 of .65.
    expect(await paid({})).toBeCloseTo((3 * 0.35) / 0.65, 12)
    expect(await paid({ scoringRule: { name: 'mean', critical: [] } })).toBeCloseTo(2 / 3, 12)
    const criterionGroups = [{ criteria: ['C2'], voidedBy: ['C1'] }]
    expect(await paid({ criterionGroups })).toBeCloseTo((3 * 0.1) / 0.65, 12)
    // Every verdict inverted that is weighed.
    const [flipped] = await paidFor([said(0, 1, 1, 1)], 'rubric', { options: { flipRate: 1 } })
    expect(flipped.reward).toBeCloseTo((3 * 0.3) / 0.65, 12)
    expect(flipped.parts).toEqual({ C1: 1, C2: 0, C3: 0, C4: 1, C5: 0 })
  })

  it('takes no notice of criteria that are not weighed at all, of which the graders say something too', async () => {
    const [{ reward, parts }] = await paidFor([said(1, 1, 0, 0.5, 0.5)], 'rubric', { leftOut: ['C3'] })
    expect(reward).toBeCloseTo(3, 12)
    expect(parts).toEqual({ C1: 1, C2: 1, C3: 0, C4: 0.5, C5: 0.5 })
  })

  it('weighs each group by its own criteria where they are normalised one by one', async () => {
    const rubric = weighedRubric({ condition: 'rubric_norm', weights: null })
    const group = await paidFor([said(1, 0, 0), said(0, 1, 0)], 'rubric_norm')
    const weightsOf = (p: number) => weightsWithout(rubric, new Set([p === 0 ? 'C1' : 'C2']))
    const { advantages_P_G } = normalisedAdvantages(
      { condition: 'rubric_norm', advantage: {} },
      [group, group],
      { weights: weightsOf },
    )
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
    expect(() => checkRubricAsRewardSettings(config)).toThrow(words)
  })

  it('is allowed where it does something, and absent it is no setting', () => {
    for (const settings of [
      { condition: 'hybrid', rubricDropout: { rate: 0.3 } },
      { condition: 'rubric', rubricDropout: { rate: 0.34, keepAtLeast: 2 } },
      { condition: 'rubric_norm', rubricDropout: { rate: 0.5, keepAtLeast: 1, protect: ['C1'] } },
    ])
      expect(() => checkRubricAsRewardSettings(rubricAsRewardSchema.parse(settings))).not.toThrow()
    expect(rubricAsRewardSchema.parse({})).not.toHaveProperty('rubricDropout')
  })
})
