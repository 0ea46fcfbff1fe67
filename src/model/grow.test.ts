import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadCheckpoint, loadConfig, saveCheckpoint } from './checkpoint.ts'
import type { ModelConfig } from './config.ts'
import { growCheckpoint, growModel } from './grow.ts'
import { initWeights } from './weights.ts'
import { wordTokenizerFiles } from './word-tokenizer.ts'

const OLD = ['<pad>', '<bos>', '<eos>', '<unk>', ' a', ' b', ' c', ' d', ' e', ' f']
const NEW = [...OLD, ' g', ' h', ' i', ' j', ' k', ' l', ' m', ' n']

const config: ModelConfig = {
  family: 'llama',
  vocabSize: 16,
  hiddenSize: 32,
  intermediateSize: 32,
  layers: 1,
  heads: 2,
  kvHeads: 2,
  headDim: 16,
  maxPositions: 32,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  tieEmbeddings: false,
  attentionBias: false,
  qkNorm: false,
  bosTokenId: 1,
  eosTokenIds: [2],
  initializerRange: 0.08,
}

const filesOf = (tokens: readonly string[], maxLength = 32) =>
  wordTokenizerFiles(
    {
      tokens,
      special: OLD.slice(0, 4),
      pattern: ' [a-z]',
      keepOnly: true,
      normalizers: [],
      leads: true,
      fused: true,
    },
    maxLength,
  )

let folder: string
let old: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-grow-'))
  old = join(folder, 'old')
  saveCheckpoint(old, {
    config,
    weights: initWeights(config, 1),
    files: new Map(Object.entries(filesOf(OLD))),
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('growCheckpoint', () => {
  it('appends rows and keeps every other weight and id as it was', () => {
    const to = join(folder, 'new')
    growCheckpoint(old, to, { tokens: NEW, files: filesOf(NEW, 48), maxPositions: 48 }, 'seed')
    const before = loadCheckpoint(old)
    const after = loadCheckpoint(to)
    expect(after.config).toEqual({ ...before.config, vocabSize: 24, maxPositions: 48 })
    expect(after.tokenizer!.encode(' a f g n')).toEqual([4, 9, 10, 17])
    for (const [name, { data }] of before.weights) {
      const grown = after.weights.get(name)!
      const isTable = name === 'model.embed_tokens.weight' || name === 'lm_head.weight'
      expect(grown.data.length, name).toBe(isTable ? 24 * 32 : data.length)
      const kept = isTable ? OLD.length * 32 : data.length
      expect(grown.data.subarray(0, kept)).toEqual(data.subarray(0, kept))
    }
  })

  it('draws fresh rows like the old ones, those of a head close to their mean', () => {
    const wide = { ...config, vocabSize: 400 }
    const weights = initWeights(wide, 3)
    const grown = growModel({ config: wide, weights }, 400, 800, 7)
    expect(growModel({ config: wide, weights }, 400, 800, 7)).toEqual(grown)
    const spread = (name: string, from: number, to: number) => {
      const data = grown.weights.get(name)!.data.subarray(from * 32, to * 32)
      const mean = data.reduce((a, b) => a + b, 0) / data.length
      return Math.sqrt(data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / data.length)
    }
    const ratio = (name: string) => spread(name, 400, 800) / spread(name, 0, 400)
    expect(ratio('model.embed_tokens.weight')).toBeCloseTo(1, 1)
    expect(ratio('lm_head.weight')).toBeGreaterThan(0.05)
    expect(ratio('lm_head.weight')).toBeLessThan(0.2)
  })

  it('grows the one table of tied embeddings', () => {
    const tied = { ...config, tieEmbeddings: true }
    const { weights } = growModel({ config: tied, weights: initWeights(tied, 1) }, 10, 18, 0)
    expect(weights.has('lm_head.weight')).toBe(false)
    expect(weights.get('model.embed_tokens.weight')!.shape).toEqual([24, 32])
  })

  it('refuses what would move a token, shrink, or has no tokenizer', () => {
    const to = join(folder, 'refused')
    const grow = (from: string, tokens: readonly string[], maxPositions?: number) => () =>
      growCheckpoint(from, to, { tokens, files: filesOf(tokens), maxPositions })
    expect(grow(old, ['<pad>', '<bos>', '<eos>', '<unk>', ' b', ' a', ...OLD.slice(6)])).toThrow(
      /token 4 to stay " a", got " b"/,
    )
    expect(grow(old, OLD.slice(0, 8))).toThrow(/token 8 to stay " e", got none/)
    expect(grow(old, NEW, 16)).toThrow(/at least 32 places as before, got 16/)
    const bare = join(folder, 'bare')
    saveCheckpoint(bare, { config, weights: initWeights(config, 1) })
    expect(grow(bare, NEW)).toThrow(/expected a tokenizer beside the model/)
    expect(() => growModel({ config, weights: initWeights(config, 1) }, 20, 24, 0)).toThrow(
      /at most 16 known/,
    )
    expect(() => loadConfig(to)).toThrow(/no such checkpoint/)
  })
})
