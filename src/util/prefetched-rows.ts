/**
 * @file Rows that are there before whoever needs them asks: what reads its rows at once, as recipes and checks of configurations
 * do, cannot wait for a network or a Parquet file. So these are prefetched, by name, and found here.
 */

import { existsSync } from 'node:fs'
import { AS_THEY_ARE, type Columns, columnsKey } from './column-names.ts'
import { DataError } from './errors.ts'
import type { JsonlLine } from './jsonl-stream.ts'
import { needsPrefetch, type RowOptions, streamRows } from './row-stream.ts'

/** Most characters of the rows of one file that are held at once. */
const MAX_CACHED_CHARS = 2 * 1024 ** 3

/** What a run notes of a file on the hub, so that a resume reads the same. */
export interface PinnedFile {
  source: string
  commit: string
}

const cached = new Map<string, readonly JsonlLine[]>()

const keyOf = (source: string, columns: Columns): string => `${source}\n${columnsKey(columns)}`

/**
 * Reads the rows of a file, if they cannot be read at once, and keeps them for `cachedRows` until they are fetched again.
 * @returns of a file on the hub what to note of it, else null
 * @throws DataError as `streamRows`, and for more rows than fit
 */
export const prefetchRows = async (source: string, options: RowOptions = {}): Promise<PinnedFile | null> => {
  if (!needsPrefetch(source)) return null
  const lines: JsonlLine[] = []
  let file: PinnedFile | null = null
  let chars = 0
  const onCommit = (commit: string) => {
    file = { source, commit }
  }
  for await (const line of streamRows(source, { ...options, onCommit })) {
    chars += line.text.length
    if (chars > MAX_CACHED_CHARS)
      throw new DataError(`${source}: expected rows of at most ${MAX_CACHED_CHARS} characters, got more`, {
        hint: 'leave out columns that are not needed (columns: {NAME: null}), or take a part of the rows',
      })
    lines.push(line)
  }
  cached.set(keyOf(source, options.columns ?? AS_THEY_ARE), lines)
  return file
}

/** Whether rows were prefetched under these columns. */
export const isCached = (source: string, columns: Columns = AS_THEY_ARE): boolean =>
  cached.has(keyOf(source, columns))

/** Whether a file of rows can be read: prefetched, or on this machine. */
export const hasRows = (source: string): boolean =>
  needsPrefetch(source) ? [...cached.keys()].some(key => key.startsWith(`${source}\n`)) : existsSync(source)

/**
 * Rows that were prefetched; null for a file that can be read at once.
 * @throws DataError where nobody prefetched them
 */
export const cachedRows = (source: string, columns: Columns = AS_THEY_ARE): readonly JsonlLine[] | null => {
  if (!needsPrefetch(source)) return null
  const lines = cached.get(keyOf(source, columns))
  if (lines) return lines
  throw new DataError(`${source}: expected JSON Lines, got a file that is not read here`, {
    hint: 'write its rows as JSON Lines on this machine, and name that file; from code, await prefetchRows(source) first',
  })
}
