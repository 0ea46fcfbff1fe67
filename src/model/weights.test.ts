import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointError } from '../util/errors.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { type ModelConfig, parseModelConfig } from './config.ts'
import { type NamedTensors, writeSafetensors } from './safetensors.ts'
import {
  elementCount,
  initValueHead,
  initWeights,
  loadValueHead,
  loadWeights,
  tensorSpecs,
  valueHeadFile,
} from './weights.ts'

/** Without a value head. */
const parameterCount = (config: ModelConfig) =>
  tensorSpecs(config).reduce((sum, { shape }) => sum + elementCount(shape), 0)

const tiny = {
  vocab_size: 40,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
}
const llama = parseModelConfig({ model_type: 'llama', ...tiny })
const tied = parseModelConfig({ model_type: 'llama', ...tiny, tie_word_embeddings: true })
const qwen2 = parseModelConfig({ model_type: 'qwen2', ...tiny })
const qwen3 = parseModelConfig({ model_type: 'qwen3', ...tiny, head_dim: 6 })

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-weights-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const shapesOf = (config: typeof llama) =>
  Object.fromEntries(tensorSpecs(config).map(spec => [spec.name, spec.shape]))

describe('tensorSpecs', () => {
  it('names and shapes of a Llama with grouped heads', () => {
    const shapes = shapesOf(llama)
    expect(shapes['model.layers.1.self_attn.q_proj.weight']).toEqual([8, 8])
    expect(shapes['model.layers.1.self_attn.k_proj.weight']).toEqual([4, 8])
    expect(shapes['model.layers.0.mlp.down_proj.weight']).toEqual([8, 12])
    expect(shapes['lm_head.weight']).toEqual([40, 8])
    expect(Object.keys(shapes)).toHaveLength(1 + 2 * 9 + 2)
  })

  it('Qwen2 has biases on q, k, v; Qwen3 norms of one head', () => {
    expect(shapesOf(qwen2)['model.layers.0.self_attn.k_proj.bias']).toEqual([4])
    expect(shapesOf(qwen2)).not.toHaveProperty('model.layers.0.self_attn.o_proj.bias')
    expect(shapesOf(qwen3)['model.layers.0.self_attn.q_norm.weight']).toEqual([6])
    expect(shapesOf(qwen3)['model.layers.0.self_attn.o_proj.weight']).toEqual([8, 24])
  })

  it('counts the parameters of Qwen2.5-0.5B as its model card does (0.49B)', () => {
    const config = parseModelConfig({
      model_type: 'qwen2',
      vocab_size: 151936,
      hidden_size: 896,
      intermediate_size: 4864,
      num_hidden_layers: 24,
      num_attention_heads: 14,
      num_key_value_heads: 2,
      tie_word_embeddings: true,
    })
    expect(parameterCount(config)).toBe(494032768)
  })
})

describe('initWeights', () => {
  it('is seeded, normal for matrices, one for norms, zero for biases', () => {
    const weights = initWeights(qwen2, 7)
    expect([...weights.keys()]).toEqual(tensorSpecs(qwen2).map(spec => spec.name))
    expect(initWeights(qwen2, 7)).toEqual(weights)
    expect(initWeights(qwen2, 8)).not.toEqual(weights)
    const { data } = weights.get('lm_head.weight')!
    const std = Math.sqrt(data.reduce((sum, value) => sum + value * value, 0) / data.length)
    expect(std).toBeGreaterThan(0.017)
    expect(std).toBeLessThan(0.023)
    expect(new Set(weights.get('model.norm.weight')!.data)).toEqual(new Set([1]))
    expect(new Set(weights.get('model.layers.1.self_attn.v_proj.bias')!.data)).toEqual(new Set([0]))
  })

  it('scales the embedding alone', () => {
    const plain = initWeights(llama, 1)
    const wide = initWeights(llama, 1, { embeddingStd: 0.2 })
    expect(wide.get('lm_head.weight')).toEqual(plain.get('lm_head.weight'))
    const ratio =
      wide.get('model.embed_tokens.weight')!.data[3] / plain.get('model.embed_tokens.weight')!.data[3]
    expect(ratio).toBeCloseTo(10, 4)
  })
})

