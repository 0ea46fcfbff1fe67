/** @file The shape of a decoder transformer, read from and written as a Hugging Face `config.json`. */

import { z } from 'zod'
import { CheckpointError } from '../util/errors.ts'
import type { WeightDtype } from './dtype.ts'

export type ModelFamily = 'llama' | 'qwen2' | 'qwen3'

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

/** What the computation graph needs to know about a model. Sizes are counts of elements. */
export interface ModelConfig {
  family: ModelFamily
  vocabSize: number
  hiddenSize: number
  /** Width of the SwiGLU branch. */
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
  /** RMSNorm over each head's queries and keys (Qwen3). */
  qkNorm: boolean
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
  model_type: z.enum(['llama', 'qwen2', 'qwen3']),
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
  rope_parameters: ropeSchema.nullish(),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  hidden_act: z.string().default('silu'),
  partial_rotary_factor: z.number().nullish(),
  use_sliding_window: z.boolean().nullish(),
  sliding_window: size.nullish(),
  max_window_layers: z.int().nonnegative().nullish(),
  layer_types: z.array(z.string()).nullish(),
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
  if (type === 'llama' || type === 'qwen2' || type === 'qwen3') return
  throw new CheckpointError(
    `${place}: model_type: expected llama, qwen2 or qwen3, got ${JSON.stringify(type) ?? 'nothing'}`,
    { hint: 'use a checkpoint of one of these families' },
  )
}

const describeIssues = (error: z.ZodError, place: string): string =>
  error.issues.map(issue => `${place}: ${issue.path.join('.')}: ${issue.message}`).join('\n')

const unsupported = (place: string, field: string, got: unknown, expected: string) =>
  new CheckpointError(`${place}: ${field}: expected ${expected}, got ${JSON.stringify(got)}`, {
    hint: 'this model computes something that is not supported',
  })

const refuseUnsupported = (hf: HfConfig, place: string) => {
  if (hf.hidden_act !== 'silu' && hf.hidden_act !== 'swish')
    throw unsupported(place, 'hidden_act', hf.hidden_act, 'silu')
  if (hf.attention_bias && hf.model_type !== 'qwen2')
    throw unsupported(place, 'attention_bias', true, 'false')
  if (hf.mlp_bias) throw unsupported(place, 'mlp_bias', true, 'false')
  if ((hf.partial_rotary_factor ?? 1) !== 1)
    throw unsupported(place, 'partial_rotary_factor', hf.partial_rotary_factor, '1')
  if (hf.quantization_config != null)
    throw unsupported(place, 'quantization_config', hf.quantization_config, 'none (float weights)')
  if (slidingWindowIsActive(hf))
    throw unsupported(place, 'sliding_window', hf.sliding_window, 'full attention in every layer')
}

/** Many configs carry a window that is switched off or longer than any sequence: only one that changes results counts. */
const slidingWindowIsActive = (hf: HfConfig): boolean => {
  if (hf.sliding_window == null || hf.sliding_window >= maxPositionsOf(hf)) return false
  if (hf.layer_types) return hf.layer_types.includes('sliding_attention')
  return hf.use_sliding_window === true && (hf.max_window_layers ?? 0) < hf.num_hidden_layers
}

const maxPositionsOf = (hf: HfConfig) =>
  hf.max_position_embeddings ?? (hf.model_type === 'llama' ? 2048 : 32768)

const headDimOf = (hf: HfConfig) =>
  hf.head_dim ?? (hf.model_type === 'qwen3' ? 128 : hf.hidden_size / hf.num_attention_heads)

const fromHf = (hf: HfConfig, place: string): ModelConfig => ({
  family: hf.model_type,
  vocabSize: hf.vocab_size,
  hiddenSize: hf.hidden_size,
  intermediateSize: hf.intermediate_size,
  layers: hf.num_hidden_layers,
  heads: hf.num_attention_heads,
  kvHeads: hf.num_key_value_heads ?? hf.num_attention_heads,
  headDim: headDimOf(hf),
  maxPositions: maxPositionsOf(hf),
  rmsNormEps: hf.rms_norm_eps,
  ropeTheta: hf.rope_theta ?? hf.rope_parameters?.rope_theta ?? 10000,
  ropeScaling: parseRopeScaling(hf.rope_parameters ?? hf.rope_scaling, place),
  tieEmbeddings: hf.tie_word_embeddings,
  attentionBias: hf.model_type === 'qwen2',
  qkNorm: hf.model_type === 'qwen3',
  bosTokenId: hf.bos_token_id ?? null,
  eosTokenIds: hf.eos_token_id == null ? [] : [hf.eos_token_id].flat(),
  initializerRange: hf.initializer_range,
})

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

const architectures = {
  llama: 'LlamaForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
} as const

/** The `config.json` content that `parseModelConfig` and the transformers library read back as the same model. */
export const toHfConfig = (
  config: ModelConfig,
  torchDtype: WeightDtype = 'float32',
): Record<string, unknown> => ({
  architectures: [architectures[config.family]],
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
  hidden_act: 'silu',
  attention_dropout: 0,
  ...(config.family === 'qwen2' ? {} : { attention_bias: false }),
  ...(config.family === 'llama' ? { mlp_bias: false } : { use_sliding_window: false }),
  tie_word_embeddings: config.tieEmbeddings,
  bos_token_id: config.bosTokenId,
  eos_token_id: hfEosTokenId(config.eosTokenIds),
  initializer_range: config.initializerRange,
  torch_dtype: torchDtype,
  use_cache: true,
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
