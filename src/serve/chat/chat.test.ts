import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAiModel } from '../../chat/index.ts'
import { policyChatModel } from '../../policy/chat/chat-model.ts'
import { resolveShipped } from '../../util/package.ts'
import { type ChatServer, type LocalChat, openLocalChat, startChatServer } from './index.ts'

const FOLDER = resolveShipped('package:models/logic-start')
const PROMPT =
  'every wumpus is a zumpus . every zumpus is happy . alex is a wumpus . true or false : alex is happy .'

let model: LocalChat
let server: ChatServer
let client: OpenAI

beforeAll(async () => {
  model = await openLocalChat(FOLDER, { threads: 1 })
  server = await startChatServer(model, { token: 'secret' })
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'secret', maxRetries: 0 })
})
afterAll(() => server.close())

const complete = (changes: Partial<OpenAI.CompletionCreateParamsNonStreaming> = {}) =>
  client.completions.create({
    model: 'logic-start',
    prompt: PROMPT,
    max_tokens: 40,
    temperature: 0,
    ...changes,
  })

describe('the official client on a local checkpoint', () => {
  it('lists the model', async () => {
    const names: string[] = []
    for await (const { id } of client.models.list()) names.push(id)
    expect(names).toEqual(['logic-start'])
    expect((await client.models.retrieve('logic-start')).owned_by).toBe('gradus')
  })

  it('samples as the makers of the model recommend where a request says nothing', async () => {
    const recommended = await openLocalChat(FOLDER, { threads: 1 })
    recommended.generation.sampling.topK = 1
    const other = await startChatServer(recommended)
    const baseURL = `${other.url}/v1`
    const ask = (changes: object) =>
      new OpenAI({ baseURL, apiKey: 'x' }).completions.create({
        ...{ model: 'logic-start', prompt: PROMPT, max_tokens: 40, seed: 1 },
        ...changes,
      })
    try {
      const greedy = (await complete()).choices[0].text
      expect((await ask({})).choices[0].text).toBe(greedy)
      expect((await ask({ top_k: -1, temperature: 2 })).choices[0].text).not.toBe(greedy)
    } finally {
      await other.close()
    }
  })

  it('continues text as the policy itself does', async () => {
    const { choices, usage } = await complete({ logprobs: 3 })
    const promptTokens = model.tokenizer.encode(PROMPT, { addSpecialTokens: true })
    const [own] = await model.policy.sample({ prompts: [promptTokens], maxTokens: 40, temperature: 0 })
    expect(choices[0].text).toBe(model.tokenizer.decode([...own.tokens]))
    expect(choices[0].finish_reason).toBe(own.finishReason)
    expect(usage).toEqual({
      prompt_tokens: promptTokens.length,
      completion_tokens: own.tokens.length,
      total_tokens: promptTokens.length + own.tokens.length,
    })
    const { tokens, token_logprobs, top_logprobs, text_offset } = choices[0].logprobs!
    token_logprobs!.forEach((logprob, t) => {
      expect(logprob).toBeCloseTo(own.logprobs[t], 5)
      const [best] = Object.entries(top_logprobs![t]).sort((a, b) => b[1] - a[1])
      expect(best[0]).toBe(tokens![t])
      expect(Object.keys(top_logprobs![t]).length).toBeGreaterThanOrEqual(2)
    })
    expect(text_offset![0]).toBe(0)
    expect(text_offset).toEqual([...text_offset!].sort((a, b) => a - b))
  })

  it('takes token ids, several prompts and several samples', async () => {
    const ids = model.tokenizer.encode(PROMPT, { addSpecialTokens: true })
    const { choices } = await complete({ prompt: [ids, ids] as unknown as number[][], n: 2 })
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3])
    expect(new Set(choices.map(({ text }) => text)).size).toBe(1)
  })

  it('draws the same for the same seed, alone or among others, and differently without', async () => {
    const settings = { temperature: 1.5, seed: 7, max_tokens: 30 }
    const alone = await complete(settings)
    const [again] = await Promise.all([complete(settings), complete({ ...settings, seed: 8 })])
    expect(again.choices[0].text).toBe(alone.choices[0].text)
    const free = await Promise.all([1, 2, 3].map(() => complete({ temperature: 1.5, max_tokens: 30 })))
    expect(new Set(free.map(({ choices }) => choices[0].text)).size).toBeGreaterThan(1)
  })

  it('cuts the text before a stop string', async () => {
    const whole = (await complete()).choices[0].text
    const stop = whole.slice(12, 18)
    const { choices } = await complete({ stop: [stop, 'never'], logprobs: 1 })
    expect(choices[0].text).toBe(whole.slice(0, whole.indexOf(stop)))
    expect(choices[0].finish_reason).toBe('stop')
  })

  it('streams completions: the pieces are the whole text', async () => {
    const whole = await complete({ stop: 'zumpus', logprobs: 1 })
    const stream = await client.completions.create({
      model: 'logic-start',
      prompt: PROMPT,
      max_tokens: 40,
      temperature: 0,
      stop: 'zumpus',
      stream: true,
      stream_options: { include_usage: true },
    })
    const pieces: OpenAI.Completion[] = []
    for await (const piece of stream) pieces.push(piece)
    const text = pieces.map(({ choices }) => choices[0]?.text ?? '').join('')
    expect(text).toBe(whole.choices[0].text)
    expect(pieces.length).toBeGreaterThan(3)
    expect(pieces.at(-1)!.usage).toEqual(whole.usage)
    expect(pieces.at(-2)!.choices[0].finish_reason).toBe('stop')
  })

  it('chats, whole and streamed, with log-probs', async () => {
    const request = {
      model: 'logic-start',
      messages: [{ role: 'user' as const, content: PROMPT }],
      temperature: 0,
      max_completion_tokens: 20,
      logprobs: true,
      top_logprobs: 2,
    }
    const { choices } = await client.chat.completions.create(request)
    const { content } = choices[0].logprobs!
    expect(choices[0].message.role).toBe('assistant')
    expect(content!.map(({ token }) => token).length).toBe(20)
    expect(content![0].top_logprobs).toHaveLength(2)
    expect(Buffer.from(content![0].bytes!).toString()).toBe(content![0].token)
    const stream = await client.chat.completions.create({ ...request, stream: true })
    let text = ''
    let logprobs = 0
    for await (const { choices: pieces } of stream) {
      text += pieces[0].delta.content ?? ''
      logprobs += pieces[0].logprobs?.content?.length ?? 0
    }
    expect(text).toBe(choices[0].message.content)
    expect(logprobs).toBe(20)
  })

  it('is a judge for our own adapter, which stops asking for a structure that it cannot have', async () => {
    process.env.GRADUS_TEST_CHAT_TOKEN = 'secret'
    const judge = openAiModel({
      url: `${server.url}/v1`,
      model: 'logic-start',
      apiKeyEnv: 'GRADUS_TEST_CHAT_TOKEN',
    })
    const request = {
      messages: [{ role: 'user' as const, content: PROMPT }],
      temperature: 0,
      maxTokens: 12,
      topLogprobs: 2,
      answerSchema: { name: 'verdict', schema: { type: 'object' } },
    }
    const [first, again] = [await judge.complete(request), await judge.complete(request)]
    expect(first.text).toBe(again.text)
    expect(first.usage.completionTokens).toBe(12)
    expect(first.logprobs).toHaveLength(12)
    await judge.close()
  })

  it('says what the same model says in this process, and counts the same tokens', async () => {
    process.env.GRADUS_TEST_CHAT_TOKEN = 'secret'
    const endpoint = openAiModel({
      url: `${server.url}/v1`,
      model: 'logic-start',
      apiKeyEnv: 'GRADUS_TEST_CHAT_TOKEN',
    })
    const here = policyChatModel(model)
    const request = {
      messages: [{ role: 'user' as const, content: PROMPT }],
      temperature: 1.3,
      seed: 5,
      maxTokens: 30,
      stop: ['zumpus'],
      topLogprobs: 1,
    }
    const [far, near] = [await endpoint.complete(request), await here.complete(request)]
    expect(near.text).toBe(far.text)
    expect(near.text.length).toBeGreaterThan(5)
    expect([near.finishReason, near.usage.completionTokens, near.usage.promptTokens]).toEqual([
      far.finishReason,
      far.usage.completionTokens,
      far.usage.promptTokens,
    ])
    expect(near.logprobs!.map(({ token }) => token)).toEqual(far.logprobs!.map(({ token }) => token))
    await endpoint.close()
  })

  it('answers many at once', async () => {
    const texts = await Promise.all(Array.from({ length: 60 }, () => complete({ max_tokens: 5 })))
    expect(new Set(texts.map(({ choices }) => choices[0].text)).size).toBe(1)
  })
})

