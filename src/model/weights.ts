/** @file The tensors of a model under their Hugging Face names: list, random initialisation, loading from a folder. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { CheckpointError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { type ModelConfig, traitsOf } from './config.ts'
import { openTensors } from './gguf/config.ts'
import { ggufHeader, ggufOf } from './gguf/folder.ts'
import { type NamedTensors, SafetensorsFile, type TensorFile } from './safetensors.ts'

/** One tensor that a model has: weight matrices are [out, in]. */
export interface TensorSpec {
  name: string
  shape: number[]
  init: 'normal' | 'ones' | 'zeros'
}

const matrix = (name: string, ...shape: number[]): TensorSpec => ({ name, shape, init: 'normal' })
const bias = (name: string, size: number): TensorSpec => ({ name, shape: [size], init: 'zeros' })

/** Weights of a norm, which multiplies by 1 at first. */
const scaleOf =
  (config: ModelConfig) =>
  (name: string, size: number): TensorSpec => ({
    ...{ name, shape: [size] },
    init: traitsOf(config).normOffset === 1 ? 'zeros' : 'ones',
  })

/** Every tensor of the model in the order of computation; `lm_head.weight` only when it is not the embedding. */
export const tensorSpecs = (config: ModelConfig): TensorSpec[] => {
  const { vocabSize, hiddenSize, tieEmbeddings } = config
  const layers = Array.from({ length: config.layers }, (_, layer) => layerSpecs(config, layer))
  return [
    matrix('model.embed_tokens.weight', vocabSize, hiddenSize),
    ...layers.flat(),
    scaleOf(config)('model.norm.weight', hiddenSize),
    ...(tieEmbeddings ? [] : [matrix('lm_head.weight', vocabSize, hiddenSize)]),
  ]
}

const layerSpecs = (config: ModelConfig, layer: number): TensorSpec[] => {
  const { hiddenSize, intermediateSize, headDim } = config
  const prefix = `model.layers.${layer}`
  const attention = `${prefix}.self_attn`
  const queryWidth = config.heads * headDim
  const keyWidth = config.kvHeads * headDim
  const scale = scaleOf(config)
  const { normsOutputs } = traitsOf(config)
  return [
    scale(`${prefix}.input_layernorm.weight`, hiddenSize),
    matrix(`${attention}.q_proj.weight`, queryWidth, hiddenSize),
    matrix(`${attention}.k_proj.weight`, keyWidth, hiddenSize),
    matrix(`${attention}.v_proj.weight`, keyWidth, hiddenSize),
    ...(config.attentionBias
      ? [
          bias(`${attention}.q_proj.bias`, queryWidth),
          bias(`${attention}.k_proj.bias`, keyWidth),
          bias(`${attention}.v_proj.bias`, keyWidth),
        ]
      : []),
    ...(config.qkNorm
      ? [scale(`${attention}.q_norm.weight`, headDim), scale(`${attention}.k_norm.weight`, headDim)]
      : []),
    matrix(`${attention}.o_proj.weight`, hiddenSize, queryWidth),
    scale(`${prefix}.post_attention_layernorm.weight`, hiddenSize),
    ...(normsOutputs ? [scale(`${prefix}.pre_feedforward_layernorm.weight`, hiddenSize)] : []),
    matrix(`${prefix}.mlp.gate_proj.weight`, intermediateSize, hiddenSize),
    matrix(`${prefix}.mlp.up_proj.weight`, intermediateSize, hiddenSize),
    matrix(`${prefix}.mlp.down_proj.weight`, hiddenSize, intermediateSize),
    ...(normsOutputs ? [scale(`${prefix}.post_feedforward_layernorm.weight`, hiddenSize)] : []),
  ]
}

/** The scalar value head of an actor-critic: value = hidden . weight + bias. Kept in a file of its own. */
export const valueHeadSpecs = (config: ModelConfig): TensorSpec[] => [
  matrix('value_head.weight', 1, config.hiddenSize),
  bias('value_head.bias', 1),
]

