import { describe, expect, it } from 'vitest'
import { normalisedAdvantages } from './normalise.ts'
import { checkOptions, optionLines } from './options.ts'

const advantage = { scale: 'group', epsilon: 0 } as const
/** One response meets what is worth three points, the other what is worth one; in a second group both meet all. */
const GROUPS = [
  [
    { reward: 0.75, parts: { a: 1, b: 0 } },
    { reward: 0.25, parts: { a: 0, b: 1 } },
  ],
  [
    { reward: 1, parts: { a: 1, b: 1 } },
    { reward: 1, parts: { a: 1, b: 1 } },
  ],
]
const weights = { a: 0.75, b: 0.25 }

describe('criteria normalised one by one', () => {
  it('are added up by their weights, then divided by the spread of the step', () => {
    const of = (normalise?: 'criterion') =>
      normalisedAdvantages({ normalise, advantage }, GROUPS, { weights }).advantages_P_G
    // Of whole rewards .75 and .25: one spread below and above their mean.
    expect(of()).toEqual([
      [1, -1],
      [0, 0],
    ])
    // .75 - .25 and the opposite, over the spread of .5, -.5, 0, 0, which is the root of 1/8.
    const apart = of('criterion')
    expect(apart[0][0]).toBeCloseTo(0.5 / Math.sqrt(1 / 8), 12)
    expect(apart[0][1]).toBeCloseTo(-0.5 / Math.sqrt(1 / 8), 12)
    expect(apart[1]).toEqual([0, 0])
  })

  it('are weighed in each group by its own rubric', () => {
    const own = { weights: (p: number): Record<string, number> => (p === 0 ? { b: 1 } : { a: 1 }) }
    const { advantages_P_G } = normalisedAdvantages({ normalise: 'criterion', advantage }, GROUPS, own)
    expect(advantages_P_G[0].map(Math.sign)).toEqual([-1, 1])
  })
})

describe('its settings', () => {
  it.each<[string, Record<string, unknown>, object?]>([
    ['critic: expected null with normalise "criterion"', { normalise: 'criterion', critic: {} }],
    ['critic: expected null with advantage.perPart', { advantage: { perPart: true }, critic: {} }],
    [
      'advantage.scale: expected "group" with condition "rubric_norm", which divides each part by its own spread in the group, got "none"',
      { condition: 'rubric_norm', advantage: { scale: 'none' } },
    ],
    [
      'advantage.scale: expected "batch" with advantage.perPart',
      { advantage: { perPart: true, scale: 'group' } },
      { usualScale: 'batch' },
    ],
    ['normalise: expected nothing with reward "random"', { normalise: 'criterion', reward: 'random' }],
    [
      'scoringRule: expected nothing with normalise "criterion"',
      { normalise: 'criterion', scoringRule: { name: 'mean', critical: [] } },
    ],
    [
      'groupJudge: expected nothing beside normalise "criterion"',
      { normalise: 'criterion', groupJudge: { kind: 'scripted', sees: 'truth', noise: 0, placeBias: 0 } },
    ],
  ])('are refused where they would be ignored: %s', (message, settings, facts = {}) => {
    expect(() => checkOptions(settings, facts)).toThrow(message)
  })

  it('leave a rule of thinking alone that is one of two parts, and are in the plan', () => {
    const settings = { normalise: 'part', advantage, scoringRule: { name: 'mean', critical: [] } }
    expect(() => checkOptions(settings, {})).not.toThrow()
    expect(optionLines(settings)).toContain('normalised   each part in its group (normalise "part")')
  })
})
