/** @file Whether dist/ is newer than every source file. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Written when dist/ is whole. */
export const stamp = join(root, 'dist', '.built')

const newest = path => {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(0, ...readdirSync(path).map(name => newest(join(path, name))))
}

export const isFresh = () => {
  if (!existsSync(stamp)) return false
  const sources = ['src', 'assembly', 'tsconfig.json', 'scripts'].map(name => join(root, name))
  return Math.max(...sources.filter(existsSync).map(newest)) <= statSync(stamp).mtimeMs
}
