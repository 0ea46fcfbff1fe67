import { expect, it } from 'vitest'
import { rlcerSchema } from './config.ts'
import { describeRlcerRewards } from './rewards.ts'

const words = (settings: object) => describeRlcerRewards(rlcerSchema.parse(settings))

it('says what both roles are paid', () => {
  expect(words({})).toBe(
    'A reasoner gets 1 for a right answer and −1 for a wrong one, plus its thinking’s points by the valid criteria of the question’s rubrics, from 0 for the least to 1 for the most that they can give. A rubricator gets 1 for a rubric in the format, plus the share of its criteria that are valid: met more often where answers are right, with a correlation above 0.2.',
  )
})

it('follows the settings', () => {
  const outcome = words({
    reasonerReward: 'outcome',
    rubricator: { enabled: false },
    overlong: { buffer: 8 },
  })
  expect(outcome).toBe(
    'A reasoner gets 1 for a right answer and −1 for a wrong one, less up to 1 in the last 8 tokens before the limit. No rubricators are trained.',
  )
  expect(words({ reasonerReward: 'random' })).toContain('random number')
  expect(words({ rubricator: { evolving: false } })).not.toContain('share of its criteria')
  expect(words({ validity: { alpha: 0.35 } })).toContain('above 0.35')
})
