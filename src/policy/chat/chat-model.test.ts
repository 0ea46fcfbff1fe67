import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChatModel } from '../../chat/chat-model.ts'
import { llmJudge } from '../../grade/judge/judge.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { loadTokenizer } from '../../model/tokenizer.ts'
import type { SampleRequest } from '../policy.ts'
import { localChatModel, policyChatModel } from './chat-model.ts'
import { openLocalChat } from './local-chat.ts'

let root: string
let folder: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-policy-chat-'))
  // The configuration names 256, the tokenizer 257.
  folder = writeTinyChat(join(root, 'model'), 256, [256])
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const say = (content: string) => [{ role: 'user' as const, content }]

/** A policy that answers every prompt with the same tokens, and notes what it was asked. */
const parrot = (tokens: readonly number[], maxPositions = 256) => {
  const requests: SampleRequest[] = []
  const format = { ...chatFormatOf(folder, 'a test'), maxPositions }
  const model = policyChatModel({
    name: 'parrot',
    format,
    tokenizer: loadTokenizer(folder),
    policy: {
      async sample(request, onSample) {
        requests.push(request)
        const samples = request.prompts.map((_, prompt) => ({
          prompt,
          index: 0,
          tokens: Int32Array.from(tokens),
          logprobs: new Float32Array(tokens.length).fill(-0.5),
          finishReason: 'stop' as const,
        }))
        for (const sample of samples) onSample?.(sample)
        return samples
      },
    },
  })
  return { model, requests, format }
}

describe('a policy as a chat model', () => {
  it('puts messages through the template and stops on both end tokens, which are no part of the text', async () => {
    for (const end of [256, 257]) {
      const { model, requests, format } = parrot([...Buffer.from('Yes.'), end])
      const { text, finishReason, usage } = await model.complete({ messages: say('Well?'), maxTokens: 9 })
      expect([text, finishReason]).toEqual(['Yes.', 'stop'])
      const [{ prompts, stopTokens, maxTokens }] = requests
      expect(format.show(prompts[0])).toBe('<|im_start|>user\nWell?<|im_end|><|im_start|>assistant\n')
      expect([stopTokens, maxTokens]).toEqual([[256, 257], 9])
      expect(usage).toEqual({ promptTokens: prompts[0].length, completionTokens: 5, cachedTokens: null })
    }
  })

  it('is a judge like any other', async () => {
    const { model } = parrot([...Buffer.from('{"explanation": "", "criteria_met": true}'), 257], 100_000)
    const item = { prompt: say('Hello?'), response: 'Hi!' }
    const [verdict] = await llmJudge({ model }).grade(item, [{ id: 'kind', text: 'Is kind', points: 1 }])
    expect(verdict.met).toBe(true)
  })

  it('asks about many conversations in one batch', async () => {
    const { model, requests } = parrot([65, 257])
    const answers = await Promise.all(['a', 'b', 'c'].map(text => model.complete({ messages: say(text) })))
    expect(answers.map(({ text }) => text)).toEqual(['A', 'A', 'A'])
    expect(requests.map(({ prompts }) => prompts.length)).toEqual([3])
  })

  it('refuses what it cannot do: penalties, and prompts beyond the context', async () => {
    const { model, requests, format } = parrot([65])
    await expect(model.complete({ messages: say('x'), presencePenalty: 1.5 })).rejects.toThrow(
      'presencePenalty: expected none, got 1.5',
    )
    await expect(model.complete({ messages: say('x'.repeat(300)) })).rejects.toThrow('the context 256')
    expect(requests).toEqual([])
    await model.complete({ messages: say('x'), maxTokens: 9999, presencePenalty: 0 })
    expect(requests[0].maxTokens).toBe(256 - format.encode(say('x')).length)
  })

  it('does not wait when it is cancelled', async () => {
    const stop = new AbortController()
    const { format } = parrot([])
    const model = policyChatModel({
      name: 'slow',
      format,
      tokenizer: loadTokenizer(folder),
      policy: { sample: () => new Promise(() => stop.abort(new Error('enough'))) },
    })
    await expect(model.complete({ messages: say('x'), signal: stop.signal })).rejects.toMatchObject({
      kind: 'cancelled',
    })
  })
})

describe('a checkpoint as a chat model', () => {
  const models: ChatModel[] = []
  afterAll(() => Promise.all(models.map(model => model.close?.())))

  it('answers as its policy samples, the same for the same seed', async () => {
    const model = await localChatModel(folder, { threads: 1 })
    models.push(model)
    const ask = (seed: number) =>
      model.complete({ messages: say('Hm?'), seed, maxTokens: 20, temperature: 1 })
    const [first, again, other] = await Promise.all([ask(1), ask(1), ask(2)])
    expect(again.text).toBe(first.text)
    expect(other.text).not.toBe(first.text)
    expect(first.usage.completionTokens).toBeGreaterThan(0)
    expect((await ask(1)).text).toBe(first.text)
  })

  it('is another one than a copy of the same name', async () => {
    cpSync(folder, join(root, 'other', 'model'), { recursive: true })
    const chats = await Promise.all(
      [folder, join(root, 'other', 'model')].map(each => openLocalChat(each, { threads: 1 })),
    )
    expect(chats.map(({ name }) => name)).toEqual(['model', 'model'])
    expect(chats[0].variant).not.toBe(chats[1].variant)
    // The same weights, which say something else.
    const copy = join(root, 'other', 'model')
    writeFileSync(join(copy, 'chat_template.jinja'), '{{ messages[0].content }}')
    chats.push(await openLocalChat(copy, { threads: 1 }))
    expect(chats[2].variant).not.toBe(chats[1].variant)
    chats.push(await openLocalChat(copy, { threads: 1, sampleBits: 8 }))
    expect(chats[3].variant).not.toBe(chats[2].variant)
    const request = { prompts: [[1, 2, 3]], maxTokens: 4, temperature: 0, stopTokens: [] }
    const [whole, rounded] = await Promise.all(chats.slice(2).map(({ policy }) => policy.sample(request)))
    expect(rounded[0].logprobs).not.toEqual(whole[0].logprobs)
    await Promise.all(chats.map(({ policy }) => policy.close()))
  })
})
