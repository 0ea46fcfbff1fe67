import { describe, expect, it } from 'vitest'
import { lossOf } from '../../rl/loss-presets.ts'
import type { LogprobOptions, SampleRequest } from '../policy.ts'
import { createEngine, type Engine, type EngineOptions } from './engine.ts'
import type { ModelSource } from './model-source.ts'
import { GEMMA, TINY } from './tiny-model.fixture.ts'

const REQUEST: SampleRequest = {
  prompts: [[1, 2, 3, 4, 5], [6], [7, 8, 9]],
  samplesPerPrompt: 4,
  maxTokens: 12,
  seed: 'bits',
  stopTokens: [3],
}
const LORA = { rank: 2, alpha: 8, targetModules: ['q_proj', 'v_proj', 'down_proj'] } as const
const CONFIGS = {
  llama: TINY,
  'a table of its own for words': { ...TINY, tieEmbeddings: false },
  'biases of attention': { ...TINY, family: 'qwen2', attentionBias: true },
  'gemma 3': GEMMA,
} as const

const engineOf = (source: Partial<ModelSource> = {}, options: EngineOptions = {}): Engine =>
  createEngine({ init: { config: TINY, seed: 1 }, ...source }, { threads: 1, sampleBits: 8, ...options })

/** Mean difference between log-probs of what is sampled and those of `score`. */
const gap = async (engine: Engine, weights: LogprobOptions['weights'] = 'current') => {
  const samples = await engine.sample(REQUEST)
  const items = samples.map(({ prompt, tokens }) => ({ promptTokens: REQUEST.prompts[prompt], tokens }))
  const scores = await engine.score(items, { weights })
  const gaps = samples.flatMap(({ logprobs }, i) =>
    [...logprobs].map((x, t) => Math.abs(x - scores[i].logprobs[t])),
  )
  return gaps.reduce((sum, x) => sum + x, 0) / gaps.length
}

/** One step that changes much. */
const learn = async (engine: Engine) => {
  const tokens = [4, 5, 6, 7]
  const ones = tokens.map(() => 1)
  const datum = {
    promptTokens: [1, 2],
    tokens,
    mask: ones,
    oldLogprobs: ones.map(() => -3),
    advantages: ones,
  }
  for (let step = 0; step < 3; step++) {
    await engine.accumulate([datum], { loss: lossOf('trl:grpo') })
    await engine.step({ learningRate: 0.05 })
  }
}

describe('sampling with weights of 8 bits', () => {
  it.each(Object.entries(CONFIGS))('is close to the whole weights: %s', async (_name, config) => {
    const source = { init: { config, seed: 1 } }
    expect(await gap(engineOf(source, { sampleBits: 32 }))).toBeLessThan(1e-5)
    const rounded = await gap(engineOf(source))
    expect(rounded).toBeGreaterThan(1e-4)
    expect(rounded).toBeLessThan(0.05)
  })

  it('has 8 or 32 of them', () => {
    expect(() => engineOf({}, { sampleBits: 16 as 8 })).toThrow('sampleBits: expected 8 or 32, got 16')
  })

  it('draws the same however many rows run together', async () => {
    const tokens = async (maxRows: number) =>
      (await engineOf({}, { maxRows }).sample(REQUEST)).map(sample => [...sample.tokens])
    const reference = await tokens(12)
    expect(new Set(reference.map(String)).size).toBeGreaterThan(6)
    for (const maxRows of [1, 5]) expect(await tokens(maxRows)).toEqual(reference)
  })

  it.each([
    ['an adapter', { lora: LORA }],
    ['all weights', {}],
  ])('follows what is learnt: %s', async (_name, source) => {
    const engine = engineOf(source)
    await engine.freezeReference()
    expect(await gap(engine)).toBeLessThan(0.05)
    await learn(engine)
    expect(await gap(engine)).toBeLessThan(0.05)
    expect(await gap(engine, 'reference')).toBeGreaterThan(0.1)
  })

  it('follows weights that come from elsewhere', async () => {
    const [engine, other] = [engineOf(), engineOf({ init: { config: TINY, seed: 2 } })]
    expect(await gap(engine)).toBeLessThan(0.05)
    await engine.freezeReference()
    await engine.takeWeights(await other.shareWeights())
    expect(await gap(engine)).toBeLessThan(0.05)
    expect(await gap(engine, 'reference')).toBeGreaterThan(0.1)
  })
})
