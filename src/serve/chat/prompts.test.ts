import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { resolveShipped } from '../../util/package.ts'
import { createChatApp, type LocalChat, openLocalChat } from './index.ts'

const TIMEOUT_MS = 120_000

let model: LocalChat
let chat: ReturnType<typeof createChatApp>

beforeAll(async () => {
  const opened = await openLocalChat(resolveShipped('package:models/chat-start'), { threads: 1 })
  // A context as public models have it: so long a prompt is not refused by its length alone.
  model = { ...opened, config: { ...opened.config, maxPositions: 8192 } }
  chat = createChatApp(model)
}, TIMEOUT_MS)
afterAll(async () => {
  await chat.drain()
  await model.policy.close()
})

const ask = async (path: string, body: unknown) => {
  const answer = await chat.app.request(path, { method: 'POST', body: JSON.stringify(body) })
  return [answer.status, await answer.text()]
}

it.each([
  ['a word without end', '/v1/completions', { prompt: 'a'.repeat(50_000), max_tokens: 1 }],
  ['many prompts', '/v1/completions', { prompt: Array(200).fill('ab'.repeat(500)), max_tokens: 8192 }],
  ['many turns', '/v1/chat/completions', { messages: Array(9_000).fill({ role: 'user', content: 'hi' }) }],
])('%s: becomes tokens in another thread', { timeout: TIMEOUT_MS }, async (_, path, body) => {
  const [encode, render] = [vi.spyOn(model.tokenizer, 'encode'), vi.spyOn(model.template, 'render')]
  expect(await ask(path, body)).toEqual([400, expect.stringMatching(/the prompt has \d+ tokens/)])
  expect(encode).not.toHaveBeenCalled()
  expect(render).not.toHaveBeenCalled()
})

it('means the same in either thread', { timeout: TIMEOUT_MS }, async () => {
  const content = 'Name three colours. '
  const tokens = async (times: number) => {
    const messages = [{ role: 'user', content: content.repeat(times) }]
    const [, text] = await ask('/v1/chat/completions', { messages, max_tokens: 8192 })
    return Number(/the prompt has (\d+) tokens/.exec(text as string)?.[1])
  }
  const own = (times: number) =>
    model.tokenizer.encode(
      model.template.render([{ role: 'user', content: content.repeat(times) }], {
        addGenerationPrompt: true,
      }),
      { addSpecialTokens: !model.ownTemplate },
    ).length
  for (const times of [1, 1000]) expect(await tokens(times)).toBe(own(times))
})
