/** @file Where a policy's model comes from: a checkpoint, an adapter with the base that it names, or fresh weights. */

import { assertWholeModel, loadConfig, readCompanionFiles } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { initLora, isAdapterFolder, type LoraConfig, loadAdapter } from '../../model/lora-files.ts'
import { baseFolder } from '../../model/model-files.ts'
import type { NamedTensors } from '../../model/safetensors.ts'
import {
  initValueHead,
  initWeights,
  type LoadOptions,
  loadValueHead,
  loadWeights,
  type TensorSpec,
  tensorSpecs,
  valueHeadSpecs,
} from '../../model/weights.ts'
import { CheckpointError } from '../../util/errors.ts'

/** Where a model comes from: a checkpoint folder, or fresh weights of a given shape. */
export interface ModelSource {
  folder?: string
  init?: { config: ModelConfig; seed: number | string; embeddingStd?: number; files?: Record<string, string> }
  /** Folder of an adapter that goes on the model in `folder`, whatever base it names. */
  adapter?: string
  /** Train an adapter instead of the weights. */
  lora?: LoraConfig
  /** Adds a value head (fresh unless the folder has one). */
  valueHead?: boolean
  seed?: number | string
}

/** What a source holds; trained is the adapter where there is one, and the value head. */
export interface LoadedSource {
  config: ModelConfig
  weights: NamedTensors
  valueHead: NamedTensors | null
  adapter: NamedTensors | null
  lora: LoraConfig | null
  files: ReadonlyMap<string, string>
  /** Where an adapter's base lies. */
  baseModel: string
}

/**
 * The shape of a source's model, without its weights.
 * @throws CheckpointError as `loadSource`, for a folder that is not there, has no configuration, or names no base model
 */
export const sourceConfig = ({ init, folder, adapter }: ModelSource): ModelConfig => {
  if (init) return init.config
  if (!folder) throw noSource()
  return loadConfig(partsOf(folder, adapter).base)
}

/**
 * Where a folder's model and its adapter lie.
 * @param given an adapter beside the folder
 * @throws CheckpointError for two adapters, and for a base that is not here
 */
const partsOf = (folder: string, given?: string): { base: string; adapter: string | null } => {
  if (!isAdapterFolder(folder)) return { base: folder, adapter: given ?? null }
  if (given === undefined) return { base: baseFolder(folder), adapter: folder }
  throw new CheckpointError(
    `${folder}: expected a whole model to put the adapter ${given} on, got an adapter`,
    {
      hint: 'name one of the two',
    },
  )
}

const noSource = () =>
  new CheckpointError('a model needs a checkpoint folder or a configuration to start from', {
    hint: 'set model.folder or model.init',
  })

/** Called with what tensors come, it says where their values go. */
export type MakeRoom = (specs: readonly TensorSpec[]) => LoadOptions['allocate']

/**
 * Reads or initialises a model.
 * @param makeRoom for the tensors of a whole model that are trained: they are read to where they stay, once. Others come in arrays of
 * their own
 * @throws CheckpointError for a folder that is not there, is broken, or names no base model
 */
export const loadSource = (source: ModelSource, makeRoom?: MakeRoom): LoadedSource => {
  const seed = source.seed ?? source.init?.seed ?? 0
  if (source.init) {
    const { config, embeddingStd, files = {} } = source.init
    const weights = initWeights(config, source.init.seed, { embeddingStd })
    const adapter = source.lora ? initLora(config, source.lora, seed) : null
    const valueHead = source.valueHead ? initValueHead(config, seed) : null
    return {
      config,
      weights,
      valueHead,
      adapter,
      lora: source.lora ?? null,
      files: new Map(Object.entries(files)),
      baseModel: '',
    }
  }
  if (!source.folder) throw noSource()
  return loadFolder(source.folder, source, seed, makeRoom)
}

/** Of an adapter the base model is loaded first. */
const loadFolder = (
  folder: string,
  source: ModelSource,
  seed: number | string,
  makeRoom?: MakeRoom,
): LoadedSource => {
  const { base, adapter: place } = partsOf(folder, source.adapter)
  const config = loadConfig(base)
  for (const part of [base, place]) if (part !== null) assertWholeModel(part)
  const given = place === null ? null : loadAdapter(place, config)
  const lora = given?.lora ?? source.lora ?? null
  const trained = [...tensorSpecs(config), ...(source.valueHead ? valueHeadSpecs(config) : [])]
  return {
    config,
    weights: loadWeights(base, config, { allocate: lora === null ? makeRoom?.(trained) : undefined }),
    valueHead: valueHeadOf(place ?? base, config, source, seed),
    adapter: given?.tensors ?? (lora && initLora(config, lora, seed)),
    lora,
    files: new Map([...readCompanionFiles(base), ...(place === null ? [] : readCompanionFiles(place))]),
    baseModel: base,
  }
}

const valueHeadOf = (folder: string, config: ModelConfig, source: ModelSource, seed: number | string) =>
  source.valueHead ? (loadValueHead(folder, config) ?? initValueHead(config, seed)) : null
