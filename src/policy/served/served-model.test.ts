import { afterEach, describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../chat/clock.ts'
import { ConfigError } from '../../util/errors.ts'
import type { Sample } from '../policy.ts'
import type { ServedRuntime } from './connection.ts'
import { ServedError } from './errors.ts'
import {
  END_TOKEN,
  FakeInferenceServer,
  type FakeOptions,
  type Fault,
  fakeToken,
} from './fake-server.fixture.ts'
import { ServedModel } from './served-model.ts'
import type { ServedOptions } from './settings.ts'

let stop: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(stop.map(each => each()))
  stop = []
})

/** Waits pass in no time, and are kept. */
const hastyClock = (): Clock & { waits: number[] } => {
  let nowMs = 0
  const waits: number[] = []
  return {
    waits,
    now: () => nowMs,
    date: () => nowMs,
    after(delayMs, wake) {
      // Time limits of exchanges run as they are; waits between them do not.
      if (delayMs >= 600_000) return () => {}
      const timer = setTimeout(() => {
        waits.push(delayMs)
        nowMs += delayMs
        wake()
      }, 0)
      return () => clearTimeout(timer)
    },
  }
}

const setup = async (
  fake: FakeOptions = {},
  options: Partial<ServedOptions> = {},
  runtime: ServedRuntime = {},
) => {
  const server = new FakeInferenceServer(fake)
  const url = await server.listen()
  stop.push(() => server.close())
  const clock = hastyClock()
  const model = await ServedModel.open({ url, ...options }, { clock, random: () => 1, ...runtime })
  stop.push(() => model.close())
  server.seen.length = 0
  return { server, model, url, waits: clock.waits }
}

const bodies = ({ seen }: FakeInferenceServer) => seen.map(({ body }) => body)
const PROMPTS = [
  [5, 6],
  [7, 8, 9],
]
const request = { prompts: PROMPTS, samplesPerPrompt: 3, maxTokens: 8, seed: 's', temperature: 1 }

/** What the fake server's arithmetic gives for a seed and a prompt. */
const expected = (seed: number, prompt: readonly number[]) => {
  const sum = prompt.reduce((total, id) => total + id, 0)
  const pairs = [0, 1, 2, 3].map(t => fakeToken(seed, sum, t))
  return {
    tokens: [...pairs.map(([id]) => id), END_TOKEN],
    logprobs: [...pairs.map(([, logprob]) => logprob), -0.5],
  }
}
const plain = ({ tokens, logprobs }: Sample) => ({ tokens: [...tokens], logprobs: [...logprobs] })

const failure = async (work: Promise<unknown>): Promise<ServedError> => {
  const error = await work.then(
    () => new Error('it did not fail'),
    thrown => thrown,
  )
  expect(error).toBeInstanceOf(ServedError)
  return error
}

