/** @file Public data and models that lie beside the project on some machines and are never part of it. */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path of a file under `../shared/data` beside the project root, or null where it does not exist (tests then skip). */
export const sharedData = (name: string): string | null => {
  const path = fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url))
  return existsSync(path) ? path : null
}

/** Path of a public model by the name of its file or folder, in the folder that GRADUS_MODELS names or one in it; null: tests skip. */
export const realModel = (name: string, env: NodeJS.ProcessEnv = process.env): string | null => {
  const models = env.GRADUS_MODELS ?? ''
  const folders = existsSync(models) ? ['', ...readdirSync(models)] : []
  return folders.map(folder => join(models, folder, name)).find(path => existsSync(path)) ?? null
}
