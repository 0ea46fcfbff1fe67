/** @file What a configuration is checked for: a plan, or a run. */

import { existsSync } from 'node:fs'
import { holdsModel, type ModelPart } from '../../model/fetch-model.ts'
import { modelNameOf, modelPath } from '../../model/model-place.ts'
import { ConfigError } from '../../util/errors.ts'
import { resolveShipped } from '../../util/package.ts'
import { hasRows } from '../../util/prefetched-rows.ts'

/** A plan may name a model and data that are to be put in place later, and says so; a run may not. */
export type RunMode = 'plan' | 'run'

/** `hf://datasets/...`, `https://...`: nothing that could come to lie on this disk under that name. */
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i

/**
 * Whether a file or folder is to be put in place later. Prefetched rows (`data-files.ts`) are there.
 * @throws ConfigError for an address, which no run can open
 */
export const mayBeMissing = (path: string, purpose: RunMode): boolean => {
  if (hasRows(path)) return false
  if (ADDRESS.test(path))
    throw new ConfigError(`${path}: expected a file or folder of this machine, got an address`, {
      hint: 'download it first, and name the copy',
    })
  return purpose === 'plan' && !existsSync(resolveShipped(path))
}

/** The same for a model; one with a name on the hub comes when the run fetches it. */
export const modelMayBeMissing = (place: string, purpose: RunMode, only: ModelPart = 'all'): boolean =>
  modelNameOf(place) === null
    ? mayBeMissing(place, purpose)
    : purpose === 'plan' && !holdsModel(modelPath(place), only)
