import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Executable, matmul } from '../tensor/index.ts'
import { parseModelConfig } from './config.ts'
import { groupedHidden, groupedInputs, outputTable, weightInputs } from './transformer.ts'
import { elementCount, tensorSpecs } from './weights.ts'

interface Golden {
  config: { sliding_window: number }
  tokens: number[]
  logits: number[][]
}

/** Made by scripts/peers/gemma3_golden.py. */
const GOLDEN: Golden = JSON.parse(readFileSync(new URL('gemma3.golden.json', import.meta.url), 'utf8'))

/** The weights of that script: one generator for all tensors in the order of their names. */
const weightFeeds = (specs: readonly { name: string; shape: number[] }[]) => {
  let state = 1
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  const byName = [...specs].sort((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(
    byName.map(({ name, shape }) => [
      `w.${name}`,
      { data: Float32Array.from({ length: elementCount(shape) }, next), dims: shape },
    ]),
  )
}

const logitsOf = async (json: unknown, tokens: readonly number[]): Promise<number[]> => {
  const config = parseModelConfig(json)
  const specs = tensorSpecs(config)
  const weights = weightInputs(specs)
  const hidden = groupedHidden(config, weights, groupedInputs({ withPrefix: false, unpadded: false }))
  const table = outputTable(config, weights)
  const graph = await Executable.compile({ logits: matmul(hidden, table, { transposeB: true }) })
  const int64 = (values: readonly number[]) => ({
    data: BigInt64Array.from(values, BigInt),
    dims: [tokens.length],
  })
  const { logits } = await graph.run({
    ...weightFeeds(specs),
    tokens: int64(tokens),
    positions: int64(tokens.map((_, i) => i)),
    segments: { data: new Int32Array(tokens.length), dims: [1, 1, tokens.length] },
  })
  return Array.from(logits.data as Float32Array)
}

const furthest = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0)

describe('Gemma 3 against the transformers library', () => {
  const { config, tokens, logits } = GOLDEN

  it('gives its logits beyond the sliding window', async () => {
    expect(tokens.length).toBeGreaterThan(2 * config.sliding_window)
    // Five digits are written down.
    expect(furthest(await logitsOf(config, tokens), logits.flat())).toBeLessThan(2e-5)
  })

  it.each([
    ['a longer window', { sliding_window: 6 }],
    ['no window in a layer', { layer_types: ['full_attention', ...Array(3).fill('sliding_attention')] }],
    ['another base of sliding layers', { rope_local_base_freq: 11 }],
    ['another base of the others', { rope_theta: 900 }],
    ['no stretching', { rope_scaling: null }],
    ['another scale of scores', { query_pre_attn_scalar: 11 }],
  ])('gives others with %s', async (_, change) => {
    expect(furthest(await logitsOf({ ...config, ...change }, tokens), logits.flat())).toBeGreaterThan(1e-3)
  })
})
