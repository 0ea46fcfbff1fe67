/** @file Public data and models that lie beside the project on some machines and are never part of it. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path of a file under `../shared/data` beside the project root, or null where it does not exist (tests then skip). */
export const sharedData = (name: string): string | null => {
  const path = fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url))
  return existsSync(path) ? path : null
}

/**
 * Path of a public model in the folder that GRADUS_MODELS names, or null where that is not set or has none of this name (tests then
 * skip).
 */
export const realModel = (name: string, env: NodeJS.ProcessEnv = process.env): string | null => {
  const path = env.GRADUS_MODELS ? join(env.GRADUS_MODELS, name) : null
  return path !== null && existsSync(path) ? path : null
}
