import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointError, ConfigError } from '../util/errors.ts'
import { parseModelConfig } from './config.ts'
import {
  initLora,
  isAdapterFolder,
  loadAdapter,
  loraModules,
  loraSpecs,
  mergeInto,
  saveAdapter,
} from './lora-files.ts'
import { initWeights } from './weights.ts'

/** All attention and MLP projections, r = 32, alpha = 64 (Rubric as Reward section 2.4). */
const paperLora = { rank: 32, alpha: 64, targetModules: loraModules }

const config = parseModelConfig({
  model_type: 'qwen2',
  vocab_size: 10,
  hidden_size: 4,
  intermediate_size: 6,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
})
const lora = { rank: 2, alpha: 4, targetModules: ['q_proj', 'v_proj'] as const }

let dir: string
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'gradus-lora-')), 'adapter')
})
afterEach(() => rmSync(join(dir, '..'), { recursive: true }))

describe('loraSpecs', () => {
  it('uses the names and shapes of PEFT', () => {
    const specs = loraSpecs(config, lora)
    expect(specs).toHaveLength(2 * 2 * 2)
    expect(specs[2]).toEqual({
      name: 'base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight',
      shape: [2, 4],
      part: 'A',
      target: 'model.layers.0.self_attn.v_proj.weight',
    })
    expect(specs[3].name).toBe('base_model.model.model.layers.0.self_attn.v_proj.lora_B.weight')
    expect(specs[3].shape).toEqual([2, 2])
    expect(loraSpecs(config, paperLora)).toHaveLength(2 * 7 * 2)
  })

  it('counts what the paper trains on Qwen2.5-3B: r = 32 on all seven projections', () => {
    const paper = parseModelConfig({
      model_type: 'qwen2',
      vocab_size: 151936,
      hidden_size: 2048,
      intermediate_size: 11008,
      num_hidden_layers: 36,
      num_attention_heads: 16,
      num_key_value_heads: 2,
    })
    // Per layer, sum of (in + out): q, o 4096 each; k, v 2304 each; gate, up, down 13056 each.
    const perLayer = 32 * (2 * 4096 + 2 * 2304 + 3 * 13056)
    const total = loraSpecs(paper, paperLora).reduce((sum, { shape }) => sum + shape[0] * shape[1], 0)
    expect(total).toBe(36 * perLayer)
  })

  it.each([
    [{ ...lora, rank: 0 }, /lora\.rank/],
    [{ ...lora, rank: 1.5 }, /lora\.rank/],
    [{ ...lora, alpha: 0 }, /lora\.alpha/],
    [{ ...lora, targetModules: [] }, /at least one module/],
    [{ ...lora, targetModules: ['lm_head' as 'q_proj'] }, /unknown module lm_head/],
  ])('refuses %j', (bad, message) => {
    expect(() => loraSpecs(config, bad)).toThrow(ConfigError)
    expect(() => loraSpecs(config, bad)).toThrow(message)
  })
})

describe('initLora', () => {
  it('is seeded, zero in B and bounded by 1/sqrt(in) in A', () => {
    const tensors = initLora(config, lora, 3)
    expect(initLora(config, lora, 3)).toEqual(tensors)
    for (const { name, part } of loraSpecs(config, lora)) {
      const { data } = tensors.get(name)!
      if (part === 'B') expect(data.every(value => value === 0)).toBe(true)
      else expect(data.every(value => value !== 0 && Math.abs(value) <= 0.5)).toBe(true)
    }
  })
})

