/** @file Models that a command line names: fetched to this machine before the command opens them. */

import { existsSync, realpathSync } from 'node:fs'
import { fetchModel } from '../model/fetch-model.ts'
import { adapterBase, adapterBaseName, isAdapterFolder, tokenizerFolder } from '../model/lora-files.ts'
import { existingModel } from '../recipes/common/starting-model.ts'
import { UsageError } from '../util/errors.ts'
import { cachedName } from '../util/hub-cache.ts'
import { StatusLine } from '../util/status-line.ts'
import type { Io } from './io.ts'

/** A model on this machine, and an adapter that goes on it. */
export interface FetchedModel {
  folder: string
  adapter?: string
}

/** The folder of a tokenizer that an option names, by its model. @throws as `fetchModel` */
export const fetchedTokenizer = async (place: string, io: Io): Promise<string> =>
  tokenizerFolder(await fetchModel(place, { only: 'words', status: new StatusLine(io.err) }))

const realOf = (path: string): string =>
  cachedName(path)?.repo ?? (existsSync(path) ? realpathSync(path) : path)

/** An adapter fits any model of the same shape, whatever it makes of it. */
const noteOtherBase = (folder: string, adapter: string, io: Io): void => {
  const base = adapterBaseName(adapter)?.repo ?? realOf(adapterBase(adapter))
  if (base !== realOf(folder))
    io.err.write(`note: the adapter was trained on ${base}, and goes on ${realOf(folder)}\n`)
}

/** `--model` and `--adapter`. @throws as `fetchModel`; CheckpointError where there is no model; UsageError for an adapter that is none */
export const fetchedModel = async (
  { model, adapter: place, signal }: { model: string; adapter?: string; signal?: AbortSignal },
  io: Io,
): Promise<FetchedModel> => {
  const status = new StatusLine(io.err)
  await fetchModel(model, { status, signal })
  const folder = existingModel(model, '--model')
  if (place === undefined) return { folder }
  const adapter = await fetchModel(place, { withBase: false, status, signal })
  if (isAdapterFolder(adapter)) {
    noteOtherBase(folder, adapter, io)
    return { folder, adapter }
  }
  throw new UsageError(`--adapter: expected a folder with adapter_config.json, got ${place}`, {
    hint: 'a whole model goes in --model',
  })
}
