import { expect, it } from 'vitest'
import { chatResponse } from './response.ts'

const KEY = 'sk-live-0123456789abcdef'

const body = (content: unknown, more: object = {}) =>
  JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop', ...more }], model: `m ${KEY}` })

it('has the key nowhere that a server may have written it into its answer', () => {
  const said = chatResponse('here', body(`You sent Bearer ${KEY}, twice: ${KEY}`), KEY)
  expect(said.text).toBe('You sent Bearer [key], twice: [key]')
  expect(said.model).toBe('m [key]')
  // Also where JSON spells it in another way.
  const spelt = body('x').replace('"x"', `"\\u0073${KEY.slice(1)}"`)
  expect(chatResponse('here', spelt, KEY).text).toBe('[key]')
  const token = { token: KEY, logprob: -0.1 }
  const { logprobs } = chatResponse(
    'here',
    body('x', { logprobs: { content: [{ ...token, top_logprobs: [token] }] } }),
    KEY,
  )
  expect(logprobs).toEqual([{ token: '[key]', logprob: -0.1, top: [{ token: '[key]', logprob: -0.1 }] }])
  const refused = body(null, { refusal: 'no', finish_reason: `content_filter ${KEY}` })
  expect(() => chatResponse('here', refused, KEY)).not.toThrow(KEY)
})

it('leaves words alone that servers without authorisation are given as a key', () => {
  expect(chatResponse('here', body('EMPTY shelves'), 'EMPTY').text).toBe('EMPTY shelves')
})

it('gives text that a file can hold, also where the server cut a character in two', () => {
  expect(chatResponse('here', body('so\ud83d')).text).toBe('so\ufffd')
})

it('takes no word of the protocol at any length', () => {
  const endless = body('x', { finish_reason: 'y'.repeat(1e6) })
  expect(chatResponse('here', endless).finishReason).toHaveLength(200)
  const filter = body(null, { message: { content: null, refusal: 'no' }, finish_reason: 'z'.repeat(1e6) })
  let message = ''
  try {
    chatResponse('here', filter)
  } catch (error) {
    message = (error as Error).message
  }
  expect(message).toContain('withheld the answer')
  expect(message.length).toBeLessThan(400)
})