describe('adapter folders', () => {
  const adapter = () => ({ lora, tensors: initLora(config, lora, 1), baseModel: 'Qwen/Qwen2.5-3B-Instruct' })

  it('give back what was saved', () => {
    const saved = adapter()
    expect(isAdapterFolder(dir)).toBe(false)
    saveAdapter(dir, saved, { writeMore: folder => writeFileSync(join(folder, 'more.json'), '{}') })
    expect(isAdapterFolder(dir)).toBe(true)
    expect(loadAdapter(dir, config)).toEqual(saved)
    expect(readFileSync(join(dir, 'more.json'), 'utf8')).toBe('{}')
    const written = JSON.parse(readFileSync(join(dir, 'adapter_config.json'), 'utf8'))
    expect(written).toMatchObject({ peft_type: 'LORA', task_type: 'CAUSAL_LM', r: 2, lora_alpha: 4 })
  })

  it.each([
    [{ peft_type: 'IA3' }, /peft_type/],
    [{ use_dora: true }, /use_dora/],
    [{ use_rslora: true }, /use_rslora/],
    [{ bias: 'all' }, /bias/],
    [{ modules_to_save: ['lm_head'] }, /modules_to_save: training whole modules/],
    [{ rank_pattern: { q_proj: 4 } }, /rank_pattern/],
    [{ lora_bias: true }, /lora_bias/],
    [{ layer_replication: [[0, 1]] }, /layer_replication: using layers more than once/],
    [{ init_lora_weights: 'pissa_niter_16' }, /init_lora_weights: another base/],
    [{ target_modules: ['lm_head'] }, /target_modules/],
    [{ r: 3 }, /lora_A\.weight: expected shape \[3, 4\], got \[2, 4\]/],
    [{ target_modules: 'all-linear' }, /missing base_model\.model/],
  ])('refuse %j', (change, message) => {
    saveAdapter(dir, adapter())
    const path = join(dir, 'adapter_config.json')
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }))
    expect(() => loadAdapter(dir, config)).toThrow(CheckpointError)
    expect(() => loadAdapter(dir, config)).toThrow(message)
  })

  it('accept the empty lists that PEFT writes', () => {
    saveAdapter(dir, adapter())
    const path = join(dir, 'adapter_config.json')
    // As PEFT 0.21 writes them.
    const empty = {
      ...{ modules_to_save: null, rank_pattern: {}, alpha_pattern: {}, layers_to_transform: null },
      ...{ layer_replication: null, trainable_token_indices: null, alora_invocation_tokens: null },
      ...{ lora_bias: false, init_lora_weights: 'gaussian', exclude_modules: null, corda_config: null },
    }
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...empty }))
    expect(loadAdapter(dir, config).lora.rank).toBe(2)
  })

  it('have the modules of their weights where the config names none', () => {
    const saved = adapter()
    saveAdapter(dir, saved)
    const path = join(dir, 'adapter_config.json')
    const unnamed = { ...JSON.parse(readFileSync(path, 'utf8')), target_modules: null }
    writeFileSync(path, JSON.stringify(unnamed))
    const { lora: found, tensors } = loadAdapter(dir, config)
    expect([...found.targetModules].sort()).toEqual([...saved.lora.targetModules].sort())
    expect(tensors).toEqual(saved.tensors)
  })
})

describe('mergeInto', () => {
  it('adds alpha / r times B A to the targets and touches nothing else', () => {
    const base = initWeights(config, 1)
    const merged = initWeights(config, 1)
    const tensors = initLora(config, lora, 2)
    const prefix = 'base_model.model.model.layers.1.self_attn.v_proj'
    tensors.get(`${prefix}.lora_A.weight`)!.data.set([1, 0, 2, 0, 0, 1, 0, -1])
    tensors.get(`${prefix}.lora_B.weight`)!.data.set([1, 10, 100, 0])
    for (const [name, { data }] of merged) mergeInto(name, data, { lora, tensors })
    const name = 'model.layers.1.self_attn.v_proj.weight'
    const change = [...merged.get(name)!.data].map((value, i) => value - base.get(name)!.data[i])
    const expected = [2, 20, 4, -20, 200, 0, 400, 0]
    for (const [i, value] of change.entries()) expect(value).toBeCloseTo(expected[i], 4)
    merged.delete(name)
    base.delete(name)
    expect(merged).toEqual(base)
  })
})