describe('samples of a vLLM server', () => {
  it('asks for a group in one request, token ids in, and reads tokens and log-probs back', async () => {
    const { server, model } = await setup()
    const logged: string[] = []
    const samples = await model.sample(request, ({ prompt, index }) => logged.push(`${prompt}/${index}`))
    expect(samples.map(({ prompt, index }) => `${prompt}/${index}`)).toEqual([
      '0/0',
      '0/1',
      '0/2',
      '1/0',
      '1/1',
      '1/2',
    ])
    expect(logged.sort()).toEqual(samples.map(({ prompt, index }) => `${prompt}/${index}`))
    const byPrompt = bodies(server).sort((a, b) => a.prompt.length - b.prompt.length)
    expect(byPrompt.map(({ prompt, n, model: name }) => ({ prompt, n, name }))).toEqual(
      PROMPTS.map(prompt => ({ prompt, n: 3, name: 'tiny' })),
    )
    for (const sample of samples) {
      const { seed } = byPrompt[sample.prompt]
      expect(plain(sample)).toEqual(expected(seed + sample.index, PROMPTS[sample.prompt]))
      expect(sample.finishReason).toBe('stop')
    }
  })

  it('draws the same by the same seed, whoever is beside it, and other things by another', async () => {
    const { model } = await setup()
    const draw = async (more: object) => (await model.sample({ ...request, ...more })).map(plain)
    const once = await draw({})
    expect(await draw({})).toEqual(once)
    expect(await draw({ seed: 't' })).not.toEqual(once)
    const named = { prompts: [PROMPTS[1]], promptSeeds: ['s/1'] }
    expect(await draw(named)).toEqual(once.slice(3))
  })

  it('cuts at the limit and says so; tells each token', async () => {
    const { model } = await setup()
    const tokens: number[] = []
    const [sample] = await model.sample(
      { prompts: [[4]], maxTokens: 3 },
      undefined,
      ({ token }) => void tokens.push(token),
    )
    expect(sample.finishReason).toBe('length')
    expect(tokens).toEqual([...sample.tokens])
    expect(tokens).toHaveLength(3)
  })

  it('sends stop tokens, stop strings, truncation and temperature', async () => {
    const { server, model } = await setup()
    const options = { topK: 5, topP: 0.9, temperature: 0.7, stopTokens: [2], stopStrings: ['\n'] }
    await model.sample({ ...request, ...options })
    expect(server.seen[0].body).toMatchObject({
      top_k: 5,
      top_p: 0.9,
      temperature: 0.7,
      stop_token_ids: [2],
      stop: ['\n'],
      max_tokens: 8,
    })
    expect(server.seen[0].body).not.toHaveProperty('ignore_eos')
    await model.sample({ ...request, stopTokens: [] })
    expect(server.seen.at(-1)!.body.ignore_eos).toBe(true)
    // Said, so that no generation_config.json of the model's decides.
    const whole = { top_k: -1, top_p: 1, min_p: 0, repetition_penalty: 1 }
    expect(server.seen.at(-1)!.body).toMatchObject(whole)
  })

  it('draws a greedy group once, as vLLM refuses several', async () => {
    const { server, model } = await setup()
    const samples = await model.sample({ ...request, temperature: 0 })
    expect(bodies(server).map(({ n }) => n)).toEqual([1, 1])
    expect(samples).toHaveLength(6)
    expect(plain(samples[2])).toEqual(plain(samples[0]))
  })

  it('reads the ids of an earlier vLLM from its log-probs', async () => {
    const { server, model } = await setup({ withoutTokenIds: true })
    const [sample] = await model.sample({ ...request, prompts: [[5, 6]], samplesPerPrompt: 1 })
    expect(plain(sample)).toEqual(expected(server.seen[0].body.seed, [5, 6]))
  })

  it('scores given tokens', async () => {
    const { model } = await setup()
    const [scores, none] = await model.score([
      { promptTokens: [8, 4], tokens: [6, 2] },
      { promptTokens: [8], tokens: [] },
    ])
    expect([...scores.logprobs]).toEqual([-1.5, -0.5])
    expect([...none.logprobs]).toEqual([])
    expect(() => model.score([], { temperature: 0.5 })).toThrow(ConfigError)
  })

  it('continues a text in its own tokens', async () => {
    const { server, model } = await setup()
    const { text, finishReason } = await model.continuation('abc', { maxTokens: 2 })
    expect(server.seen[0].body.prompt).toBe('abc')
    expect(text).toMatch(/^<\d+><\d+>$/)
    expect(finishReason).toBe('length')
  })
})

