import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CheckpointError } from '../util/errors.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { parseModelConfig, toHfConfig } from './config.ts'

// The published config of Qwen2.5-0.5B-Instruct, fields that matter and some that do not.
const qwen25 = {
  architectures: ['Qwen2ForCausalLM'],
  attention_dropout: 0.0,
  bos_token_id: 151643,
  eos_token_id: 151645,
  hidden_act: 'silu',
  hidden_size: 896,
  initializer_range: 0.02,
  intermediate_size: 4864,
  max_position_embeddings: 32768,
  max_window_layers: 21,
  model_type: 'qwen2',
  num_attention_heads: 14,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 1000000.0,
  sliding_window: 32768,
  tie_word_embeddings: true,
  torch_dtype: 'bfloat16',
  use_sliding_window: false,
  vocab_size: 151936,
}
const tinyLlama = {
  model_type: 'llama',
  vocab_size: 64,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 4,
}
const llama3Rope = {
  rope_type: 'llama3',
  factor: 8,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 8192,
}

/** Layers of Gemma 3 270M, fewer and narrower, as its config.json on the hub has them. */
const tinyGemma = {
  model_type: 'gemma3_text',
  ...{ vocab_size: 64, hidden_size: 32, intermediate_size: 48, num_hidden_layers: 7 },
  ...{ num_attention_heads: 4, num_key_value_heads: 1, max_position_embeddings: 32768 },
  ...{ hidden_activation: 'gelu_pytorch_tanh', sliding_window: 512, eos_token_id: 1 },
}

