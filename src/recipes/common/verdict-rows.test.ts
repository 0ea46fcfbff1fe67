import { expect, it } from 'vitest'
import { verdictFields } from './rubric-task.ts'

it('a call is kept once, however many verdicts it brought, and the others say who gave them', () => {
  const whole = { judge: 'm', raw: 'both', promptTokens: 5 }
  const single = { judge: 'm', raw: 'one', reused: 'cache' } as const
  const fields = verdictFields([
    { criterionId: 'a', met: true, source: 'llm', call: whole, attempts: 1, explanation: 'yes' },
    { criterionId: 'b', met: false, source: 'llm', call: whole, leftOut: true },
    { criterionId: 'c', met: true, credit: 1, source: 'rule' },
    { criterionId: 'd', met: null, source: 'llm', call: single, raw: 'kept elsewhere' },
  ])
  expect(fields).toEqual({
    verdicts: [
      { criterionId: 'a', met: true, explanation: 'yes', call: 0 },
      { criterionId: 'b', met: false, call: 0, leftOut: true },
      { criterionId: 'c', met: true, credit: 1, source: 'rule' },
      { criterionId: 'd', met: null, call: 1 },
    ],
    judgeCalls: [whole, single],
  })
  expect(verdictFields([{ criterionId: 'c', met: true, source: 'rule' }])).not.toHaveProperty('judgeCalls')
})
