import { describe, expect, it } from 'vitest'
import type { ModelConfig } from '../../model/config.ts'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { besideBusyLoops } from '../../util/busy-loop.fixture.ts'
import { updateOnce } from '../update.ts'
import { createEngine } from './engine.ts'
import { rolloutDatums } from './rollout-datums.ts'
import { TINY } from './tiny-model.fixture.ts'

/** `GRADUS_DETERMINISM_RUNS=20 npx vitest run src/policy/local/determinism.test.ts` is the thorough check. */
const RUNS = Number(process.env.GRADUS_DETERMINISM_RUNS ?? 3)
const STEPS = 2

/** Tiny but for its width: the runtime adds rows on several threads from about 250,000 elements on, a thousand rows here. */
const MODEL: ModelConfig = {
  ...TINY,
  vocabSize: 8,
  hiddenSize: 256,
  intermediateSize: 64,
  layers: 1,
  headDim: 16,
  initializerRange: 0.1,
}
const PROMPTS = Array.from({ length: 8 }, (_, i) => [i, 7 - i, 3, i])

/** A few steps of rollouts with random advantages and updates; everything that came of them, in bits. */
const train = async (spinning: boolean): Promise<string> => {
  const engine = createEngine({ init: { config: MODEL, seed: 1 } }, { threads: 2, spinning })
  const rows: unknown[] = []
  for (let step = 0; step < STEPS; step++) {
    const samples = await engine.sample({
      prompts: PROMPTS,
      samplesPerPrompt: 8,
      maxTokens: 24,
      seed: `${step}`,
    })
    const datums = rolloutDatums(PROMPTS, samples, `advantages/${step}`)
    const stats = await updateOnce(engine, datums, {
      loss: LOSS_PRESETS['trl:grpo'],
      optimizer: { learningRate: 1e-3 },
    })
    rows.push({ stats, samples: samples.map(({ tokens, logprobs }) => [[...tokens], [...logprobs]]) })
  }
  const weights = engine.parameters.trained.map(({ param, m, v }) =>
    [param, m, v].map(({ view }) => Buffer.from(view.slice().buffer).toString('base64')),
  )
  return JSON.stringify({ rows, weights })
}

describe('training on two threads beside a busy loop', () => {
  it('gives the same rows and weights every time, bit by bit', async () => {
    const first = await train(false)
    const others = await besideBusyLoops(1, async () => {
      const results: boolean[] = []
      for (let run = 1; run < RUNS; run++) results.push((await train(run % 2 === 0)) === first)
      return results
    })
    expect(others).toEqual(others.map(() => true))
  }, 600_000)
})