describe('samples of an SGLang server', () => {
  const sglang = { dialect: 'sglang' as const }

  it('is told by what it says of itself, and asked by /generate with token ids', async () => {
    const { server, model } = await setup(sglang)
    expect(model.dialect).toBe('sglang')
    const samples = await model.sample(request)
    expect(server.seen.map(({ path }) => path)).toEqual(['/generate', '/generate'])
    const [first] = bodies(server).filter(({ input_ids }) => input_ids.length === 2)
    expect(first).toMatchObject({ input_ids: [5, 6], return_logprob: true })
    expect(first.sampling_params).toMatchObject({ n: 3, max_new_tokens: 8, top_k: -1 })
    expect(first.sampling_params).not.toHaveProperty('sampling_seed')
    expect(samples.slice(0, 3).map(plain)).toEqual([0, 1, 2].map(index => expected(index, [5, 6])))
  })

  it('asks for each sample by itself where seeds are followed, because one seed draws one sample', async () => {
    const { server, model } = await setup(sglang, { sendSeed: true })
    const samples = await model.sample({ ...request, prompts: [[5, 6]] })
    const seeds = bodies(server).map(({ sampling_params }) => sampling_params.sampling_seed)
    const first = Math.min(...seeds)
    expect(seeds.sort()).toEqual([first, first + 1, first + 2])
    expect(samples.map(plain)).toEqual([0, 1, 2].map(index => expected(first + index, [5, 6])))
  })

  it('scores given tokens, and names an adapter', async () => {
    const { server, model } = await setup(sglang, { model: 'tiny:mine' })
    const [scores] = await model.score([{ promptTokens: [8, 4], tokens: [6, 2] }])
    expect([...scores.logprobs]).toEqual([-1.5, -0.5])
    expect(server.seen[0].body).toMatchObject({ lora_path: 'mine', logprob_start_len: 0 })
  })

  it('tries again what the server gave up', async () => {
    const { server, model } = await setup(sglang)
    server.faults.push(answer => ({
      ...answer,
      meta_info: { ...answer.meta_info, finish_reason: { type: 'abort', message: 'out of memory' } },
    }))
    const [sample] = await model.sample({ ...request, prompts: [[5]], samplesPerPrompt: 1 })
    expect(sample.finishReason).toBe('stop')
    expect(server.seen).toHaveLength(2)
  })
})

