/** @file Runs by the folders that a person names: a run, or a folder that holds runs. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasFile } from '../util/atomic.ts'
import { RunError } from './errors.ts'

/** How deep runs may lie below a folder: a sweep, and an experiment's arms with their runs. */
const DEPTH = 5

/** A model's folder has a config.json too; a run's says what it was made with. */
export const isRunFolder = (dir: string): boolean => {
  const path = join(dir, 'config.json')
  try {
    return hasFile(path) && /"config":/.test(readFileSync(path, 'utf8'))
  } catch {
    return false
  }
}

const below = (dir: string, depth: number): string[] => {
  if (isRunFolder(dir)) return [dir]
  if (depth === 0) return []
  return readdirSync(dir, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && entry.name !== 'checkpoints' && entry.name !== 'node_modules')
    .map(entry => entry.name)
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .flatMap(name => below(join(dir, name), depth - 1))
}

/**
 * The runs in each of some folders, in their order, each once; a phase inside a run is part of it.
 * @throws RunError for a folder that is not there, or holds no run
 */
export const findRuns = (folders: readonly string[]): string[] => [
  ...new Set(
    folders.flatMap(dir => {
      const found = existsSync(dir) && statSync(dir).isDirectory() ? below(dir, DEPTH) : []
      if (found.length > 0) return found
      throw new RunError(`${dir}: there is no run here, and none in the folders below`, {
        hint: 'check the path; runs lie in the folder runs/ unless --out said otherwise',
      })
    }),
  ),
]
