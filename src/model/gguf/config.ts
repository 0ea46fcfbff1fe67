/** @file The settings of a model in GGUF as the objects of Hugging Face's `config.json` and `generation_config.json`. */

import { CheckpointError } from '../../util/errors.ts'
import type { GgufHeader } from './header.ts'
import { ARCHITECTURES, type GgufArchitecture } from './names.ts'
import { ropeScalingOf } from './rope.ts'
import { GgufTensors, type HeadCounts } from './tensors.ts'
import { hasVocabulary, specialIdsOf } from './vocabulary.ts'

/** @throws CheckpointError for an architecture that is not supported, and for one file of several */
const architectureOf = (header: GgufHeader): GgufArchitecture => {
  const name = header.text('general.architecture') ?? ''
  const parts = header.number('split.count') ?? 1
  if (parts > 1)
    throw new CheckpointError(`${header.path}: is one of ${parts} files of a model`, {
      hint: 'join them first: llama-gguf-split --merge FIRST OUT',
    })
  if (Object.hasOwn(ARCHITECTURES, name)) return name as GgufArchitecture
  throw new CheckpointError(
    `${header.path}: general.architecture: expected ${Object.keys(ARCHITECTURES).join(', ')}, got ${JSON.stringify(name)}`,
    { hint: 'use a model of one of these families' },
  )
}

/** Numbers under the architecture's name. */
const settingsOf = (header: GgufHeader) => {
  const prefix = architectureOf(header)
  const optional = (key: string): number | null => shortest(header.number(`${prefix}.${key}`))
  const need = (key: string): number => {
    const value = optional(key)
    if (value !== null) return value
    throw new CheckpointError(`${header.path}: ${prefix}.${key}: expected a number, got nothing`, {
      hint: 'the GGUF file lacks what its architecture needs: use another conversion',
    })
  }
  return { optional, need, text: (key: string) => header.text(`${prefix}.${key}`) }
}