/** File beside model.safetensors that holds the value head. */
export const valueHeadFile = 'value_head.safetensors'

export const elementCount = (shape: readonly number[]): number =>
  shape.reduce((product, dimension) => product * dimension, 1)

/**
 * Fresh weights: matrices from normal(0, config.initializerRange), norms 1, biases 0. Each tensor has a random stream of
 * its own named after it, so a deeper model starts with the same first layers. `embeddingStd` overrides the spread of
 * the embedding matrix.
 */
export const initWeights = (
  config: ModelConfig,
  seed: number | string,
  options: { embeddingStd?: number } = {},
): NamedTensors => {
  const stdOf = (name: string) =>
    name === 'model.embed_tokens.weight'
      ? (options.embeddingStd ?? config.initializerRange)
      : config.initializerRange
  return initTensors(tensorSpecs(config), new Rng(seed), stdOf)
}

/** A fresh value head: weights from normal(0, config.initializerRange), bias 0. */
export const initValueHead = (config: ModelConfig, seed: number | string): NamedTensors =>
  initTensors(valueHeadSpecs(config), new Rng(seed), () => config.initializerRange)

const initTensors = (specs: TensorSpec[], rng: Rng, stdOf: (name: string) => number): NamedTensors => {
  const tensors: NamedTensors = new Map()
  for (const { name, shape, init } of specs) {
    const data = new Float32Array(elementCount(shape))
    if (init === 'ones') data.fill(1)
    if (init === 'normal') fillNormal(data, rng.fork(name), stdOf(name))
    tensors.set(name, { shape, data })
  }
  return tensors
}

const fillNormal = (data: Float32Array, rng: Rng, std: number) => {
  for (let i = 0; i < data.length; i++) data[i] = std * rng.normal()
}

export interface LoadOptions {
  /** Where a tensor's values go, for example a view into one flat buffer; a new array by default. */
  allocate?: (name: string, length: number) => Float32Array
  /** Called with the names of tensors in the files that the model has no use for. */
  onUnexpected?: (names: string[]) => void
}

/**
 * Loads all weights from a checkpoint folder: `model.safetensors`, or the shards that `model.safetensors.index.json`
 * lists; or from a GGUF file. Whatever they are stored as, they become float32; one tensor is read at a time.
 * @throws CheckpointError for a missing file or tensor, a wrong shape, or a file that is broken or cut short.
 */
export const loadWeights = (dir: string, config: ModelConfig, options: LoadOptions = {}): NamedTensors => {
  const files = openWeightFiles(dir, config)
  try {
    const tensors = readSpecs(tensorSpecs(config), locate(files), dir, options)
    reportUnexpected(files, config, tensors, options)
    return tensors
  } finally {
    for (const file of files) file.close()
  }
}

/** Weights that are read one at a time; `close` when done. */
export interface OpenWeights {
  /** @throws CheckpointError for one that is not finite, or a file cut short meanwhile */
  read(name: string): Float32Array
  close(): void
}

/**
 * Opens the files of `loadWeights` and checks them, and reads nothing yet.
 * @throws CheckpointError as `loadWeights` does
 */
export const openWeights = (dir: string, config: ModelConfig): OpenWeights => {
  const files = openWeightFiles(dir, config)
  const close = () => {
    for (const file of files) file.close()
  }
  try {
    const fileByName = locate(files)
    checkSpecs(tensorSpecs(config), fileByName, dir)
    return { read: name => readFinite(fileByName.get(name)!, name), close }
  } catch (error) {
    close()
    throw error
  }
}

/**
 * Checks the files of `loadWeights` without reading the weights: they are there, whole, and fit the configuration.
 * @throws CheckpointError as `loadWeights` does
 */
export const checkWeights = (dir: string, config: ModelConfig): void => openWeights(dir, config).close()

