import { describe, expect, it } from 'vitest'
import type { Datum } from '../../rl/datum.ts'
import { type LOSS_PRESETS, lossOf } from '../../rl/loss-presets.ts'
import { Rng } from '../../util/rng.ts'
import type { EngineOptions } from './engine.ts'
import { createEngine } from './engine.ts'
import type { ModelSource } from './model-source.ts'
import { GEMMA, TINY } from './tiny-model.fixture.ts'

const rng = new Rng('recompute')
const DATUMS: Datum[] = [[1, 2, 3], [1, 2, 3], [4], [4, 5, 6, 7, 8]].map((promptTokens, i) => {
  const tokens = Array.from({ length: 3 + 2 * i }, () => rng.int(TINY.vocabSize))
  const perToken = () => Float32Array.from(tokens, () => rng.normal())
  return {
    ...{ promptTokens, tokens, mask: Float32Array.from(tokens, () => 1) },
    oldLogprobs: perToken().map(x => -Math.abs(x)),
    ...{ advantages: perToken(), returns: perToken(), oldValues: perToken() },
  }
})

const LORA = { rank: 2, alpha: 4, targetModules: ['q_proj', 'v_proj', 'down_proj'] } as const
const CASES: Record<string, { source: ModelSource; loss?: keyof typeof LOSS_PRESETS }> = {
  'all weights': { source: { init: { config: TINY, seed: 1 } } },
  'a value head': { source: { init: { config: TINY, seed: 1 }, valueHead: true }, loss: 'verl:ppo' },
  'an adapter': { source: { init: { config: TINY, seed: 1 }, lora: LORA } },
  'gemma 3': { source: { init: { config: GEMMA, seed: 1 } } },
  qwen3: { source: { init: { config: { ...TINY, family: 'qwen3', qkNorm: true }, seed: 1 } } },
}

/** Weights after two steps, and what the first batch told. */
const trained = async (source: ModelSource, loss: keyof typeof LOSS_PRESETS, options: EngineOptions) => {
  const engine = createEngine(source, { threads: 1, ...options })
  const found = []
  for (let step = 0; step < 2; step++) {
    found.push(await engine.accumulate(DATUMS, { loss: lossOf(loss) }))
    found.push(await engine.step({ learningRate: 1e-2 }))
  }
  const scores = await engine.score(DATUMS)
  return { found, logprobs: scores.flatMap(({ logprobs }) => [...logprobs]) }
}

describe('layers that are computed a second time', () => {
  it.each(Object.entries(CASES))('train the same: %s', async (_name, { source, loss = 'trl:grpo' }) => {
    const kept = await trained(source, loss, {})
    const again = await trained(source, loss, { recompute: true })
    const norms = ({ found }: typeof kept) => found.map(each => ('gradNorm' in each ? each.gradNorm : 0))
    norms(again).forEach((norm, i) => {
      expect(norm).toBeCloseTo(norms(kept)[i], 4)
    })
    expect(norms(kept)[1]).toBeGreaterThan(0)
    again.logprobs.forEach((logprob, i) => {
      expect(logprob).toBeCloseTo(kept.logprobs[i], 4)
    })
  })
})
