/** @file JSON Lines files that grow while others read them, and that survive a kill in the middle of a line. */

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { writeFileAtomic } from '../util/atomic.ts'
import { DataError } from '../util/errors.ts'
import type { JsonlLine } from '../util/jsonl.ts'
import { guardWrite } from './errors.ts'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The lines of a file that are whole: a torn last line (a kill, or a write still under way) is left out, and so are blank ones. */
const wholeLines = (path: string): JsonlLine[] => {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  const tail = lines.pop() ?? ''
  if (tail !== '' && isJson(tail)) lines.push(tail)
  return lines
    .map((text, index) => ({ place: `${path}:${index + 1}`, text }))
    .filter(({ text }) => text.trim() !== '')
}

const parseLine = <T>({ place, text }: JsonlLine): T => {
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw new DataError(`${place}: not JSON: ${(error as Error).message}`, {
      hint: 'remove that line, or the run',
      cause: error,
    })
  }
}

/**
 * Reads the rows of a file that may be growing; a missing file has no rows.
 * @throws DataError naming `path:line` for a broken line that is not the last
 */
export const readRows = <T>(path: string): T[] => wholeLines(path).map(parseLine<T>)

/**
 * Appends rows in one write. If the write fails part way (a full disk), the file is cut back to what it was.
 * @throws RunError that names the cause and what to do
 */
export const appendRows = (path: string, rows: readonly unknown[]): void => {
  if (rows.length === 0) return
  const bytes = Buffer.from(`${rows.map(row => JSON.stringify(row)).join('\n')}\n`)
  guardWrite(path, () => {
    const fd = openSync(path, 'a')
    const sizeBefore = fstatSync(fd).size
    try {
      let offset = 0
      while (offset < bytes.byteLength) offset += writeSync(fd, bytes, offset)
    } catch (error) {
      cutBack(fd, sizeBefore)
      throw error
    } finally {
      closeSync(fd)
    }
  })
}

const cutBack = (fd: number, size: number): void => {
  try {
    ftruncateSync(fd, size)
  } catch {
    // A device cannot be cut; the write's own error is the one worth telling.
  }
}

/** Makes what was appended so far survive a loss of power. */
export const flushRows = (path: string): void => {
  if (!existsSync(path)) return
  guardWrite(path, () => {
    const fd = openSync(path, 'r+')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  })
}

const rewriteLines = (path: string, lines: readonly JsonlLine[]): void => {
  const text = lines.map(line => `${line.text}\n`).join('')
  if (text === readFileSync(path, 'utf8')) return
  guardWrite(path, () => writeFileAtomic(path, text))
}

/** Drops a torn last line so that the next append starts on a line of its own. */
export const repairTail = (path: string): void => {
  if (existsSync(path)) rewriteLines(path, wholeLines(path))
}

/**
 * Keeps the rows with `step <= last` (and those without a step), as they were written, byte for byte.
 * @throws DataError naming `path:line` for a broken line; the file stays as it was
 */
export const keepThrough = (path: string, last: number): void => {
  if (!existsSync(path)) return
  const kept = wholeLines(path).filter(line => {
    const { step } = parseLine<{ step?: unknown }>(line)
    return typeof step !== 'number' || step <= last
  })
  rewriteLines(path, kept)
}
