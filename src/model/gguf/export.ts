/** @file A model as a GGUF file for llama.cpp and whatever is built on it. */

import { join } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { CheckpointError } from '../../util/errors.ts'
import { stopTokensOf } from '../chat-format.ts'
import { loadChatTemplate } from '../chat-template.ts'
import type { ModelConfig } from '../config.ts'
import type { MergedModel } from '../merged.ts'
import { hasModelFile, readModelJson } from '../model-files.ts'
import { assertTokenizerFits, loadTokenizer } from '../tokenizer.ts'
import { type TensorSpec, tensorSpecs } from '../weights.ts'
import { GEMMA_PERIOD, LARGEST_GEMMA_LAYERS } from './config.ts'
import { ARCHITECTURES, type GgufArchitecture, pairedRow, toGgufName } from './names.ts'
import { ropeDivisors } from './rope.ts'
import { tokenizerMetadata } from './tokenizer-metadata.ts'
import { type GgufValue, ggufChunks, type StoredType, type WrittenTensor } from './write.ts'

/** How weight matrices are stored; norms and biases are always float32. */
export const GGUF_TYPES = { f32: 'F32', f16: 'F16', q8_0: 'Q8_0' } as const satisfies Record<
  string,
  StoredType
>
export type GgufType = keyof typeof GGUF_TYPES

/** What a whole file is said to hold (gguf-py/gguf/constants.py of ggml-org/llama.cpp, LlamaFileType). */
const FILE_TYPES = { f32: 0, f16: 1, q8_0: 7 } as const

type Entry = [string, GgufValue]

/**
 * Writes a model as GGUF, a tensor at a time: the file appears whole or not at all.
 * @param name what the file says the model is called
 * @throws CheckpointError for a model without a tokenizer, or with one that llama.cpp does not know; what llama.cpp computes otherwise is
 * refused too
 */
export const writeGguf = (path: string, model: MergedModel, type: GgufType, name: string): void => {
  const architecture = architectureFor(model.config)
  const entries: Entry[] = [
    ['general.architecture', { text: architecture }],
    ['general.type', { text: 'model' }],
    ['general.name', { text: name }],
    ...settings(architecture, model.config),
    ['general.file_type', { u32: FILE_TYPES[type] }],
    ['general.quantization_version', { u32: 2 }],
    ...tokenizerEntries(model),
  ]
  const tensors = [...frequencies(model.config), ...weights(architecture, model, GGUF_TYPES[type])]
  writeFileAtomic(path, ggufChunks(entries, tensors))
}

const architectureFor = ({ family }: ModelConfig): GgufArchitecture =>
  (Object.keys(ARCHITECTURES) as GgufArchitecture[]).find(name => ARCHITECTURES[name] === family)!

const settings = (architecture: GgufArchitecture, config: ModelConfig): Entry[] => {
  const counts = {
    vocab_size: config.vocabSize,
    block_count: config.layers,
    context_length: config.maxPositions,
    embedding_length: config.hiddenSize,
    feed_forward_length: config.intermediateSize,
    'attention.head_count': config.heads,
    'attention.head_count_kv': config.kvHeads,
    'attention.key_length': config.headDim,
    'attention.value_length': config.headDim,
    'rope.dimension_count': config.headDim,
  }
  const numbers = {
    'attention.layer_norm_rms_epsilon': config.rmsNormEps,
    'rope.freq_base': config.ropeTheta,
  }
  const linear = config.ropeScaling?.type === 'linear' ? config.ropeScaling : null
  const entries: Entry[] = [
    ...Object.entries(counts).map(([key, value]): Entry => [key, { u32: value }]),
    ...Object.entries(numbers).map(([key, value]): Entry => [key, { f32: value }]),
    ...(linear
      ? ([
          ['rope.scaling.type', { text: 'linear' }],
          ['rope.scaling.factor', { f32: linear.factor }],
        ] satisfies Entry[])
      : []),
    ...(architecture === 'gemma3' ? gemmaSettings(config) : []),
  ]
  return entries.map(([key, value]) => [`${architecture}.${key}`, value])
}

