/**
 * @file Rows that are there before whoever needs them asks: what reads its rows at once, as recipes and checks of configurations
 * do, cannot wait for a network or a Parquet file. So these are prefetched, by name (`prefetchRows`), and found here.
 */

import { existsSync } from 'node:fs'
import { AS_THEY_ARE, type Columns, columnsKey } from './column-names.ts'
import { DataError } from './errors.ts'
import { isHubAddress } from './hub-address.ts'
import type { JsonlLine } from './jsonl-stream.ts'

export const isParquet = (source: string): boolean => /\.parquet$/i.test(source)

/** Whether rows are more than lines of a file of this machine, so that they cannot be read at once. */
export const needsPrefetch = (source: string): boolean =>
  isHubAddress(source) || isParquet(source) || /\.(jsonl|ndjson)\.gz$/i.test(source)

const cached = new Map<string, readonly JsonlLine[]>()

const keyOf = (source: string, columns: Columns): string => `${source}\n${columnsKey(columns)}`

/** Keeps rows for `cachedRows` until others take their place. */
export const keepRows = (source: string, columns: Columns, lines: readonly JsonlLine[]): void => {
  cached.set(keyOf(source, columns), lines)
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
