/** @file Public data that lies beside the project on some machines and is never part of it. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Path of a file under `../shared/data` beside the project root, or null where it does not exist (tests then skip). */
export const sharedData = (name: string): string | null => {
  const path = fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url))
  return existsSync(path) ? path : null
}