/** Of the layers that look back a few tokens; llama.cpp knows which they are, and how it scales queries. */
const gemmaSettings = ({ sliding, queryScalar, ...config }: ModelConfig): Entry[] => {
  const scalar = config.layers === LARGEST_GEMMA_LAYERS ? config.hiddenSize / config.heads : config.headDim
  const isUsual =
    sliding?.layers.every((isSliding, i) => isSliding === ((i + 1) % GEMMA_PERIOD !== 0)) ?? true
  if (!isUsual || (queryScalar ?? config.headDim) !== scalar)
    throw new CheckpointError(
      `config.json: layer_types or query_pre_attn_scalar: expected every ${GEMMA_PERIOD}th layer to look back at all tokens, and ${scalar}; llama.cpp knows no others`,
      { hint: 'export a merged folder instead (--folder)' },
    )
  if (!sliding) return []
  return [
    ['attention.sliding_window', { u32: sliding.window }],
    ['rope.freq_base_swa', { f32: sliding.ropeTheta }],
  ]
}

const tokenizerEntries = ({ words, config }: MergedModel): Entry[] => {
  if (!hasModelFile(words, 'tokenizer.json'))
    throw new CheckpointError(
      `${words}: expected a tokenizer.json, which a GGUF file holds as well, got none`,
      {
        hint: 'put the tokenizer files beside the model',
      },
    )
  const tokenizer = loadTokenizer(words)
  assertTokenizerFits(tokenizer, config, words)
  const { bosId, eosId, padId } = tokenizer
  const use = {
    ...{ vocabSize: config.vocabSize, bosId: bosId ?? config.bosTokenId, eosId, padId },
    stops: stopTokensOf(config, tokenizer),
    addsBos: bosId !== null && tokenizer.encode('a', { addSpecialTokens: true })[0] === bosId,
    chatTemplate: loadChatTemplate(words)?.source ?? null,
  }
  return tokenizerMetadata(readModelJson(words, 'tokenizer.json'), use, join(words, 'tokenizer.json'))
}

/** Llama 3's rotary frequencies, a tensor of its own. @throws CheckpointError where llama.cpp reads none */
const frequencies = ({ family, ropeScaling, ropeTheta, headDim }: ModelConfig): WrittenTensor[] => {
  if (ropeScaling?.type !== 'llama3') return []
  if (family !== 'llama')
    throw new CheckpointError(
      `config.json: rope_scaling: expected type linear or none for ${family}, got llama3; llama.cpp knows it of llama alone`,
      { hint: 'export a merged folder instead (--folder)' },
    )
  const read = () => ropeDivisors(ropeTheta, headDim, ropeScaling)
  return [{ name: 'rope_freqs.weight', shape: [headDim / 2], type: 'F32', read }]
}

const weights = (architecture: GgufArchitecture, model: MergedModel, type: StoredType): WrittenTensor[] =>
  tensorSpecs(model.config).map(({ name, shape }) => {
    const { name: stored, heads, shift } = toGgufName(architecture, name)!
    return {
      ...{ name: stored, shape, type: storedType(shape, type) },
      read: () => {
        const data = model.read(name)
        if (shift !== 0) for (let i = 0; i < data.length; i++) data[i] += shift
        return heads ? paired(data, shape, model.config.headDim) : data
      },
    }
  })

/** Rows that do not divide into blocks are stored as halves, as llama.cpp's converter does. */
const storedType = (shape: TensorSpec['shape'], type: StoredType): StoredType => {
  if (shape.length === 1) return 'F32'
  return type === 'Q8_0' && shape.at(-1)! % 32 !== 0 ? 'F16' : type
}

const paired = (data: Float32Array, [rows, columns]: readonly number[], headDim: number): Float32Array => {
  const target = new Float32Array(data.length)
  for (let row = 0; row < rows; row++)
    target.set(data.subarray(row * columns, (row + 1) * columns), pairedRow(row, headDim) * columns)
  return target
}
