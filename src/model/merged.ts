/** @file A model with its adapter added to its weights, one weight at a time. */

import { loadConfig } from './checkpoint.ts'
import type { ModelConfig } from './config.ts'
import { adapterBase, isAdapterFolder, loadAdapter, mergeInto } from './lora-files.ts'
import { type OpenWeights, openWeights } from './weights.ts'

export interface MergedModel extends OpenWeights {
  config: ModelConfig
  /** The whole model, whose tokenizer it is. */
  base: string
}

/**
 * Opens a whole model, or an adapter with the base that it names; `close` it after use.
 * @throws CheckpointError for anything missing, damaged or not belonging together
 */
export const openMerged = (folder: string): MergedModel => {
  const isAdapter = isAdapterFolder(folder)
  const base = isAdapter ? adapterBase(folder) : folder
  const config = loadConfig(base)
  const adapter = isAdapter ? loadAdapter(folder, config) : null
  const { read, close } = openWeights(base, config)
  const readMerged = (name: string) => {
    const data = read(name)
    if (adapter) mergeInto(name, data, adapter)
    return data
  }
  return { config, base, read: readMerged, close }
}
