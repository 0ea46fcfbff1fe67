import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { realModel } from '../../util/shared-data.fixture.ts'
import { createEngine } from './engine.ts'

interface Golden {
  tokens: number[]
  logprobs: number[]
  greedy: number[]
}

/** Made by scripts/peers/gemma3_golden.py. */
const GOLDEN: Golden = JSON.parse(readFileSync(new URL('gemma3.golden.json', import.meta.url), 'utf8'))
const folder = realModel('gemma3-hf')

describe.skipIf(folder === null)('Gemma 3 270M (skipped where GRADUS_MODELS has no gemma3-hf)', () => {
  it("gives the transformers library's log-probs and greedy tokens beyond the window", async () => {
    const { tokens, logprobs, greedy } = GOLDEN
    const engine = createEngine({ folder: folder! }, { threads: 2 })
    const [score] = await engine.score([{ promptTokens: tokens.slice(0, 1), tokens: tokens.slice(1) }])
    const furthest = logprobs.reduce((most, x, i) => Math.max(most, Math.abs(x - score.logprobs[i])), 0)
    // Four digits are written down.
    expect(furthest).toBeLessThan(2e-4)
    const request = { prompts: [tokens], maxTokens: greedy.length, temperature: 0 }
    for (const samplesPerPrompt of [1, 2]) {
      const [sample] = await engine.sample({ ...request, samplesPerPrompt })
      expect([...sample.tokens]).toEqual(greedy)
    }
  }, 120_000)
})
