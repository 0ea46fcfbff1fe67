/** @file Models that a command line names: brought to this machine before the command opens them. */

import { bringModel, type ModelPart } from '../model/bring-model.ts'
import { isAdapterFolder } from '../model/lora-files.ts'
import { existingModel } from '../recipes/common/starting-model.ts'
import { UsageError } from '../util/errors.ts'
import { StatusLine } from '../util/status-line.ts'
import type { Io } from './io.ts'

/** A model on this machine, and an adapter that goes on it. */
export interface BroughtModel {
  folder: string
  adapter?: string
}

/**
 * The path of a model that an option names.
 * @throws as `bringModel`; CheckpointError where there is no model
 */
export const broughtFolder = async (
  place: string,
  option: string,
  io: Io,
  only: ModelPart = 'all',
): Promise<string> => {
  await bringModel(place, { only, status: new StatusLine(io.err) })
  return existingModel(place, option)
}

/** `--model` and `--adapter`. @throws as `broughtFolder`; UsageError for an adapter that is none */
export const broughtModel = async (
  { model, adapter: place }: { model: string; adapter?: string },
  io: Io,
): Promise<BroughtModel> => {
  const folder = await broughtFolder(model, '--model', io)
  if (place === undefined) return { folder }
  const adapter = await bringModel(place, { withBase: false, status: new StatusLine(io.err) })
  if (isAdapterFolder(adapter)) return { folder, adapter }
  throw new UsageError(`--adapter: expected a folder with adapter_config.json, got ${place}`, {
    hint: 'a whole model goes in --model',
  })
}