describe('loadWeights', () => {
  const save = (weights: NamedTensors, name = 'model.safetensors') =>
    writeSafetensors(join(folder, name), weights)

  it('gives back what was saved, into views of one flat buffer', () => {
    const weights = initWeights(qwen3, 1)
    save(weights)
    expect(loadWeights(folder, qwen3)).toEqual(weights)
    const flat = new Float32Array(parameterCount(qwen3))
    let used = 0
    const allocate = (_: string, length: number) => {
      used += length
      return flat.subarray(used - length, used)
    }
    expect(loadWeights(folder, qwen3, { allocate })).toEqual(weights)
    expect(used).toBe(flat.length)
  })

  const saveSharded = (weights: NamedTensors) => {
    const entries = [...weights]
    const halves = [entries.slice(0, 7), entries.slice(7)]
    const names = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
    for (const [i, name] of names.entries()) save(new Map(halves[i]), name)
    const weight_map = Object.fromEntries(halves.flatMap((half, i) => half.map(([name]) => [name, names[i]])))
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map }))
    return names
  }

  it('reads shards by their index', () => {
    const weights = initWeights(llama, 1)
    saveSharded(weights)
    expect(loadWeights(folder, llama)).toEqual(weights)
  })

  it('names a missing shard, and refuses one outside the folder', () => {
    const names = saveSharded(initWeights(llama, 1))
    rmSync(join(folder, names[1]))
    expect(() => loadWeights(folder, llama)).toThrow(/model-00002-of-00002\.safetensors.*ENOENT/)
    const outside = { weight_map: { a: '../model.safetensors' } }
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify(outside))
    expect(() => loadWeights(folder, llama)).toThrow(/within the folder/)
    writeFileSync(join(folder, 'model.safetensors.index.json'), '{}')
    expect(() => loadWeights(folder, llama)).toThrow(/weight_map/)
  })

  it('says that a folder has no weights, and that pickled ones must be converted', () => {
    expect(() => loadWeights(folder, llama)).toThrow(/expected model\.safetensors or .*index/)
    writeFileSync(join(folder, 'pytorch_model.bin'), '')
    expect(() => loadWeights(folder, llama)).toThrow(/convert the weights to safetensors/)
  })

  it('names missing tensors and wrong shapes', () => {
    const weights = initWeights(llama, 1)
    weights.delete('model.norm.weight')
    save(weights)
    expect(() => loadWeights(folder, llama)).toThrow(/missing model\.norm\.weight/)
    save(initWeights({ ...llama, hiddenSize: 16 }, 1))
    expect(() => loadWeights(folder, llama)).toThrow(
      /embed_tokens\.weight: expected shape \[40, 8\], got \[40, 16\]/,
    )
    expect(() => loadWeights(folder, llama)).toThrow(CheckpointError)
  })

  it('refuses a file cut short', () => {
    save(initWeights(llama, 1))
    truncateSync(join(folder, 'model.safetensors'), 2000)
    expect(() => loadWeights(folder, llama)).toThrow(CheckpointError)
    truncateSync(join(folder, 'model.safetensors'), 0)
    expect(() => loadWeights(folder, llama)).toThrow(/HeaderTooSmall/)
  })

  it('reports tensors without a use, but not a stored copy of tied embeddings', () => {
    const weights = initWeights(llama, 1)
    weights.set('vision.weight', { shape: [1], data: new Float32Array(1) })
    save(weights)
    const unexpected: string[] = []
    loadWeights(folder, tied, { onUnexpected: names => unexpected.push(...names) })
    expect(unexpected).toEqual(['vision.weight'])
  })

  it('opens a published model', context => {
    const path = sharedData('models/stories260K')
    if (!path) return context.skip('shared data not here')
    const config = parseModelConfig(JSON.parse(readFileSync(join(path, 'config.json'), 'utf8')))
    const unexpected: string[] = []
    const weights = loadWeights(path, config, { onUnexpected: names => unexpected.push(...names) })
    expect(unexpected).toEqual([])
    expect(weights.size).toBe(tensorSpecs(config).length)
    for (const { data } of weights.values()) expect(data.every(Number.isFinite)).toBe(true)
  })
})

describe('the value head', () => {
  it('lies in a file of its own', () => {
    expect(loadValueHead(folder, llama)).toBeNull()
    const head = initValueHead(llama, 1)
    writeSafetensors(join(folder, valueHeadFile), head)
    expect(loadValueHead(folder, llama)).toEqual(head)
    expect(head.get('value_head.weight')!.shape).toEqual([1, 8])
    expect(() => loadValueHead(folder, { ...llama, hiddenSize: 4 })).toThrow(/value_head\.weight/)
  })
})