/** A number of single precision as people write it: 1e-5, not 9.999999747378752e-6. */
const shortest = (value: number | null): number | null => {
  if (value === null || Number.isInteger(value)) return value
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

/** Heads of queries and keys. */
const headsOf = (header: GgufHeader): HeadCounts => {
  const { need, optional } = settingsOf(header)
  const query = need('attention.head_count')
  return { query, key: optional('attention.head_count_kv') ?? query }
}

/** Opens the tensors of a file under their Hugging Face names. */
export const openTensors = (header: GgufHeader): GgufTensors =>
  new GgufTensors(header, architectureOf(header), headsOf(header))

/** @throws CheckpointError for missing settings, and for what no supported model computes */
export const configJsonOf = (header: GgufHeader): Record<string, unknown> => {
  const architecture = architectureOf(header)
  const { need, optional } = settingsOf(header)
  const { query, key } = headsOf(header)
  const hiddenSize = need('embedding_length')
  const headDim = optional('attention.key_length') ?? hiddenSize / query
  refuseOtherWidths(header, headDim)
  const ids = hasVocabulary(header) ? specialIdsOf(header) : null
  return {
    model_type: ARCHITECTURES[architecture],
    vocab_size: vocabularySize(header),
    hidden_size: hiddenSize,
    intermediate_size: need('feed_forward_length'),
    num_hidden_layers: layerCount(header),
    ...{ num_attention_heads: query, num_key_value_heads: key, head_dim: headDim },
    max_position_embeddings: need('context_length'),
    rms_norm_eps: need('attention.layer_norm_rms_epsilon'),
    rope_theta: ropeTheta(header),
    rope_scaling: ropeScaling(header, headDim),
    ...(architecture === 'gemma3' ? gemmaConfig(header, headDim) : { hidden_act: 'silu' }),
    tie_word_embeddings: !header.tensors.has('output.weight'),
    bos_token_id: ids?.bos ?? null,
    eos_token_id: ids && ids.stops.length > 0 ? ids.stops : null,
  }
}

/** Values as wide as keys, and all of a head rotated: what all supported models do. */
const refuseOtherWidths = (header: GgufHeader, headDim: number): void => {
  const { optional } = settingsOf(header)
  for (const key of ['attention.value_length', 'rope.dimension_count']) {
    const width = optional(key) ?? headDim
    if (width !== headDim)
      throw new CheckpointError(
        `${header.path}: ${key}: expected the width of a head, ${headDim}, got ${width}`,
        {
          hint: 'this model computes something that is not supported',
        },
      )
  }
}

/** Every layer has tensors: a larger number is not one to make lists of. */
const layerCount = (header: GgufHeader): number => {
  const layers = settingsOf(header).need('block_count')
  if (layers <= header.tensors.size) return layers
  throw new CheckpointError(
    `${header.path}: block_count: expected at most one layer for each of ${header.tensors.size} tensors, got ${layers}`,
    { hint: 'the GGUF file is damaged or incomplete: fetch it again' },
  )
}

const vocabularySize = (header: GgufHeader): number => {
  const embedding = header.tensors.get('token_embd.weight')
  if (embedding) return embedding.shape[0]
  throw new CheckpointError(
    `${header.path}: token_embd.weight: expected the embeddings, got no such tensor`,
    {
      hint: 'the GGUF file is not that of a whole model',
    },
  )
}

const ropeTheta = (header: GgufHeader): number => settingsOf(header).optional('rope.freq_base') ?? 10_000

const ropeScaling = (header: GgufHeader, headDim: number) => {
  const { optional, text } = settingsOf(header)
  const type = text('rope.scaling.type') ?? 'linear'
  const factor = optional('rope.scaling.factor') ?? optional('rope.scale_linear') ?? 0
  if (type !== 'none' && type !== 'linear')
    throw new CheckpointError(`${header.path}: rope.scaling.type: expected linear or none, got ${type}`, {
      hint: 'this way of stretching the context is not supported',
    })
  const divisors = readDivisors(header, headDim)
  if (divisors) {
    const scaling = ropeScalingOf(divisors, ropeTheta(header), header.path)
    return {
      rope_type: scaling.type,
      factor: scaling.factor,
      low_freq_factor: scaling.lowFreqFactor,
      high_freq_factor: scaling.highFreqFactor,
      original_max_position_embeddings: scaling.originalMaxPositions,
    }
  }
  return type === 'linear' && factor > 0 && factor !== 1 ? { rope_type: 'linear', factor } : null
}

const readDivisors = (header: GgufHeader, headDim: number): Float32Array | null => {
  const name = 'rope_freqs.weight'
  const shape = header.tensors.get(name)?.shape
  if (shape === undefined) return null
  if (shape.length !== 1 || shape[0] !== headDim / 2)
    throw new CheckpointError(
      `${header.path}: ${name}: expected one number for each of ${headDim / 2} pairs of a head, got shape [${shape.join(', ')}]`,
      { hint: 'the GGUF file is damaged, or of a model that is not supported' },
    )
  const tensors = openTensors(header)
  try {
    return tensors.read(name)
  } finally {
    tensors.close()
  }
}

/** Layers of 27B, whose queries are scaled by the width of the model per head (src/models/gemma3.cpp of ggml-org/llama.cpp). */
export const LARGEST_GEMMA_LAYERS = 62
/** Every sixth layer looks back at all tokens. */
export const GEMMA_PERIOD = 6

const gemmaConfig = (header: GgufHeader, headDim: number) => {
  const { need, optional } = settingsOf(header)
  const layers = layerCount(header)
  const heads = need('attention.head_count')
  const window = optional('attention.sliding_window')
  const period = optional('attention.sliding_window_pattern') ?? GEMMA_PERIOD
  return {
    ...{ hidden_activation: 'gelu_pytorch_tanh', attention_bias: false },
    ...{ attn_logit_softcapping: null, final_logit_softcapping: optional('final_logit_softcapping') },
    query_pre_attn_scalar: layers === LARGEST_GEMMA_LAYERS ? need('embedding_length') / heads : headDim,
    ...(window === null ? {} : { sliding_window: window }),
    rope_local_base_freq: optional('rope.freq_base_swa') ?? 10_000,
    layer_types: Array.from({ length: layers }, (_, layer) =>
      window === null || (layer + 1) % period === 0 ? 'full_attention' : 'sliding_attention',
    ),
  }
}

/** What the transformers library reads for generation. */
export const generationConfigOf = (header: GgufHeader): Record<string, unknown> => {
  const { bos, pad, stops } = specialIdsOf(header)
  return {
    ...(bos === null ? {} : { bos_token_id: bos }),
    ...(stops.length === 0 ? {} : { eos_token_id: stops.length === 1 ? stops[0] : stops }),
    ...(pad === null ? {} : { pad_token_id: pad }),
  }
}