/**
 * Loads the value head from a checkpoint folder, or null when it has none.
 * @throws CheckpointError when the file is there and does not fit the model.
 */
export const loadValueHead = (
  dir: string,
  config: ModelConfig,
  options: Pick<LoadOptions, 'allocate'> = {},
): NamedTensors | null => {
  const path = join(dir, valueHeadFile)
  return existsSync(path) ? loadSpecsFromFile(path, valueHeadSpecs(config), options) : null
}

/**
 * Loads exactly the given tensors from one file.
 * @throws CheckpointError for a missing tensor, a wrong shape or a broken file.
 */
export const loadSpecsFromFile = (
  path: string,
  specs: readonly Pick<TensorSpec, 'name' | 'shape'>[],
  options: LoadOptions = {},
): NamedTensors => {
  const file = SafetensorsFile.open(path)
  try {
    const tensors = readSpecs(specs, locate([file]), path, options)
    const unexpected = file.names().filter(name => !tensors.has(name))
    if (unexpected.length > 0) options.onUnexpected?.(unexpected)
    return tensors
  } finally {
    file.close()
  }
}

const singleFile = 'model.safetensors'
const indexFile = 'model.safetensors.index.json'

/** What llama.cpp would add to a computation (a bias, say) is no tensor to pass over, and it refuses what it has no use for as well. */
const openGguf = (path: string, config: ModelConfig): TensorFile => {
  const file = openTensors(ggufHeader(path))
  const known = new Set(tensorSpecs(config).map(({ name }) => name))
  const other = file.names().find(name => !known.has(name))
  if (other === undefined) return file
  file.close()
  throw new CheckpointError(
    `${path}: ${other}: expected tensors of its architecture alone, got another one`,
    {
      hint: 'this model computes something that is not supported, or the file is damaged',
    },
  )
}

const openWeightFiles = (dir: string, config: ModelConfig): TensorFile[] => {
  const gguf = ggufOf(dir)
  if (gguf !== null) return [openGguf(gguf, config)]
  const names = weightFileNames(dir)
  const files: SafetensorsFile[] = []
  try {
    for (const name of names) files.push(SafetensorsFile.open(join(dir, name)))
    return files
  } catch (error) {
    for (const file of files) file.close()
    throw error
  }
}

const weightFileNames = (dir: string): string[] => {
  if (existsSync(join(dir, singleFile))) return [singleFile]
  if (existsSync(join(dir, indexFile))) return shardNames(join(dir, indexFile))
  const pickled = existsSync(dir) && readdirSync(dir).some(name => /\.(bin|pth?)$/.test(name))
  throw new CheckpointError(`${dir}: expected ${singleFile} or ${indexFile}, found neither`, {
    hint: pickled ? 'convert the weights to safetensors first' : 'check the checkpoint folder',
  })
}

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) })

export const shardNames = (path: string): string[] => {
  const index = indexSchema.safeParse(readJson(path))
  if (!index.success)
    throw new CheckpointError(`${path}: weight_map: expected tensor names with file names`, {
      hint: 'fetch the index file again',
    })
  const names = [...new Set(Object.values(index.data.weight_map))].sort()
  for (const name of names)
    if (name !== basename(name) || !name.endsWith('.safetensors'))
      throw new CheckpointError(
        `${path}: expected file names within the folder that end in .safetensors, got ${JSON.stringify(name).slice(0, 80)}`,
      )
  return names
}

/** JSON and templates of a checkpoint; the vocabularies of today have up to 40 MB. */
const MAX_TEXT_BYTES = 512 * 2 ** 20

/**
 * Reads a text file of a checkpoint.
 * @throws CheckpointError when it cannot be read, is no UTF-8, or is longer than 512 MiB
 */
export const readCheckpointText = (path: string): string => {
  try {
    const { size } = statSync(path)
    if (size > MAX_TEXT_BYTES)
      throw new CheckpointError(`${path}: expected at most ${MAX_TEXT_BYTES} bytes, got ${size}`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof CheckpointError) throw error
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'not UTF-8 text' : `cannot be read (${code})`
    throw new CheckpointError(`${path}: ${why}`, { hint: 'check the checkpoint folder', cause: error })
  }
}

