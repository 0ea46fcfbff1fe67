/** @file A model with its adapter added to its weights, one weight at a time. */

import { assertWholeModel, loadConfig, readCompanionFiles } from './checkpoint.ts'
import type { ModelConfig } from './config.ts'
import { isAdapterFolder, loadAdapter, mergeInto, tokenizerFolder } from './lora-files.ts'
import { baseFolder } from './model-files.ts'
import { type OpenWeights, openWeights } from './weights.ts'

export interface MergedModel extends OpenWeights {
  config: ModelConfig
  /** Where its tokenizer and chat template are: an adapter may have its own. */
  words: string
  /** Tokenizer and other text files by name, as `saveCheckpoint` takes them. */
  files(): Map<string, string>
}

/**
 * Opens a whole model, or an adapter with the base that it names; `close` it after use.
 * @throws CheckpointError for anything missing, damaged or not belonging together
 */
export const openMerged = (folder: string): MergedModel => {
  const isAdapter = isAdapterFolder(folder)
  const base = isAdapter ? baseFolder(folder) : folder
  const config = loadConfig(base)
  for (const part of new Set([base, folder])) assertWholeModel(part)
  const adapter = isAdapter ? loadAdapter(folder, config) : null
  const { read, close } = openWeights(base, config)
  const readMerged = (name: string) => {
    const data = read(name)
    if (adapter) mergeInto(name, data, adapter)
    return data
  }
  const files = () => new Map([...readCompanionFiles(base), ...(adapter ? readCompanionFiles(folder) : [])])
  return { config, words: tokenizerFolder(folder), files, read: readMerged, close }
}
