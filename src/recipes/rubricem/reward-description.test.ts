import { expect, it } from 'vitest'
import { describeRubricemRewards } from './attempts.ts'
import { rubricemSchema } from './config.ts'

const words = (settings: object) => describeRubricemRewards(rubricemSchema.parse(settings))

it('says what each stage hears of those behind it', () => {
  const lambda = [
    [1, 0.5, 0, 0.25],
    [0, 1, 0.5, 1],
    [0, 0, 1, 1],
    [0, 0, 0, 1],
  ]
  expect(words({ credit: { lambda } })).toBe(
    'A stage is worth its weighted mean of the levels that the judge gives it by its rubrics, from 0 to 1. Tokens of a stage are paid for it and for what follows: plan = plan + 0.5 × research + 0.25 × answer; research = research + 0.5 × review + answer; review = review + answer; answer = answer. A reflection is paid what its judge finds it worth.',
  )
})

it('follows the settings', () => {
  const terminal = words({ credit: { mode: 'terminal' }, reflection: { enabled: false } })
  expect(terminal).toContain('by the answer’s worth alone')
  expect(terminal).not.toContain('reflection')
})
