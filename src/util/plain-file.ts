/** @file Files of runs and models that may have come from anywhere: a pipe or a device among them is not read. */

import { existsSync, statSync } from 'node:fs'
import { DataError } from './errors.ts'
import { withFile } from './file-failure.ts'

/**
 * Whether there is a file to be read.
 * @throws DataError for a folder, and for a pipe or a device, which waits for somebody who writes, or never ends
 */
export const hasFile = (path: string): boolean => {
  // Below a file, as in `model.gguf/manifest.json`, there is nothing either.
  if (!existsSync(path)) return false
  const found = withFile(path, () => statSync(path))
  if (found.isFile()) return true
  const what = found.isDirectory() ? 'a folder' : 'a pipe or a device'
  throw new DataError(`${path}: expected a file, got ${what}`, {
    hint: 'put the file there, or remove it',
  })
}
