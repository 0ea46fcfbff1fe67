/** @file A folder that is replaced as a whole: readers find the old content or the new, never a mixture. */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { sweepLeftovers, syncFolder, temporaryPath } from '../util/atomic.ts'
import { CheckpointError } from '../util/errors.ts'
import { wordsOfCode } from '../util/file-failure.ts'

const oldPath = (dir: string) => `${dir}.old`

/** Any of these marks a folder as one that Gradus or another trainer wrote, so that it may be replaced. */
const markers = ['config.json', 'adapter_config.json']

/**
 * Lets `write` fill a new folder beside `dir` and then puts it in the place of `dir`. Whenever the process dies, `dir`
 * (after `recoverFolder`, which every loader calls) is the old folder or the complete new one.
 * @throws CheckpointError when `dir` holds something that is not a checkpoint, or when writing fails (a full disk);
 * the old folder is then as it was and nothing is left beside it. What saves that were killed left is removed first.
 */
export const replaceFolder = (dir: string, write: (folder: string) => void): void => {
  const target = resolve(dir)
  recoverFolder(target)
  refuseForeignFolder(target)
  const fresh = temporaryPath(target)
  try {
    sweepLeftovers(dirname(target))
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh, { recursive: true })
    write(fresh)
    syncFolder(fresh)
    swap(target, fresh)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    throw describeFailure(target, error)
  }
}

/**
 * Finishes a replacement that was interrupted: between its two renames `dir` does not exist and the old folder lies
 * beside it. Does nothing in every other state.
 */
export const recoverFolder = (dir: string): void => {
  const target = resolve(dir)
  if (existsSync(target) || !existsSync(oldPath(target))) return
  renameSync(oldPath(target), target)
}

const swap = (target: string, fresh: string) => {
  const old = oldPath(target)
  rmSync(old, { recursive: true, force: true })
  const replaces = existsSync(target)
  if (replaces) renameSync(target, old)
  try {
    renameSync(fresh, target)
  } catch (error) {
    if (replaces) renameSync(old, target)
    throw error
  }
  syncFolder(dirname(target))
  rmSync(old, { recursive: true, force: true })
}

const refuseForeignFolder = (target: string) => {
  if (!existsSync(target)) return
  const names = statSync(target).isDirectory() ? readdirSync(target) : ['a file']
  if (names.length === 0 || markers.some(marker => existsSync(join(target, marker)))) return
  throw new CheckpointError(
    `${target}: expected a checkpoint folder or nothing, found ${names.slice(0, 3).join(', ')}`,
    { hint: 'choose another folder: saving replaces everything in it' },
  )
}

const describeFailure = (target: string, error: unknown): unknown => {
  const code = (error as NodeJS.ErrnoException).code
  const isFileSystemError = typeof code === 'string' && 'syscall' in (error as object)
  if (!isFileSystemError) return error
  const { what, hint } = wordsOfCode(code)
  return new CheckpointError(`${target}: cannot be written: ${what}; what was there is unchanged`, {
    hint,
    cause: error,
  })
}
