import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** More words than are scored at a time: 8,192. */
const LARGE_VOCABULARY: ModelConfig = { ...MODEL, vocabSize: 9001, hiddenSize: 64 }

/**
 * A few steps of rollouts with random advantages and updates; everything that came of them, in bits.
 * @param resumed a folder through which the second step goes on in an engine of other weights
 */
const train = async (spinning: boolean, config = MODEL, resumed?: string): Promise<string> => {
  const start = (seed: number) => createEngine({ init: { config, seed } }, { threads: 2, spinning })
  let engine = start(1)
  const rows: unknown[] = []
  for (let step = 0; step < STEPS; step++) {
    if (step > 0 && resumed !== undefined) {
      await engine.save(resumed)
      engine = start(2)
      await engine.load(resumed)
    }
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
    expect(stats.gradNorm).toBeGreaterThan(0)
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

  it('does so with more words than are scored at a time, also when the second step goes on from a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gradus-words-'))
    try {
      const first = await train(false, LARGE_VOCABULARY)
      const others = await besideBusyLoops(1, async () => [
        await train(true, LARGE_VOCABULARY),
        await train(false, LARGE_VOCABULARY, folder),
      ])
      expect(others.map(other => other === first)).toEqual([true, true])
    } finally {
      rmSync(folder, { recursive: true })
    }
  }, 600_000)
})
