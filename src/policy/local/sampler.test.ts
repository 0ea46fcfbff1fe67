import { describe, expect, it } from 'vitest'
import { AutomatonBuilder, follow } from '../../model/automaton.ts'
import { TEST_PROVIDER } from '../../tensor/provider.fixture.ts'
import { GradusError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { Sample, SampleRequest } from '../policy.ts'
import type { ModelSource } from './model-source.ts'
import { GEMMA, TINY, tinyEngine } from './tiny-model.fixture.ts'

/** Prompts of different lengths, one of a single token. */
const PROMPTS = [[1, 2, 3, 4, 5], [6], [7, 8, 9], [1, 2], [10, 11, 12, 13, 14, 15, 16]]
const REQUEST: SampleRequest = {
  prompts: PROMPTS,
  samplesPerPrompt: 3,
  maxTokens: 12,
  seed: 'a',
  stopTokens: [3],
}

const everyToken = ({ vocabSize }: { vocabSize: number }) => Array.from({ length: vocabSize }, (_, i) => i)

const plain = (samples: Sample[]) =>
  samples.map(({ tokens, ...rest }) => ({ ...rest, logprobs: 0, tokens: [...tokens] }))

/** Largest difference between the sampler's log-probs and those of `score`. */
const scoreDifference = async (engine: ReturnType<typeof tinyEngine>, request: SampleRequest) => {
  const samples = await engine.sample(request)
  const items = samples.map(({ prompt, tokens }) => ({ promptTokens: request.prompts[prompt], tokens }))
  const scores = await engine.score(items, { temperature: request.temperature })
  return Math.max(
    ...samples.flatMap(({ logprobs }, i) => [...logprobs].map((x, t) => Math.abs(x - scores[i].logprobs[t]))),
  )
}

describe('sampling', () => {
  it('gives the same samples however many rows run together', async () => {
    const reference = await tinyEngine().sample(REQUEST)
    expect(new Set(reference.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(8)
    for (const maxRows of [1, 2, 5, 7, 15]) {
      const samples = await tinyEngine({}, { maxRows }).sample(REQUEST)
      expect(plain(samples)).toEqual(plain(reference))
      samples.forEach(({ logprobs }, i) => {
        for (const [t, logprob] of logprobs.entries())
          expect(logprob).toBeCloseTo(reference[i].logprobs[t], 5)
      })
    }
  })

  it.skipIf(TEST_PROVIDER !== 'cpu')('runs no more rows together than memory has room for', async () => {
    // 36 rows of 232 places, 8 layers and 8 heads of 250 numbers, fill the room: 40 samples are two waves, which read the prompt twice.
    const config = { ...TINY, layers: 8, heads: 8, kvHeads: 8, headDim: 250, maxPositions: 512 }
    const request = { prompts: [PROMPTS[0]], samplesPerPrompt: 40, seed: 'a', stopTokens: everyToken(config) }
    const promptTokens = async (maxTokens: number) => {
      const engine = tinyEngine({ init: { config, seed: 1 } })
      await engine.sample({ ...request, maxTokens })
      return (await engine.samplingWork()).promptTokens
    }
    expect(await promptTokens(200)).toBe(2 * PROMPTS[0].length)
    expect(await promptTokens(100)).toBe(PROMPTS[0].length)
  })

  it('gives the same samples however many prompts are read together', async () => {
    for (const samplesPerPrompt of [1, 3]) {
      const request = { ...REQUEST, samplesPerPrompt }
      const reference = await tinyEngine().sample(request)
      for (const mostScores of [1, 300, 500]) {
        const engine = tinyEngine({}, { mostScores })
        expect(plain(await engine.sample(request))).toEqual(plain(reference))
        expect(await scoreDifference(engine, request)).toBeLessThan(1e-4)
      }
    }
  })

  it('gives each sample its own stream: the same prompt alone or with others', async () => {
    const engine = tinyEngine()
    const together = await engine.sample(REQUEST)
    const alone = await engine.sample({ ...REQUEST, prompts: PROMPTS.slice(0, 1), samplesPerPrompt: 2 })
    expect(plain(alone)).toEqual(plain(together.slice(0, 2)))
    const other = await engine.sample({ ...REQUEST, seed: 'b' })
    expect(plain(other)).not.toEqual(plain(together))
  })

  const MODELS: Record<string, ModelSource> = {
    llama: { init: { config: TINY, seed: 1 } },
    'qwen2, with biases': {
      init: { config: { ...TINY, family: 'qwen2', attentionBias: true, tieEmbeddings: false }, seed: 1 },
    },
    'qwen3, with norms of heads': { init: { config: { ...TINY, family: 'qwen3', qkNorm: true }, seed: 1 } },
    'gemma 3, beyond its window': { init: { config: GEMMA, seed: 1 } },
    'an adapter': {
      init: { config: TINY, seed: 1 },
      lora: { rank: 2, alpha: 4, targetModules: ['q_proj', 'v_proj', 'up_proj'] },
    },
    'fewer positions than heads': { init: { config: { ...TINY, maxPositions: 7 }, seed: 1 } },
  }

  it.each(Object.entries(MODELS))(
    'gives the log-probs that scoring gives, of prompts that are shared and not: %s',
    async (_, source) => {
      const engine = tinyEngine(source)
      // Adapters and biases begin as zeros.
      const rng = new Rng('families')
      for (const { param } of engine.parameters.trained)
        for (let i = 0; i < param.length; i++) param.view[i] += 0.2 * (rng.next() - 0.5)
      engine.parameters.changed()
      const request = { prompts: [[1, 2, 3], [6], [7, 8]], maxTokens: 4, seed: 'families' }
      for (const samplesPerPrompt of [1, 3])
        expect(await scoreDifference(engine, { ...request, samplesPerPrompt })).toBeLessThan(1e-4)
    },
  )

  it('orders samples by prompt and index and hands each out as it finishes', async () => {
    const order: string[] = []
    const samples = await tinyEngine().sample(REQUEST, ({ prompt, index, tokens }) =>
      order.push(`${tokens.length}:${prompt}.${index}`),
    )
    expect(samples.map(({ prompt, index }) => `${prompt}.${index}`)).toEqual(
      PROMPTS.flatMap((_, p) => [0, 1, 2].map(g => `${p}.${g}`)),
    )
    const lengths = order.map(text => Number(text.split(':')[0]))
    expect(order.length).toBe(samples.length)
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b))
    expect(lengths[0]).toBeLessThan(lengths[lengths.length - 1])
  })

  it('ends with a stop token, kept, or with the length', async () => {
    for (const { tokens, logprobs, finishReason } of await tinyEngine().sample(REQUEST)) {
      expect(logprobs.length).toBe(tokens.length)
      expect(tokens.indexOf(3)).toBe(finishReason === 'stop' ? tokens.length - 1 : -1)
      if (finishReason === 'length') expect(tokens.length).toBe(12)
    }
  })

  it('stops at the end-of-text tokens of the model unless told otherwise', async () => {
    const engine = tinyEngine({ init: { config: { ...TINY, eosTokenIds: [4, 5] }, seed: 1 } })
    const request = { ...REQUEST, stopTokens: undefined }
    const stopped = (await engine.sample(request)).filter(({ finishReason }) => finishReason === 'stop')
    expect(stopped.length).toBeGreaterThan(0)
    for (const { tokens } of stopped) expect([4, 5]).toContain(tokens[tokens.length - 1])
    for (const { finishReason } of await engine.sample({ ...request, stopTokens: [] }))
      expect(finishReason).toBe('length')
  })

  it('follows the likeliest tokens at temperature 0 whatever the seed', async () => {
    const engine = tinyEngine()
    const greedy = { ...REQUEST, temperature: 0, stopTokens: [] }
    const [a, b] = [await engine.sample(greedy), await engine.sample({ ...greedy, seed: 9 })]
    expect(plain(a)).toEqual(plain(b))
    const narrow = await engine.sample({ ...greedy, temperature: 1, topK: 1 })
    expect(narrow.map(({ tokens }) => [...tokens])).toEqual(a.map(({ tokens }) => [...tokens]))
  })

  it('grows the cache past its first bucket and fills the context to its last place', async () => {
    const engine = tinyEngine()
    const request = { prompts: [[1], [2, 3]], samplesPerPrompt: 2, maxTokens: 62, stopTokens: [] }
    const samples = await engine.sample(request)
    expect(samples.every(({ tokens }) => tokens.length === 62)).toBe(true)
    expect(await scoreDifference(engine, request)).toBeLessThan(1e-4)
  })

  it.each([
    ['ragged prompts in groups', {}],
    ['another temperature', { temperature: 0.7 }],
    ['truncated distributions', { topK: 4, topP: 0.9 }],
    ['greedy', { temperature: 0 }],
    ['many rows leaving the batch', { stopTokens: [1, 3, 5, 7, 9], maxTokens: 40, samplesPerPrompt: 8 }],
  ])('reports the log-probs that scoring gives: %s', async (_, options) => {
    const request = { ...REQUEST, ...options }
    const scored = { ...request, temperature: request.temperature || 1 }
    const engine = tinyEngine()
    const samples = await engine.sample(request)
    const items = samples.map(({ prompt, tokens }) => ({ promptTokens: PROMPTS[prompt], tokens }))
    const scores = await engine.score(items, { temperature: scored.temperature })
    samples.forEach(({ logprobs }, i) => {
      for (const [t, logprob] of logprobs.entries())
        expect(Math.abs(logprob - scores[i].logprobs[t])).toBeLessThan(1e-4)
    })
  })

  it('agrees with scoring after an update too', async () => {
    const engine = tinyEngine()
    await engine.sample(REQUEST)
    for (const tensor of engine.parameters.trained)
      for (let i = 0; i < tensor.param.length; i++) tensor.param.view[i] *= 1.1
    engine.parameters.changed()
    expect(await scoreDifference(engine, REQUEST)).toBeLessThan(1e-4)
  })

  it.each([
    ['an empty prompt', { prompts: [[1], []] }, /prompt 1 is empty/],
    [
      'a prompt beyond the context',
      { maxTokens: 60 },
      /prompt 0: 5 tokens and 60 new ones exceed the context of 64/,
    ],
    ['a token outside the vocabulary', { prompts: [[99]] }, /token 99 is outside the vocabulary of 17/],
    ['no tokens asked for', { maxTokens: 0 }, /maxTokens: expected a positive whole number, got 0/],
    ['no samples asked for', { samplesPerPrompt: 0 }, /samplesPerPrompt/],
    ['stop strings without a tokenizer', { stopStrings: ['x'] }, /stop strings need a tokenizer/],
  ])('refuses %s', async (_, options, message) => {
    const sampling = tinyEngine().sample({ ...REQUEST, ...options })
    await expect(sampling).rejects.toThrow(GradusError)
    await expect(sampling).rejects.toThrow(message)
  })

  it('takes no prompts for no samples', async () => {
    expect(await tinyEngine().sample({ ...REQUEST, prompts: [] })).toEqual([])
  })
})

/** A word-level tokenizer with one word a token: w0 .. w16. */
const TOKENIZER = JSON.stringify({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'WhitespaceSplit' },
  post_processor: null,
  decoder: null,
  model: {
    type: 'WordLevel',
    vocab: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`w${i}`, i])),
    unk_token: 'w0',
  },
})

