import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SampleRequest } from '../../policy/policy.ts'
import { ServedModel } from '../../policy/served/served-model.ts'
import { resolveShipped } from '../../util/package.ts'
import { type ChatServer, type LocalChat, openLocalChat, startChatServer } from './index.ts'

const TOKEN = 'a-token-of-some-length'
const PROMPTS = [
  'every wumpus is a zumpus . every zumpus is happy . alex is a wumpus . true or false : alex is happy .',
  'every cat is a dog . max is a cat . true or false : max is a dog .',
]

let model: LocalChat
let server: ChatServer
let served: ServedModel
let prompts: number[][]

beforeAll(async () => {
  model = await openLocalChat(resolveShipped('package:models/logic-start'), { threads: 1 })
  server = await startChatServer(model, { token: TOKEN })
  const options = { url: `${server.url}/v1#logic-start`, apiKeyEnv: 'THE_KEY' }
  served = await ServedModel.open(options, { env: { THE_KEY: TOKEN } })
  prompts = PROMPTS.map(text => model.tokenizer.encode(text, { addSpecialTokens: true }))
})
afterAll(async () => {
  await served.close()
  await server.close()
})

const request = (more: Partial<SampleRequest> = {}): SampleRequest => ({
  prompts,
  maxTokens: 40,
  temperature: 0,
  ...more,
})

/** Largest difference between what the server says of its samples and what the engine in this process says of the same tokens. */
const gap = async (more: Partial<SampleRequest>, temperature: number): Promise<number> => {
  const samples = await served.sample(request(more))
  const items = samples.map(({ prompt, tokens }) => ({ promptTokens: prompts[prompt], tokens }))
  const scores = await model.policy.score(items, { temperature })
  return Math.max(
    ...samples.flatMap(({ logprobs }, i) =>
      [...logprobs].map((own, t) => Math.abs(own - scores[i].logprobs[t])),
    ),
  )
}

describe('a sampler on our own chat server', () => {
  it('knows what it is talking to', () => {
    expect([served.dialect, served.name, served.maxTokens]).toEqual([
      'openai',
      'logic-start',
      model.config.maxPositions,
    ])
  })

  it('draws greedily what the engine draws, the end of the text included', async () => {
    const far = await served.sample(request({ maxTokens: 100 }))
    const near = await model.policy.sample(request({ maxTokens: 100 }))
    expect(far.map(({ tokens }) => [...tokens])).toEqual(near.map(({ tokens }) => [...tokens]))
    expect(far.map(({ finishReason }) => finishReason)).toEqual(near.map(({ finishReason }) => finishReason))
    const ended = far.filter(({ finishReason }) => finishReason === 'stop')
    expect(ended.length).toBeGreaterThan(0)
    for (const { tokens } of ended) expect(model.format.stopTokens).toContain(tokens.at(-1))
  })

  it.each([0.7, 1, 1.4])('has log-probs at temperature %s within 1e-3 of the engine', async temperature => {
    expect(await gap({ temperature, samplesPerPrompt: 6, seed: 3 }, temperature)).toBeLessThan(1e-3)
  })

  it('has greedy log-probs within 1e-3 of the engine at temperature 1', async () => {
    expect(await gap({}, 1)).toBeLessThan(1e-3)
  })

  it('scores tokens as the engine does', async () => {
    const [sample] = await model.policy.sample(request({ temperature: 1 }))
    const item = { promptTokens: prompts[0], tokens: sample.tokens }
    const [[far], [near]] = await Promise.all([served.score([item]), model.policy.score([item])])
    expect(far.logprobs).toHaveLength(sample.tokens.length)
    far.logprobs.forEach((logprob, t) => {
      expect(Math.abs(logprob - near.logprobs[t])).toBeLessThan(1e-3)
    })
  })

  it('draws the same again by the same seed, and other things by another', async () => {
    const draw = async (seed: number) =>
      (await served.sample(request({ temperature: 1.3, samplesPerPrompt: 4, seed }))).map(({ tokens }) => [
        ...tokens,
      ])
    const once = await draw(1)
    expect(await draw(1)).toEqual(once)
    expect(await draw(2)).not.toEqual(once)
    expect(new Set(once.map(String)).size).toBeGreaterThan(1)
  })

  it('ends at tokens and strings that the request names, which stay', async () => {
    const [whole] = await served.sample(request())
    const stopToken = whole.tokens[5]
    const [atToken] = await served.sample(request({ stopTokens: [stopToken] }))
    const first = whole.tokens.indexOf(stopToken)
    expect([...atToken.tokens]).toEqual([...whole.tokens.slice(0, first + 1)])
    expect(atToken.finishReason).toBe('stop')
    const word = model.tokenizer.decode([whole.tokens[7]]).trim()
    const [atString] = await served.sample(request({ stopStrings: [word] }))
    const [near] = await model.policy.sample(request({ stopStrings: [word] }))
    expect([...atString.tokens]).toEqual([...near.tokens])
  })

  it('goes on beyond the end of a text where no token ends it', async () => {
    const [free] = await served.sample(request({ stopTokens: [], maxTokens: 100 }))
    expect([free.tokens.length, free.finishReason]).toEqual([100, 'length'])
  })

  it('says that a prompt is too long', async () => {
    await expect(served.sample(request({ maxTokens: 9999 }))).rejects.toThrow(
      /the context has 256; lower the number of new tokens/,
    )
  })

  it('refuses ids in a stream, and a stream of what the context has no room for', async () => {
    const streamed = (more: object) =>
      fetch(`${server.url}/v1/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ prompt: [5, 6], stream: true, ...more }),
      })
    const refused = async (more: object, words: string) => {
      const answer = await streamed(more)
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(words)])
    }
    await refused({ return_token_ids: true }, 'set stream to false')
    await refused({ max_tokens: 9999 }, 'the context has 256')
  })
})
