/** @file The shape of a decoder transformer, read from and written as a Hugging Face `config.json`. */

import { z } from 'zod'
import { CheckpointError } from '../util/errors.ts'
import type { WeightDtype } from './dtype.ts'

export type ModelFamily = 'llama' | 'qwen2' | 'qwen3' | 'gemma3_text'

/** What all models of a family have in common, whatever their `config.json` says. */
export interface FamilyTraits {
  /** Name of the class in the transformers library. */
  architecture: string
  /** Of the gated unit: SwiGLU, or GeGLU with the tanh approximation of GELU. */
  activation: 'silu' | 'gelu'
  attentionBias: boolean
  qkNorm: boolean
  /** Norms multiply by their weight plus this. */
  normOffset: 0 | 1
  /** What attention and the gated unit add to the hidden states is normalised as well: four norms a layer. */
  normsOutputs: boolean
  /** Embeddings are multiplied by the square root of their width. */
  scalesEmbeddings: boolean
  /** The transformers library's values of fields that a `config.json` may leave out. */
  defaults: { maxPositions: number; ropeTheta: number; tieEmbeddings: boolean; headDim?: number }
}

const LLAMA: FamilyTraits = {
  architecture: 'LlamaForCausalLM',
  activation: 'silu',
  attentionBias: false,
  qkNorm: false,
  normOffset: 0,
  normsOutputs: false,
  scalesEmbeddings: false,
  defaults: { maxPositions: 2048, ropeTheta: 10_000, tieEmbeddings: false },
}
const LONG = { ...LLAMA.defaults, maxPositions: 32_768 }

const FAMILIES: Readonly<Record<ModelFamily, FamilyTraits>> = {
  llama: LLAMA,
  qwen2: { ...LLAMA, architecture: 'Qwen2ForCausalLM', attentionBias: true, defaults: LONG },
  qwen3: {
    ...LLAMA,
    architecture: 'Qwen3ForCausalLM',
    qkNorm: true,
    defaults: { ...LONG, headDim: 128 },
  },
  gemma3_text: {
    architecture: 'Gemma3ForCausalLM',
    activation: 'gelu',
    attentionBias: false,
    qkNorm: true,
    normOffset: 1,
    normsOutputs: true,
    scalesEmbeddings: true,
    defaults: { maxPositions: 131_072, ropeTheta: 1_000_000, tieEmbeddings: true, headDim: 256 },
  },
}

export const traitsOf = ({ family }: Pick<ModelConfig, 'family'>): FamilyTraits => FAMILIES[family]

/** How rotary frequencies are stretched beyond the trained length: Llama 3's smooth rule, or one factor for all. */
export type RopeScaling =
  | {
      type: 'llama3'
      factor: number
      lowFreqFactor: number
      highFreqFactor: number
      originalMaxPositions: number
    }
  | { type: 'linear'; factor: number }

/** Layers that look back a few tokens only (Gemma 3). */
export interface SlidingLayers {
  /** Tokens that a token sees, itself included. */
  window: number
  /** Base of their rotary frequencies, which are not stretched. */
  ropeTheta: number
  /** For every layer whether it is one of them. */
  layers: readonly boolean[]
}

/** What the computation graph needs to know about a model. Sizes are counts of elements. */
export interface ModelConfig {
  family: ModelFamily
  vocabSize: number
  hiddenSize: number
  /** Width of the gated unit. */
  intermediateSize: number
  layers: number
  /** Query heads. */
  heads: number
  /** Key and value heads; divides `heads`. */
  kvHeads: number
  headDim: number
  /** Longest sequence, in tokens. */
  maxPositions: number
  rmsNormEps: number
  ropeTheta: number
  ropeScaling: RopeScaling | null
  /** The output projection is the embedding matrix. */
  tieEmbeddings: boolean
  /** Biases on q, k and v (Qwen2). */
  attentionBias: boolean
  /** RMSNorm over each head's queries and keys (Qwen3, Gemma 3). */
  qkNorm: boolean
  /** Scores of attention are divided by the square root of this; absent: of `headDim`. */
  queryScalar?: number
  /** Absent: every layer looks back at all tokens. */
  sliding?: SlidingLayers
  bosTokenId: number | null
  eosTokenIds: number[]
  /** Standard deviation of freshly initialised weight matrices. */
  initializerRange: number
}

// Far above any model; numbers beyond come from damaged files and would be built up before anything could fit them.
const MAX_LAYERS = 1024
const MAX_POSITIONS = 2 ** 21
const size = z
  .int()
  .positive()
  .max(2 ** 31)
const tokenId = z.int().nonnegative()

