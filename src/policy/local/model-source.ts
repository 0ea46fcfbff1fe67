/** @file Where a policy's model comes from: a checkpoint, an adapter with the base that it names, or fresh weights. */

import { assertWholeModel, loadConfig, readCompanionFiles } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import {
  adapterBase,
  initLora,
  isAdapterFolder,
  type LoraConfig,
  loadAdapter,
} from '../../model/lora-files.ts'
import { isModel } from '../../model/model-files.ts'
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
export const sourceConfig = ({ init, folder }: ModelSource): ModelConfig => {
  if (init) return init.config
  if (!folder) throw noSource()
  return loadConfig(isAdapterFolder(folder) ? baseFolder(folder) : folder)
}

const noSource = () =>
  new CheckpointError('a model needs a checkpoint folder or a configuration to start from', {
    hint: 'set model.folder or model.init',
  })

/** Told what tensors come, it says where their values go. */
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

/** A folder with an adapter names its base model, which is loaded first. */
const loadFolder = (
  folder: string,
  source: ModelSource,
  seed: number | string,
  makeRoom?: MakeRoom,
): LoadedSource => {
  if (isAdapterFolder(folder)) {
    assertWholeModel(folder)
    const { adapter, base } = loadAdapterWithBase(folder)
    const valueHead = valueHeadOf(folder, base.config, source, seed)
    return { ...base, adapter: adapter.tensors, lora: adapter.lora, valueHead }
  }
  const config = loadConfig(folder)
  assertWholeModel(folder)
  const trained = [...tensorSpecs(config), ...(source.valueHead ? valueHeadSpecs(config) : [])]
  return {
    config,
    weights: loadWeights(folder, config, { allocate: source.lora ? undefined : makeRoom?.(trained) }),
    valueHead: valueHeadOf(folder, config, source, seed),
    adapter: source.lora ? initLora(config, source.lora, seed) : null,
    lora: source.lora ?? null,
    files: readCompanionFiles(folder),
    baseModel: folder,
  }
}

const valueHeadOf = (folder: string, config: ModelConfig, source: ModelSource, seed: number | string) =>
  source.valueHead ? (loadValueHead(folder, config) ?? initValueHead(config, seed)) : null

const baseFolder = (folder: string): string => {
  const base = adapterBase(folder)
  if (isModel(base)) return base
  throw new CheckpointError(`${folder}: its base model ${base} is not here`, {
    hint: 'put the base model folder where adapter_config.json says',
  })
}

const loadAdapterWithBase = (folder: string) => {
  const basePath = baseFolder(folder)
  const config = loadConfig(basePath)
  assertWholeModel(basePath)
  return {
    adapter: loadAdapter(folder, config),
    base: {
      config,
      weights: loadWeights(basePath, config),
      files: readCompanionFiles(basePath),
      baseModel: basePath,
    },
  }
}
