/** @file The files of a model by name: in a folder, or what a GGUF file holds in their stead. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CheckpointError } from '../util/errors.ts'
import { ggufJson, ggufOf, ggufText, hasGgufFile } from './gguf/folder.ts'
import { adapterBase } from './lora-files.ts'
import { readCheckpointText, readJson } from './weights.ts'

/** Whether a path names a whole model: a folder with a configuration, a GGUF file, or a folder with one GGUF file. */
export const isModel = (path: string): boolean =>
  ggufOf(path) !== null || existsSync(join(path, 'config.json'))

/** Folder of the model that an adapter goes on. @throws CheckpointError where it is not there */
export const baseFolder = (adapter: string): string => {
  const base = adapterBase(adapter)
  if (isModel(base)) return base
  throw new CheckpointError(`${adapter}: its base model ${base} is not here`, {
    hint: 'put the base model where adapter_config.json says; one that has a name on the hub is fetched by whatever opens the adapter',
  })
}

/** @throws CheckpointError for a GGUF file that is damaged */
export const hasModelFile = (model: string, name: string): boolean => {
  const gguf = ggufOf(model)
  return gguf === null ? existsSync(join(model, name)) : hasGgufFile(gguf, name)
}

/** Text of one of a model's files. @throws CheckpointError where it is not there or cannot be read */
export const readModelText = (model: string, name: string): string => {
  const gguf = ggufOf(model)
  return gguf === null ? readCheckpointText(join(model, name)) : ggufText(gguf, name)
}

/** Content of one of a model's JSON files. @throws CheckpointError where it is not there or cannot be read */
export const readModelJson = (model: string, name: string): unknown => {
  const gguf = ggufOf(model)
  return gguf === null ? readJson(join(model, name)) : ggufJson(gguf, name)
}