describe('the model that is asked', () => {
  it('is the one in the address, or the only one', async () => {
    const server = new FakeInferenceServer()
    const url = await server.listen()
    stop.push(() => server.close())
    for (const address of [`${url}#tiny`, url, url.replace('/v1', ''), `${url}/completions`]) {
      const model = await ServedModel.open({ url: address })
      stop.push(() => model.close())
      expect(model.name).toBe('tiny')
      expect(model.maxTokens).toBe(64)
      expect(await model.sample({ ...request, prompts: [[3]] })).toHaveLength(3)
    }
  })

  it('is refused by name, with the names that there are', async () => {
    const server = new FakeInferenceServer({
      models: [
        { id: 'a', owned_by: 'vllm' },
        { id: 'b', owned_by: 'vllm' },
      ],
    })
    const url = await server.listen()
    stop.push(() => server.close())
    const wrong = await failure(ServedModel.open({ url: `${url}#c` }))
    expect(wrong.kind).toBe('model')
    expect(wrong.message).toMatch(/expected a model that it serves, got c; it has a, b$/)
    const none = await failure(ServedModel.open({ url }))
    expect(none.message).toMatch(/expected the name of a model, got none, and the server lists a, b/)
  })

  it('is taken as named where the server lists nothing', async () => {
    const { model } = await setup({ models: null }, { model: 'any' })
    expect(model.name).toBe('any')
    expect(model.maxTokens).toBeNull()
  })

  it('is refused with settings that nobody knows, and an address that is none', async () => {
    await expect(ServedModel.open({ url: 'ftp://x#m' })).rejects.toThrow(/expected http or https/)
    await expect(ServedModel.open({ url: 'http://x#' })).rejects.toThrow(/name of a model after #/)
    await expect(ServedModel.open({ url: 'http://x', patience: 1 } as ServedOptions)).rejects.toThrow(
      /inference server: patience/,
    )
  })
})

describe('the key', () => {
  const key = 'sk-very-secret-0123456789'

  it('comes from the environment and stands in no message', async () => {
    const { server } = await setup({ key }, { apiKeyEnv: 'THE_KEY' }, { env: { THE_KEY: key } })
    const url = await server.listen()
    const refused = await failure(
      ServedModel.open({ url, apiKeyEnv: 'THE_KEY' }, { env: { THE_KEY: `${key}x` } }),
    )
    expect(refused.kind).toBe('auth')
    expect(JSON.stringify([refused.message, refused.stack, refused.cause])).not.toContain(key)
    await expect(ServedModel.open({ url, apiKeyEnv: 'THE_KEY' }, { env: {} })).rejects.toThrow(
      /THE_KEY is not set/,
    )
  })
})

describe('a server that fails', () => {
  const one = { ...request, prompts: [[5, 6]], samplesPerPrompt: 2 }

  const passing: [string, Fault][] = [
    ['500', { status: 500 }],
    ['503', { status: 503, body: 'starting' }],
    ['429', { status: 429 }],
    ['a connection that ends', 'gone'],
    ['an answer that is cut', 'cut'],
    ['an answer that is no JSON', { text: body => body.slice(0, 40) }],
  ]
  it.each(passing)('is asked again after %s, and the sample is the same', async (_, fault) => {
    const { server, model } = await setup()
    const undisturbed = (await model.sample(one)).map(plain)
    server.faults.push(fault, fault)
    expect((await model.sample(one)).map(plain)).toEqual(undisturbed)
    expect(server.seen).toHaveLength(4)
  })

  it('waits longer each time, as long as it is asked to, and no longer than its patience', async () => {
    const { server, model, waits } = await setup({}, { backoffMs: 100, patienceMs: 10_000 })
    server.faults.push({ status: 500 }, { status: 500 }, { status: 429, headers: { 'retry-after': '3' } })
    await model.sample(one)
    expect(waits).toEqual([100, 200, 3000])
    server.faults.push(...Array.from({ length: 99 }, () => ({ status: 502 })))
    const error = await failure(model.sample(one))
    expect(error.kind).toBe('server')
    expect(error.message).toMatch(/HTTP 502: no \(\d+ attempts\); look at its log$/)
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(3300 + 10_000)
  })

  it('is told to be gone when it is', async () => {
    const { server, model } = await setup({}, { patienceMs: 1000 })
    await server.close()
    const error = await failure(model.sample(one))
    expect(error.kind).toBe('unreachable')
    expect(error.message).toMatch(/check that the server runs/)
  })

  it('is not waited for beyond the time of an exchange', async () => {
    const { server, model } = await setup(
      {},
      { attemptTimeoutMs: 300, patienceMs: 0 },
      { clock: systemClock },
    )
    server.faults.push('silence')
    const error = await failure(model.sample(one))
    expect(error.kind).toBe('timeout')
  })

  it.each([
    ['vLLM', "This model's maximum context length is 64 tokens. However, you requested 70 tokens"],
    ['SGLang', "The input (70 tokens) is longer than the model's context length (64 tokens)."],
    ['gradus serve chat', 'the prompt has 70 tokens and 8 new ones are asked for; the context has 64'],
  ])('says that the context is too short, in the words of %s, and does not ask again', async (_, message) => {
    const { server, model } = await setup()
    server.faults.push({ status: 400, body: { error: { message } } })
    const error = await failure(model.sample(one))
    expect(error.kind).toBe('context')
    expect(error.message).toContain(message)
    expect(error.message).toMatch(/lower the number of new tokens/)
    expect(server.seen).toHaveLength(1)
  })

  it('says what it refuses, once', async () => {
    const { server, model } = await setup()
    server.faults.push({ status: 404, body: { error: { message: 'The model `tiny` does not exist.' } } })
    expect((await failure(model.sample(one))).kind).toBe('model')
    server.faults.push({ status: 400, body: { error: { message: 'top_k must be positive' } } })
    expect((await failure(model.sample(one))).kind).toBe('refused')
    expect(server.seen).toHaveLength(2)
  })

  it('without token ids is refused, with what gives them', async () => {
    const { model } = await setup({ textOnly: true })
    const error = await failure(model.sample(one))
    expect(error.kind).toBe('no-tokens')
    expect(error.message).toMatch(/expected token ids in its answer, got text alone; vLLM 0\.10\.2/)
    expect((await model.continuation('abc', { maxTokens: 2 })).tokens).toBeNull()
  })

  // biome-ignore lint/suspicious/noExplicitAny: answers are JSON of any shape
  type Change = (choice: any) => object
  const shapes: [string, Change, RegExp][] = [
    [
      'log-probs that are null',
      ({ logprobs }) => ({ logprobs: { ...logprobs, token_logprobs: [null, -1, -1, -1, -1] } }),
      /log-prob of token 0: expected a finite number of at most 0, got null, as NaN is written/,
    ],
    [
      'log-probs above 0',
      ({ logprobs }) => ({ logprobs: { ...logprobs, token_logprobs: [-1, 0.5, -1, -1, -1] } }),
      /log-prob of token 1: expected a finite number of at most 0, got 0\.5/,
    ],
    [
      'too few log-probs',
      ({ logprobs }) => ({ logprobs: { ...logprobs, token_logprobs: [-1] } }),
      /expected 5 log-probs, one a token, got 1/,
    ],
    ['a token that is none', () => ({ token_ids: [1, 2.5, 3] }), /token 1: expected a token id, got 2\.5/],
    [
      'another prompt',
      () => ({ prompt_token_ids: [1, 5, 6] }),
      /prompt_token_ids: expected the 2 tokens of the prompt as they were sent, got 3 others/,
    ],
    ['an unknown end', () => ({ finish_reason: 'tool_calls' }), /expected "stop" or "length"/],
  ]
  it.each(shapes)('is not believed: %s', async (_, change, words) => {
    const { server, model } = await setup()
    const fault: Fault = answer => ({
      ...answer,
      // biome-ignore lint/suspicious/noExplicitAny: answers are JSON of any shape
      choices: answer.choices.map((choice: any) => ({ ...choice, ...change(choice) })),
    })
    server.faults.push(fault, fault, fault)
    const error = await failure(model.sample(one))
    expect(error.kind).toBe('malformed')
    expect(error.message).toMatch(words)
    expect(server.seen).toHaveLength(3)
  })

  it('is not believed: samples too few, no choices, a bare NaN', async () => {
    const { server, model } = await setup()
    const faults: [Fault, RegExp][] = [
      [answer => ({ ...answer, choices: answer.choices.slice(1) }), /expected 2 choices, got 1/],
      [() => ({}), /expected choices, got nothing/],
      [() => [], /expected a completion, got a list/],
      [{ text: body => body.replace('-0.5', 'NaN') }, /expected finite numbers, got NaN/],
    ]
    for (const [fault, words] of faults) {
      server.faults.push(fault, fault, fault)
      expect((await failure(model.sample(one))).message).toMatch(words)
    }
  })

  it('is asked for so many groups at a time, and let go when it is closed', async () => {
    const { server, model } = await setup({ delayMs: 20 }, { concurrency: 2 })
    await model.sample({ ...one, prompts: Array.from({ length: 7 }, (_, i) => [i + 1]) })
    expect(server.mostInFlight).toBe(2)
    server.faults.push('silence')
    const waiting = failure(model.sample(one))
    await new Promise(resolve => setTimeout(resolve, 50))
    await model.close()
    expect((await waiting).kind).toBe('closed')
  })

  it('is not asked for what no server knows', async () => {
    const { model } = await setup()
    await expect(model.sample({ ...one, topLogprobs: 3 })).rejects.toThrow(ConfigError)
  })
})
