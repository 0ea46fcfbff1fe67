import { expect, it } from 'vitest'
import { ritSchema } from '../rit/config.ts'
import { describeRitRewards } from '../rit/rewards.ts'
import { describeRubricRewards } from './rewards.ts'

it('tells the formula of a condition with its weights, and what each criterion asks for', () => {
  // Paper, Table 1: 0.3, 0.25, 0.1, 0.15, 0.2.
  const hybrid = describeRubricRewards({ condition: 'hybrid', weights: null })
  expect(hybrid.rewardFormula).toBe(
    'The reward of a response is 3 × (0.3 C1 + 0.25 C2 + 0.1 C3 + 0.15 C4 + 0.2 C5), each criterion from 0 to 1: condition hybrid.',
  )
  expect(hybrid.criterionAbout).toMatchObject({ C1: 'The answer is right.' })
  const own = describeRubricRewards({ condition: 'rubric', weights: { C1: 1, C3: 0 } })
  expect(own.rewardFormula).toContain('3 × (1 C1)')
  expect(describeRubricRewards({ condition: 'proof', weights: null }).criterionWeights).toBeUndefined()
})

it('tells how thinking and answer are fused', () => {
  const config = ritSchema.parse({ recipe: 'rit', fusion: { alpha: 0.3 } })
  expect(describeRitRewards(config)).toContain(
    '0.3 × thinking + 0.7 × answer. It is never more than the answer alone',
  )
  expect(describeRitRewards({ ...config, reward: 'response' })).toContain('the answer’s alone')
})
