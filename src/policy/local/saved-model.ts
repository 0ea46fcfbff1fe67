/** @file The folder of a model in training: what of it is written there, and what is read back from there. */

import { join } from 'node:path'
import { assertWholeModel, saveCheckpoint, writeCompanions } from '../../model/checkpoint.ts'
import { loadAdapter, saveAdapter } from '../../model/lora-files.ts'
import { writeSafetensors } from '../../model/safetensors.ts'
import { loadValueHead, loadWeights, valueHeadFile } from '../../model/weights.ts'
import type { LoadedSource } from './model-source.ts'
import { dataOf, OPTIMIZER_FILE } from './optimizer-file.ts'
import type { Trained } from './trained.ts'

/**
 * Writes a checkpoint, or an adapter's folder, as a whole; see `saveCheckpoint` and `saveAdapter`.
 * @param writeMore adds files to the folder before it takes its place
 */
export const saveModel = (
  folder: string,
  { config, weights, adapter, lora, valueHead, files, baseModel }: LoadedSource,
  writeMore: (target: string) => void,
): void => {
  if (lora === null || adapter === null) {
    saveCheckpoint(folder, { config, weights, valueHead, files }, { writeMore })
    return
  }
  const writeAll = (target: string) => {
    writeCompanions(target, files, config)
    if (valueHead) writeSafetensors(join(target, valueHeadFile), valueHead)
    writeMore(target)
  }
  saveAdapter(folder, { lora, tensors: adapter, baseModel }, { writeMore: writeAll })
}

/**
 * The numbers of the trained tensors in a folder that `saveModel` wrote, in their order.
 * @throws CheckpointError for anything missing, of another size, or not as its manifest says
 */
export const readTrained = (
  folder: string,
  { config, lora, valueHead }: LoadedSource,
  trained: readonly Trained[],
): Float32Array[] => {
  assertWholeModel(folder, [OPTIMIZER_FILE])
  const main = lora ? loadAdapter(folder, config).tensors : loadWeights(folder, config)
  const tensors = new Map([...main, ...((valueHead && loadValueHead(folder, config)) || [])])
  return trained.map(({ name, param: { length } }) => dataOf(tensors, name, length, folder))
}