describe('stop strings', () => {
  it('end a sample when its text contains one, across tokens', async () => {
    const engine = tinyEngine({ init: { config: TINY, seed: 1, files: { 'tokenizer.json': TOKENIZER } } })
    const request = { ...REQUEST, stopTokens: [], maxTokens: 30, samplesPerPrompt: 6 }
    const free = await engine.sample(request)
    const text = free[0].tokens.subarray(2, 4)
    const stopString = `w${text[0]} w${text[1]}`
    const stopped = await engine.sample({ ...request, stopStrings: [stopString, 'w99'] })
    stopped.forEach(({ tokens, finishReason }, i) => {
      const whole = Array.from(free[i].tokens)
      const end = whole.findIndex((token, t) => t > 0 && whole[t - 1] === text[0] && token === text[1])
      expect([...tokens]).toEqual(end < 0 ? whole : whole.slice(0, end + 1))
      expect(finishReason).toBe(end < 0 ? 'length' : 'stop')
    })
    expect(stopped[0].tokens.length).toBeLessThanOrEqual(4)
  })
})

describe('what a server asks of sampling', () => {
  it('draws the same for a prompt with its own seed, whatever its neighbours', async () => {
    const engine = tinyEngine()
    const promptSeeds = PROMPTS.map((_, p) => `own-${p}`)
    const together = await engine.sample({ ...REQUEST, promptSeeds })
    const alone = await engine.sample({ ...REQUEST, prompts: [PROMPTS[2]], promptSeeds: ['own-2'] })
    expect(alone.map(({ tokens }) => [...tokens])).toEqual(
      together.filter(({ prompt }) => prompt === 2).map(({ tokens }) => [...tokens]),
    )
    await expect(engine.sample({ ...REQUEST, promptSeeds: ['one'] })).rejects.toThrow(
      'expected 5, one a prompt',
    )
  })

  it('hands out every token as it is drawn, with its likeliest alternatives', async () => {
    const streamed = new Map<string, number[]>()
    const samples = await tinyEngine().sample({ ...REQUEST, topLogprobs: 3 }, undefined, token => {
      const key = `${token.prompt}.${token.index}`
      streamed.set(key, [...(streamed.get(key) ?? []), token.token])
      expect(token.top).toHaveLength(3)
    })
    for (const { prompt, index, tokens, logprobs, top } of samples) {
      expect(streamed.get(`${prompt}.${index}`)).toEqual([...tokens])
      top!.forEach((alternatives, t) => {
        const values = alternatives.map(({ logprob }) => logprob)
        expect(values).toEqual([...values].sort((a, b) => b - a))
        const chosen = alternatives.find(({ token }) => token === tokens[t])
        if (chosen) expect(chosen.logprob).toBeCloseTo(logprobs[t], 5)
        else expect(logprobs[t]).toBeLessThanOrEqual(values[2])
      })
    }
  })
})

