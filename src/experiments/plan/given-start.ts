/** @file Cold starts that are models which are there: nothing is trained for them, and their weights are what they are told by. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ggufOf } from '../../model/gguf/folder.ts'
import { modelPath } from '../../model/model-place.ts'
import { shortHash } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { hashFile } from '../../util/manifest.ts'

/** A checkpoint of a run also has the optimiser's moments and what was sampled ahead, which decide nothing here. */
const WEIGHTS = /^(?:model.*|adapter_model|value_head)\.safetensors$/

/** A checkpoint folder or GGUF file that a registration names as a start. */
export interface GivenStart {
  /** As a path of this machine; `package:` and names are resolved. */
  folder: string
  /** Short hash over the SHA-256 of every file of weights: the same wherever the folder lies. */
  weights: string
}

/** Files of weights in a folder, or the GGUF file that it is or holds, in order, by what they are called in a hash; none where there are none. */
const weightFiles = (folder: string): [called: string, path: string][] => {
  const gguf = ggufOf(folder)
  if (gguf !== null) return [['model.gguf', gguf]]
  try {
    return readdirSync(folder)
      .filter(file => WEIGHTS.test(file))
      .sort()
      .map(file => [file, join(folder, file)])
  } catch {
    return []
  }
}

/**
 * Finds the model of a start and reads its weights once, for their hash.
 * @param place in the registration
 * @throws ConfigError where the folder holds no weights
 */
export const givenStart = (model: string, place: string): GivenStart => {
  const folder = modelPath(model)
  const files = weightFiles(folder)
  if (files.length === 0)
    throw new ConfigError(
      `${place}.model: expected a checkpoint folder with .safetensors files or a .gguf file, got ${model}, which is none`,
      {
        hint: 'paths are taken from the working directory; package:models/NAME is a model that ships with the package',
      },
    )
  const weights = shortHash(files.map(([called, path]) => [called, hashFile(path).sha256]))
  return { folder, weights }
}