describe('parseModelConfig', () => {
  it('reads Qwen2.5: grouped heads, biases, tied embeddings', () => {
    const config = parseModelConfig(qwen25)
    expect(config).toMatchObject({
      family: 'qwen2',
      headDim: 64,
      kvHeads: 2,
      attentionBias: true,
      qkNorm: false,
      tieEmbeddings: true,
      eosTokenIds: [151645],
      ropeTheta: 1e6,
      ropeScaling: null,
    })
  })

  it('fills in what a short Llama config leaves out', () => {
    const config = parseModelConfig(tinyLlama)
    expect(config).toMatchObject({
      kvHeads: 4,
      headDim: 8,
      maxPositions: 2048,
      ropeTheta: 10000,
      eosTokenIds: [],
    })
    expect(config).toMatchObject({ bosTokenId: null, tieEmbeddings: false, attentionBias: false })
  })

  it('reads Qwen3 with its own head width', () => {
    const config = parseModelConfig({ ...tinyLlama, model_type: 'qwen3', head_dim: 16, eos_token_id: [1, 2] })
    expect(config).toMatchObject({ qkNorm: true, headDim: 16, eosTokenIds: [1, 2] })
  })

  it('reads Gemma 3 in both spellings of its rotary settings, and fills in what it leaves out', () => {
    const expected = {
      ...{ headDim: 256, queryScalar: 256, tieEmbeddings: true, qkNorm: true, maxPositions: 32768 },
      ...{ ropeTheta: 1e6, ropeScaling: { type: 'linear', factor: 8 } },
      sliding: { window: 512, ropeTheta: 10000, layers: [true, true, true, true, true, false, true] },
    }
    const rope = { rope_type: 'linear', factor: 8 }
    expect(parseModelConfig({ ...tinyGemma, rope_scaling: rope })).toMatchObject(expected)
    const layerTypes = expected.sliding.layers.map(near => (near ? 'sliding_attention' : 'full_attention'))
    const recent = {
      rope_parameters: {
        full_attention: { ...rope, rope_theta: 1e6 },
        sliding_attention: { rope_type: 'default', rope_theta: 10000 },
      },
      layer_types: layerTypes,
    }
    expect(parseModelConfig({ ...tinyGemma, ...recent })).toMatchObject(expected)
    const alternating = parseModelConfig({ ...tinyGemma, sliding_window_pattern: 2 })
    expect(alternating.sliding!.layers).toEqual([true, false, true, false, true, false, true])
    const full = { layer_types: layerTypes.map(() => 'full_attention') }
    expect(parseModelConfig({ ...tinyGemma, ...full }).sliding).toBeUndefined()
  })

  it('reads rotary scaling in both spellings', () => {
    const expected = {
      type: 'llama3',
      factor: 8,
      lowFreqFactor: 1,
      highFreqFactor: 4,
      originalMaxPositions: 8192,
    }
    expect(parseModelConfig({ ...tinyLlama, rope_scaling: llama3Rope }).ropeScaling).toEqual(expected)
    const recent = parseModelConfig({ ...tinyLlama, rope_parameters: { ...llama3Rope, rope_theta: 500000 } })
    expect(recent.ropeScaling).toEqual(expected)
    expect(recent.ropeTheta).toBe(500000)
    const linear = parseModelConfig({ ...tinyLlama, rope_scaling: { type: 'linear', factor: 2 } })
    expect(linear.ropeScaling).toEqual({ type: 'linear', factor: 2 })
  })

  it.each([
    [
      'another architecture',
      { ...tinyLlama, model_type: 'gpt2' },
      /model_type: expected llama, qwen2, qwen3 or gemma3_text/,
    ],
    ['Gemma 3 with pictures', { ...tinyGemma, model_type: 'gemma3' }, /sees pictures .* gemma3_text/],
    [
      'another GELU',
      { ...tinyGemma, hidden_activation: 'gelu' },
      /hidden_activation: expected gelu_pytorch_tanh/,
    ],
    ['softcapped logits', { ...tinyGemma, final_logit_softcapping: 30 }, /final_logit_softcapping/],
    ['softcapped scores', { ...tinyGemma, attn_logit_softcapping: 50 }, /attn_logit_softcapping/],
    ['both directions', { ...tinyGemma, use_bidirectional_attention: true }, /use_bidirectional_attention/],
    [
      'too few layer types',
      { ...tinyGemma, layer_types: ['full_attention'] },
      /layer_types: expected 7 times/,
    ],
    [
      'unknown layer types',
      { ...tinyGemma, layer_types: Array(7).fill('chunked_attention') },
      /layer_types: .*chunked_attention/,
    ],
    [
      'stretched sliding layers',
      { ...tinyGemma, rope_parameters: { sliding_attention: { rope_type: 'linear', factor: 2 } } },
      /sliding_attention: expected type default/,
    ],
    ['nothing at all', null, /model_type/],
    ['a missing size', { ...tinyLlama, hidden_size: undefined }, /hidden_size/],
    ['a size of the wrong type', { ...tinyLlama, num_hidden_layers: '2' }, /num_hidden_layers/],
    ['another activation', { ...tinyLlama, hidden_act: 'gelu' }, /hidden_act: expected silu/],
    ['YaRN', { ...tinyLlama, rope_scaling: { type: 'yarn', factor: 4 } }, /rope_scaling: expected .*yarn/],
    [
      'llama3 factors missing',
      { ...tinyLlama, rope_scaling: { type: 'llama3', factor: 4 } },
      /low_freq_factor/,
    ],
    ['heads that do not divide', { ...tinyLlama, num_key_value_heads: 3 }, /num_key_value_heads/],
    ['a fractional head', { ...tinyLlama, num_attention_heads: 5 }, /head_dim/],
    ['an odd head', { ...tinyLlama, head_dim: 7 }, /head_dim/],
    ['a stop token outside the vocabulary', { ...tinyLlama, eos_token_id: 64 }, /eos_token_id/],
    ['biases that are not computed', { ...tinyLlama, attention_bias: true }, /attention_bias/],
    ['quantized weights', { ...tinyLlama, quantization_config: { bits: 4 } }, /quantization_config/],
    ['an active window', { ...qwen25, use_sliding_window: true, sliding_window: 4096 }, /sliding_window/],
  ])('refuses %s', (_, json, message) => {
    expect(() => parseModelConfig(json, 'm/config.json')).toThrow(CheckpointError)
    expect(() => parseModelConfig(json, 'm/config.json')).toThrow(message)
    expect(() => parseModelConfig(json, 'm/config.json')).toThrow(/m\/config\.json/)
  })

  it('accepts a window that never applies', () => {
    expect(parseModelConfig({ ...qwen25, use_sliding_window: true }).layers).toBe(24)
    expect(
      parseModelConfig({
        ...qwen25,
        use_sliding_window: true,
        sliding_window: 4096,
        layer_types: ['full_attention'],
      }).layers,
    ).toBe(24)
  })
})

describe('toHfConfig', () => {
  it.each([
    ['qwen2', qwen25],
    ['llama', { ...tinyLlama, rope_scaling: llama3Rope, eos_token_id: [1, 2], bos_token_id: 3 }],
    ['linear rope', { ...tinyLlama, rope_scaling: { type: 'linear', factor: 2 } }],
    ['qwen3', { ...tinyLlama, model_type: 'qwen3', head_dim: 16 }],
    ['gemma3', { ...tinyGemma, sliding_window_pattern: 3, query_pre_attn_scalar: 168 }],
    ['gemma3 without sliding layers', { ...tinyGemma, sliding_window_pattern: 1 }],
  ])('reads back as the same model: %s', (_, json) => {
    const config = parseModelConfig(json)
    expect(parseModelConfig(JSON.parse(JSON.stringify(toHfConfig(config))))).toEqual(config)
  })

  it('keeps every field of a published config', context => {
    const path = sharedData('models/stories260K/config.json')
    if (!path) return context.skip('shared data not here')
    const json = JSON.parse(readFileSync(path, 'utf8'))
    expect(toHfConfig(parseModelConfig(json))).toMatchObject(json)
  })
})