describe('sampling held to an automaton', () => {
  /** 5 or 6, then two to four of 7, 8, 9, then 10. */
  const automaton = () => {
    const builder = new AutomatonBuilder()
    let state = builder.after(0, 5)
    builder.edge(0, 6, state)
    const last = builder.state()
    for (let i = 1; i <= 4; i++) {
      const next = builder.state()
      for (const token of [7, 8, 9]) builder.edge(state, token, next)
      if (i >= 2) builder.edge(next, 10, last)
      state = next
    }
    return builder.build()
  }
  const request: SampleRequest = { ...REQUEST, samplesPerPrompt: 40, automaton: automaton(), stopTokens: [] }

  it('draws what passes, ends where nothing more may come, and gives log-probs of the whole distribution', async () => {
    const engine = tinyEngine()
    for (const temperature of [0, 0.7, 1]) {
      const samples = await engine.sample({ ...request, temperature, topP: temperature === 0.7 ? 0.9 : 1 })
      for (const { tokens, finishReason } of samples) {
        expect(follow(automaton(), tokens)).not.toBeNull()
        expect(tokens.at(-1)).toBe(10)
        expect(finishReason).toBe('stop')
      }
      if (temperature === 1)
        expect(new Set(samples.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(20)
    }
    expect(await scoreDifference(engine, request)).toBeLessThan(1e-4)
  })

  it('keeps the proportions of what is allowed', async () => {
    const engine = tinyEngine()
    const builder = new AutomatonBuilder()
    const end = builder.after(0, 5)
    for (const token of [6, 7]) builder.edge(0, token, end)
    const [prompt] = PROMPTS
    const samples = await engine.sample({
      prompts: [prompt],
      samplesPerPrompt: 3000,
      maxTokens: 1,
      automaton: builder.build(),
      seed: 'proportions',
    })
    const items = [5, 6, 7].map(token => ({ promptTokens: prompt, tokens: [token] }))
    const weights = (await engine.score(items)).map(({ logprobs }) => Math.exp(logprobs[0]))
    const mass = weights.reduce((a, b) => a + b)
    for (const [i, token] of [5, 6, 7].entries()) {
      const share = samples.filter(({ tokens }) => tokens[0] === token).length / 3000
      expect(share).toBeGreaterThan(weights[i] / mass - 0.04)
      expect(share).toBeLessThan(weights[i] / mass + 0.04)
    }
  })

  it('lets a sample run out of tokens on the way, and refuses an automaton that cannot begin', async () => {
    const engine = tinyEngine()
    const [{ finishReason, tokens }] = await engine.sample({ ...request, maxTokens: 2 })
    expect([finishReason, tokens.length]).toEqual(['length', 2])
    await expect(engine.sample({ ...request, automaton: { states: [new Map()] } })).rejects.toThrow(
      /expected tokens that a sample may begin with/,
    )
    await expect(engine.sample({ ...request, automaton: { states: [new Map([[99, 0]])] } })).rejects.toThrow(
      /outside the vocabulary/,
    )
  })
})