describe('what the server refuses', () => {
  const refusal = async (work: () => Promise<unknown>) => {
    const error = await work().then(
      () => null,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof OpenAI.APIError)) throw new Error(`expected a refusal, got ${error}`)
    return `${error.status} ${error.code} ${error.message}`
  }

  it.each([
    ['another model', { model: 'gpt-9' }, /404 model_not_found .*"gpt-9" is not served here/],
    ['a prompt that is too long', { prompt: 'happy '.repeat(400) }, /400 context_length_exceeded .*256/],
    ['too many new tokens', { max_tokens: 9999 }, /400 context_length_exceeded/],
    ['a token outside the vocabulary', { prompt: [5, 4000] }, /400 .*outside the vocabulary of 96/],
    ['a wrong type', { temperature: 'hot' as unknown as number }, /400 .*temperature: expected/],
    ['a penalty', { presence_penalty: 1 }, /400 .*presence_penalty: expected 0, got 1; this server has no/],
    ['an echo', { echo: true }, /400 .*echo: expected false/],
  ])('%s', async (_name, changes, message) => {
    expect(await refusal(() => complete(changes))).toMatch(message)
  })

  it('a structure that it could not enforce', async () => {
    const response_format = { type: 'json_object' as const }
    const messages = [{ role: 'user' as const, content: 'x' }]
    const work = () => client.chat.completions.create({ model: 'logic-start', messages, response_format })
    expect(await refusal(work)).toMatch(/400 .*cannot enforce a structure/)
  })

  it('a wrong token, without saying which would be right', async () => {
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'guess', maxRetries: 0 })
    const text = await refusal(() => stranger.models.retrieve('logic-start'))
    expect(text).toMatch(/401 invalid_api_key/)
    expect(text).not.toContain('secret')
  })

  it('a body that is no JSON, and paths that are not there', async () => {
    const headers = { authorization: 'Bearer secret' }
    const bad = await fetch(`${server.url}/v1/completions`, { method: 'POST', body: '{', headers })
    expect([bad.status, ((await bad.json()) as { error: { message: string } }).error.message]).toEqual([
      400,
      expect.stringContaining('body: expected JSON, got '),
    ])
    expect((await fetch(`${server.url}/v2`)).status).toBe(404)
  })
})
