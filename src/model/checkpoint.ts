/** @file A model folder as Hugging Face lays it out: config.json, model.safetensors, tokenizer files; saved as a whole. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../util/atomic.ts'
import { CheckpointError } from '../util/errors.ts'
import { assertAsSaved } from '../util/manifest.ts'
import { type ModelConfig, parseModelConfig, toHfConfig } from './config.ts'
import type { WeightDtype } from './dtype.ts'
import { recoverFolder, replaceFolder } from './folder.ts'
import { loadGenerationConfig } from './generation-config.ts'
import { hasModelFile, readModelJson, readModelText } from './model-files.ts'
import { type NamedTensors, writeSafetensors } from './safetensors.ts'
import { assertTokenizerFits, hasTokenizer, loadTokenizer, type Tokenizer } from './tokenizer.ts'
import {
  type LoadOptions,
  loadValueHead,
  loadWeights,
  tensorSpecs,
  valueHeadFile,
  valueHeadSpecs,
} from './weights.ts'

/** Text files that travel with a model from checkpoint to checkpoint, where it has them. */
export const companionNames = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'merges.txt',
  'chat_template.jinja',
  'generation_config.json',
]

const OWN_FILES = new Set([...companionNames, 'config.json', 'adapter_config.json', valueHeadFile])
const WEIGHT_FILE = /^(?:adapter_)?model(?:-.*)?\.safetensors(?:\.index\.json)?$/

/** Whether a file of a checkpoint is part of the model, not of the training that goes on from it. */
const isModelFile = (name: string): boolean => OWN_FILES.has(name) || WEIGHT_FILE.test(name)

/**
 * Refuses a model whose folder has a manifest and is not as it was saved. Files of a training beside it may be gone.
 * @param more files that are wanted as well
 * @throws CheckpointError
 */
export const assertWholeModel = (dir: string, more: readonly string[] = []): void =>
  assertAsSaved(dir, { only: name => isModelFile(name) || more.includes(name) })

/** Tokenizer, template and generation files of a folder by name, to hand to `saveCheckpoint`. */
export const readCompanionFiles = (dir: string): Map<string, string> => {
  recoverFolder(dir)
  const present = companionNames.filter(name => hasModelFile(dir, name))
  return new Map(present.map(name => [name, readModelText(dir, name)]))
}

export interface CheckpointContent {
  config: ModelConfig
  weights: NamedTensors
  /** Stored beside the model in `value_head.safetensors`. */
  valueHead?: NamedTensors | null
  /** Tokenizer and other small text files by name (`readCompanionFiles`). */
  files?: ReadonlyMap<string, string>
}

export interface SaveOptions {
  /** How weights are stored; training continues exactly only from float32. */
  dtype?: WeightDtype
  /** Adds files of the same checkpoint (optimiser and run state) to the folder before it takes its place. */
  writeMore?: (folder: string) => void
}

/**
 * Saves a model folder that the transformers library, vLLM and others open. The folder appears complete or not at all,
 * also when the process dies half-way; an older checkpoint there stays until then.
 * @throws CheckpointError when tensors are missing or misshapen, or when the folder cannot be written.
 */
export const saveCheckpoint = (dir: string, content: CheckpointContent, options: SaveOptions = {}): void => {
  const { config, weights, valueHead, files = new Map<string, string>() } = content
  const dtype = options.dtype ?? 'float32'
  checkTensors(weights, tensorSpecs(config))
  if (valueHead) checkTensors(valueHead, valueHeadSpecs(config))
  replaceFolder(dir, folder => {
    writeCompanions(folder, files, config)
    writeSafetensors(join(folder, 'model.safetensors'), weights, { dtype })
    if (valueHead) writeSafetensors(join(folder, valueHeadFile), valueHead, { dtype: 'float32' })
    options.writeMore?.(folder)
    writeFileAtomic(join(folder, 'config.json'), toJsonText(toHfConfig(config, dtype)))
  })
}

/** Writes what travels with a model, and how it generates where the original model had nothing of its own to say. */
export const writeCompanions = (
  folder: string,
  files: ReadonlyMap<string, string>,
  config: ModelConfig,
): void => {
  for (const [name, text] of files) writeFileAtomic(join(folder, name), text)
  if (!files.has('generation_config.json'))
    writeFileAtomic(join(folder, 'generation_config.json'), toJsonText(generationConfig(config)))
}

const toJsonText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** What the transformers library reads for generation. */
const generationConfig = ({ bosTokenId, eosTokenIds }: ModelConfig) => ({
  ...(bosTokenId === null ? {} : { bos_token_id: bosTokenId }),
  ...(eosTokenIds.length === 0
    ? {}
    : { eos_token_id: eosTokenIds.length === 1 ? eosTokenIds[0] : eosTokenIds }),
})

const checkTensors = (tensors: NamedTensors, specs: readonly { name: string; shape: number[] }[]) => {
  for (const { name, shape } of specs) {
    const got = tensors.get(name)?.shape
    if (got?.join() !== shape.join())
      throw new CheckpointError(
        `${name}: expected shape [${shape.join(', ')}] to save, got ${got ? `[${got.join(', ')}]` : 'nothing'}`,
      )
  }
  const known = new Set(specs.map(spec => spec.name))
  const surplus = [...tensors.keys()].find(name => !known.has(name))
  if (surplus)
    throw new CheckpointError(`${surplus}: the model has no such tensor; it cannot be saved with it`)
}

export interface Checkpoint {
  config: ModelConfig
  weights: NamedTensors
  valueHead: NamedTensors | null
  /** Null when the folder has no tokenizer: such a model is used with token ids. */
  tokenizer: Tokenizer | null
}

/**
 * Reads a folder's config.json. Tokens that end a text are also those of its generation_config.json: checkpoints differ in which of
 * the two names the end of a turn.
 * @throws CheckpointError when it is missing, damaged or describes a model that is not supported.
 */
export const loadConfig = (dir: string): ModelConfig => {
  recoverFolder(dir)
  if (!existsSync(dir))
    throw new CheckpointError(`${dir}: no such checkpoint folder`, { hint: 'check the path' })
  const config = parseModelConfig(readModelJson(dir, 'config.json'), join(dir, 'config.json'))
  const { eosTokenIds } = loadGenerationConfig(dir)
  const beyond = eosTokenIds.find(id => id >= config.vocabSize)
  if (beyond === undefined)
    return { ...config, eosTokenIds: [...new Set([...config.eosTokenIds, ...eosTokenIds])] }
  throw new CheckpointError(
    `${join(dir, 'generation_config.json')}: eos_token_id: expected ids below vocab_size = ${config.vocabSize}, got ${beyond}`,
  )
}

/**
 * Loads a model folder: config, weights as float32, value head and tokenizer where there are any.
 * @throws CheckpointError for anything missing, damaged or not belonging together.
 */
export const loadCheckpoint = (dir: string, options: LoadOptions = {}): Checkpoint => {
  const config = loadConfig(dir)
  assertWholeModel(dir)
  const tokenizer = hasTokenizer(dir) ? loadTokenizer(dir) : null
  if (tokenizer) assertTokenizerFits(tokenizer, config, dir)
  const weights = loadWeights(dir, config, options)
  return { config, weights, valueHead: loadValueHead(dir, config, options), tokenizer }
}