/** Reads a JSON file of a checkpoint. @throws CheckpointError when it is missing or not JSON. */
export const readJson = (path: string): unknown => parseCheckpointJson(readCheckpointText(path), path)

/** @throws CheckpointError when the text of the file at `path` is not JSON */
export const parseCheckpointJson = (text: string, path: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    const { message } = error as Error
    const why = /call stack/i.test(message) ? 'nested too deeply' : message
    throw new CheckpointError(`${path}: not JSON: ${why}`, {
      hint: 'check the checkpoint folder',
      cause: error,
    })
  }
}

const locate = (files: readonly TensorFile[]): Map<string, TensorFile> =>
  new Map(files.flatMap(file => file.names().map(name => [name, file] as const)))

const checkSpecs = (
  specs: readonly Pick<TensorSpec, 'name' | 'shape'>[],
  fileByName: Map<string, TensorFile>,
  place: string,
): void => {
  const missing = specs.filter(({ name }) => !fileByName.has(name)).map(({ name }) => name)
  if (missing.length > 0)
    throw new CheckpointError(`${place}: missing ${listOf(missing)}`, {
      hint: 'the weights do not belong to this config, or a shard is incomplete',
    })
  for (const spec of specs) checkStoredShape(spec, fileByName.get(spec.name)!)
}

const readSpecs = (
  specs: readonly Pick<TensorSpec, 'name' | 'shape'>[],
  fileByName: Map<string, TensorFile>,
  place: string,
  options: LoadOptions,
): NamedTensors => {
  checkSpecs(specs, fileByName, place)
  const tensors: NamedTensors = new Map()
  for (const { name, shape } of specs) {
    const data = readFinite(fileByName.get(name)!, name, options.allocate?.(name, elementCount(shape)))
    tensors.set(name, { shape, data })
  }
  return tensors
}

const readFinite = (file: TensorFile, name: string, target?: Float32Array): Float32Array => {
  const data = file.read(name, target)
  refuseNonFinite(data, `${file.path}: ${name}`)
  return data
}

/** One such number makes every output of the model one. @throws CheckpointError with the place and the element */
export const refuseNonFinite = (data: Float32Array, place: string): void => {
  for (let i = 0; i < data.length; i++)
    if (data[i] - data[i] !== 0)
      throw new CheckpointError(`${place}: expected finite numbers, got ${data[i]} at element ${i}`, {
        hint: 'the weights are damaged, or their training diverged: take another checkpoint',
      })
}

const listOf = (names: readonly string[]): string => {
  const shown = names.slice(0, 5).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more tensors` : shown
}

const checkStoredShape = ({ name, shape }: Pick<TensorSpec, 'name' | 'shape'>, file: TensorFile) => {
  const stored = file.info(name).shape
  if (stored.length === shape.length && stored.every((dimension, axis) => dimension === shape[axis])) return
  throw new CheckpointError(
    `${file.path}: ${name}: expected shape [${shape.join(', ')}], got [${stored.join(', ')}]`,
    { hint: 'config.json and the weights do not belong together' },
  )
}

/** Old checkpoints store tensors that follow from the config; they are no surprise. */
const isRedundant = (name: string, config: ModelConfig) =>
  name.endsWith('.rotary_emb.inv_freq') || (config.tieEmbeddings && name === 'lm_head.weight')

const reportUnexpected = (
  files: readonly TensorFile[],
  config: ModelConfig,
  tensors: NamedTensors,
  options: LoadOptions,
) => {
  const stored = files.flatMap(file => file.names())
  const unexpected = stored.filter(name => !tensors.has(name) && !isRedundant(name, config))
  if (unexpected.length > 0) options.onUnexpected?.(unexpected)
}
