/** @file Files of a run that may have come from anywhere: a pipe or a device among them is not read. */

import { statSync } from 'node:fs'
import { DataError } from '../util/errors.ts'
import { withFile } from '../util/file-failure.ts'

/**
 * Whether there is a file to be read.
 * @throws DataError for a pipe or a device, which waits for somebody who writes, or never ends
 */
export const hasFile = (path: string): boolean => {
  const found = withFile(path, () => statSync(path, { throwIfNoEntry: false }))
  if (!found) return false
  // A folder is refused by whoever reads it.
  if (found.isFile() || found.isDirectory()) return true
  throw new DataError(`${path}: expected a file, got a pipe or a device`, {
    hint: 'put the file there, or remove it',
  })
}