const layerTypes = ['full_attention', 'sliding_attention'] as const

const ropeSchema = z.looseObject({
  rope_type: z.string().optional(),
  type: z.string().optional(),
  rope_theta: z.number().positive().optional(),
  factor: z.number().positive().optional(),
  low_freq_factor: z.number().positive().optional(),
  high_freq_factor: z.number().positive().optional(),
  original_max_position_embeddings: size.max(MAX_POSITIONS).optional(),
})

const hfSchema = z.looseObject({
  model_type: z.enum(Object.keys(FAMILIES) as [ModelFamily]),
  vocab_size: size,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: size.max(MAX_LAYERS),
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  max_position_embeddings: size.optional(),
  rms_norm_eps: z.number().positive().default(1e-6),
  rope_theta: z.number().positive().nullish(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema
    .extend({ full_attention: ropeSchema.nullish(), sliding_attention: ropeSchema.nullish() })
    .nullish(),
  rope_local_base_freq: z.number().positive().nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  hidden_act: z.string().nullish(),
  hidden_activation: z.string().nullish(),
  query_pre_attn_scalar: z.number().positive().default(256),
  attn_logit_softcapping: z.number().nullish(),
  final_logit_softcapping: z.number().nullish(),
  use_bidirectional_attention: z.boolean().nullish(),
  partial_rotary_factor: z.number().nullish(),
  use_sliding_window: z.boolean().nullish(),
  sliding_window: size.nullish(),
  max_window_layers: z.int().nonnegative().nullish(),
  layer_types: z.array(z.string()).nullish(),
  sliding_window_pattern: size.default(6),
  quantization_config: z.unknown().optional(),
  bos_token_id: tokenId.nullish(),
  eos_token_id: z.union([tokenId, z.array(tokenId)]).nullish(),
  initializer_range: z.number().nonnegative().default(0.02),
})
type HfConfig = z.output<typeof hfSchema>

/**
 * Reads the parsed content of a Hugging Face `config.json`. `place` names the file in errors.
 * Both spellings of the rotary settings are understood (`rope_theta` + `rope_scaling`, and `rope_parameters`).
 * @throws CheckpointError for another architecture, a missing or mistyped field, or a feature the graph does not compute.
 * @example
 * const size = { vocab_size: 16, hidden_size: 32, intermediate_size: 64, max_position_embeddings: 32 }
 * const config = parseModelConfig({ model_type: 'llama', ...size, num_hidden_layers: 1, num_attention_heads: 2 })
 * config.headDim // 16
 */
export const parseModelConfig = (json: unknown, place = 'config.json'): ModelConfig => {
  refuseOtherFamily(json, place)
  const parsed = hfSchema.safeParse(json)
  if (!parsed.success) throw new CheckpointError(describeIssues(parsed.error, place))
  const hf = parsed.data
  refuseUnsupported(hf, place)
  const config = fromHf(hf, place)
  checkSizes(config, place)
  return config
}

const refuseOtherFamily = (json: unknown, place: string) => {
  const type = (json as { model_type?: unknown } | null)?.model_type
  const known = Object.keys(FAMILIES)
  if (typeof type === 'string' && known.includes(type)) return
  throw new CheckpointError(
    `${place}: model_type: expected ${known.slice(0, -1).join(', ')} or ${known.at(-1)}, got ${JSON.stringify(type) ?? 'nothing'}`,
    {
      hint:
        type === 'gemma3'
          ? 'this one sees pictures too; use a text model of Gemma 3 (270M, 1B), whose model_type is gemma3_text'
          : 'use a checkpoint of one of these families',
    },
  )
}

const describeIssues = (error: z.ZodError, place: string): string =>
  error.issues.map(issue => `${place}: ${issue.path.join('.')}: ${issue.message}`).join('\n')

const unsupported = (place: string, field: string, got: unknown, expected: string) =>
  new CheckpointError(`${place}: ${field}: expected ${expected}, got ${JSON.stringify(got)}`, {
    hint: 'this model computes something that is not supported',
  })

const refuseUnsupported = (hf: HfConfig, place: string) => {
  refuseActivation(hf, place)
  if (hf.attention_bias && !FAMILIES[hf.model_type].attentionBias)
    throw unsupported(place, 'attention_bias', true, 'false')
  if (hf.mlp_bias) throw unsupported(place, 'mlp_bias', true, 'false')
  if ((hf.partial_rotary_factor ?? 1) !== 1)
    throw unsupported(place, 'partial_rotary_factor', hf.partial_rotary_factor, '1')
  if (hf.quantization_config != null)
    throw unsupported(place, 'quantization_config', hf.quantization_config, 'none (float weights)')
  for (const field of ['attn_logit_softcapping', 'final_logit_softcapping'] as const)
    if (hf[field] != null) throw unsupported(place, field, hf[field], 'none (scores and logits as they are)')
  if (hf.use_bidirectional_attention)
    throw unsupported(place, 'use_bidirectional_attention', true, 'false (causal attention)')
  if (hf.model_type !== 'gemma3_text' && slidingWindowIsActive(hf))
    throw unsupported(place, 'sliding_window', hf.sliding_window, 'full attention in every layer')
}

/** By what names a config may call an activation, and in which field. */
const ACTIVATIONS = {
  silu: { field: 'hidden_act', names: ['silu', 'swish'] },
  gelu: { field: 'hidden_activation', names: ['gelu_pytorch_tanh'] },
} as const

const refuseActivation = (hf: HfConfig, place: string) => {
  const { field, names } = ACTIVATIONS[FAMILIES[hf.model_type].activation]
  const got = hf[field] ?? names[0]
  if (!names.some(name => name === got)) throw unsupported(place, field, got, names[0])
}

/** Many configs carry a window that is switched off or longer than any sequence: only one that changes results counts. */
const slidingWindowIsActive = (hf: HfConfig): boolean => {
  if (hf.sliding_window == null || hf.sliding_window >= maxPositionsOf(hf)) return false
  if (hf.layer_types) return hf.layer_types.includes('sliding_attention')
  return hf.use_sliding_window === true && (hf.max_window_layers ?? 0) < hf.num_hidden_layers
}

const maxPositionsOf = (hf: HfConfig) =>
  hf.max_position_embeddings ?? FAMILIES[hf.model_type].defaults.maxPositions

/** Rotary settings of layers that look back at all tokens: under their own name where layers differ. */
const ropeOf = (hf: HfConfig) => hf.rope_parameters?.full_attention ?? hf.rope_parameters ?? hf.rope_scaling

const fromHf = (hf: HfConfig, place: string): ModelConfig => {
  const { attentionBias, qkNorm, defaults } = FAMILIES[hf.model_type]
  return {
    family: hf.model_type,
    vocabSize: hf.vocab_size,
    hiddenSize: hf.hidden_size,
    intermediateSize: hf.intermediate_size,
    layers: hf.num_hidden_layers,
    heads: hf.num_attention_heads,
    kvHeads: hf.num_key_value_heads ?? hf.num_attention_heads,
    headDim: hf.head_dim ?? defaults.headDim ?? hf.hidden_size / hf.num_attention_heads,
    maxPositions: maxPositionsOf(hf),
    rmsNormEps: hf.rms_norm_eps,
    ropeTheta: hf.rope_theta ?? ropeOf(hf)?.rope_theta ?? defaults.ropeTheta,
    ropeScaling: parseRopeScaling(ropeOf(hf), place),
    tieEmbeddings: hf.tie_word_embeddings ?? defaults.tieEmbeddings,
    attentionBias,
    qkNorm,
    ...(hf.model_type === 'gemma3_text' && gemmaAttention(hf, place)),
    bosTokenId: hf.bos_token_id ?? null,
    eosTokenIds: hf.eos_token_id == null ? [] : [hf.eos_token_id].flat(),
    initializerRange: hf.initializer_range,
  }
}

/** Defaults are those of the transformers library (configuration_gemma3.py). */
const gemmaAttention = (hf: HfConfig, place: string): Pick<ModelConfig, 'queryScalar' | 'sliding'> => {
  const rope = hf.rope_parameters?.sliding_attention
  if (parseRopeScaling(rope, place))
    throw unsupported(place, 'rope_parameters.sliding_attention', rope, 'type default')
  const layers = slidingLayersOf(hf, place)
  const ropeTheta = rope?.rope_theta ?? hf.rope_local_base_freq ?? 10_000
  return {
    queryScalar: hf.query_pre_attn_scalar,
    ...(layers.includes(true) && { sliding: { window: hf.sliding_window ?? 4096, ropeTheta, layers } }),
  }
}

const slidingLayersOf = ({ layer_types: types, ...hf }: HfConfig, place: string): boolean[] => {
  const layers = hf.num_hidden_layers
  if (!types) return Array.from({ length: layers }, (_, i) => (i + 1) % hf.sliding_window_pattern !== 0)
  if (types.length !== layers || !types.every(type => layerTypes.some(known => known === type)))
    throw new CheckpointError(
      `${place}: layer_types: expected ${layers} times ${layerTypes.join(' or ')}, got ${types.length} times ${[...new Set(types)].join(', ')}`,
    )
  return types.map(type => type === 'sliding_attention')
}

const parseRopeScaling = (
  rope: z.output<typeof ropeSchema> | null | undefined,
  place: string,
): RopeScaling | null => {
  const type = rope?.rope_type ?? rope?.type ?? 'default'
  if (!rope || type === 'default') return null
  const need = (field: keyof typeof rope): number => {
    const value = rope[field]
    if (typeof value === 'number') return value
    throw new CheckpointError(
      `${place}: rope_scaling.${String(field)}: expected a number for type ${type}, got nothing`,
    )
  }
  if (type === 'linear') return { type, factor: need('factor') }
  if (type !== 'llama3') throw unsupported(place, 'rope_scaling', type, 'type llama3 or linear')
  return {
    type,
    factor: need('factor'),
    lowFreqFactor: need('low_freq_factor'),
    highFreqFactor: need('high_freq_factor'),
    originalMaxPositions: need('original_max_position_embeddings'),
  }
}

const checkSizes = (config: ModelConfig, place: string) => {
  if (!Number.isInteger(config.headDim) || config.headDim % 2 !== 0)
    throw new CheckpointError(
      `${place}: head_dim: expected an even whole number (rotary pairs), got ${config.headDim}`,
      { hint: 'hidden_size must be a multiple of 2 * num_attention_heads, or set head_dim' },
    )
  if (config.heads % config.kvHeads !== 0)
    throw new CheckpointError(
      `${place}: num_key_value_heads: expected a divisor of num_attention_heads = ${config.heads}, got ${config.kvHeads}`,
    )
  const ids = config.bosTokenId === null ? config.eosTokenIds : [config.bosTokenId, ...config.eosTokenIds]
  for (const id of ids)
    if (id >= config.vocabSize)
      throw new CheckpointError(
        `${place}: bos_token_id or eos_token_id: expected ids below vocab_size = ${config.vocabSize}, got ${id}`,
      )
}

/** The `config.json` content that `parseModelConfig` and the transformers library read back as the same model. */
export const toHfConfig = (
  config: ModelConfig,
  torchDtype: WeightDtype = 'float32',
): Record<string, unknown> => ({
  architectures: [traitsOf(config).architecture],
  model_type: config.family,
  vocab_size: config.vocabSize,
  hidden_size: config.hiddenSize,
  intermediate_size: config.intermediateSize,
  num_hidden_layers: config.layers,
  num_attention_heads: config.heads,
  num_key_value_heads: config.kvHeads,
  head_dim: config.headDim,
  max_position_embeddings: config.maxPositions,
  rms_norm_eps: config.rmsNormEps,
  rope_theta: config.ropeTheta,
  rope_scaling: hfRopeScaling(config.ropeScaling),
  ...familyFields(config),
  tie_word_embeddings: config.tieEmbeddings,
  bos_token_id: config.bosTokenId,
  eos_token_id: hfEosTokenId(config.eosTokenIds),
  initializer_range: config.initializerRange,
  torch_dtype: torchDtype,
  use_cache: true,
})

/** What only some families have fields for. */
const familyFields = (config: ModelConfig): Record<string, unknown> => {
  const { activation, attentionBias } = traitsOf(config)
  const { field, names } = ACTIVATIONS[activation]
  return {
    [field]: names[0],
    attention_dropout: 0,
    ...(attentionBias ? {} : { attention_bias: false }),
    ...(config.family === 'llama' && { mlp_bias: false }),
    ...(config.family.startsWith('qwen') && { use_sliding_window: false }),
    ...(config.family === 'gemma3_text' && gemmaFields(config)),
  }
}

const gemmaFields = ({ layers, headDim, queryScalar = headDim, sliding }: ModelConfig) => ({
  query_pre_attn_scalar: queryScalar,
  layer_types: Array.from({ length: layers }, (_, i) => layerTypes[sliding?.layers[i] ? 1 : 0]),
  ...(sliding && { sliding_window: sliding.window, rope_local_base_freq: sliding.ropeTheta }),
})

const hfEosTokenId = (ids: number[]) => (ids.length === 0 ? null : ids.length === 1 ? ids[0] : ids)

const hfRopeScaling = (scaling: RopeScaling | null) => {
  if (scaling === null) return null
  if (scaling.type === 'linear') return { rope_type: 'linear', factor: scaling.factor }
  return {
    rope_type: 'llama3',
    factor: scaling.factor,
    low_freq_factor: scaling.lowFreqFactor,
    high_freq_factor: scaling.highFreqFactor,
    original_max_position_embeddings: scaling.originalMaxPositions,
  }
}
