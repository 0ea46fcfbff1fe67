/** @file JSON Lines: one value a line; errors name the file and the line. */

import { AS_THEY_ARE, type Columns, renameInText } from './column-names.ts'
import { DataError, GradusError } from './errors.ts'
import { parseJson } from './json.ts'
import type { JsonlLine } from './jsonl-stream.ts'
import { cachedRows } from './prefetched-rows.ts'
import { readText } from './text-file.ts'

export type { JsonlLine } from './jsonl-stream.ts'

/**
 * Reads a JSON Lines file. `parse` may check or convert each row.
 * @throws DataError naming `path:line` for a line that is not JSON or that `parse` refuses.
 */
export const readJsonl = <T = unknown>(
  path: string,
  parse: (row: unknown) => T = row => row as T,
  columns?: Columns,
): T[] => jsonlLines(path, columns).map(({ place, text }) => parseRow(text, place, parse))

/**
 * The lines of a JSON Lines file, unparsed: for readers that go on after a bad one (see `parseRow`). Of Parquet files and files
 * on the hub the prefetched rows (`prefetched-rows.ts`).
 * @throws DataError for a file that cannot be read, or is no text in UTF-8.
 */
export const jsonlLines = (path: string, columns: Columns = AS_THEY_ARE): readonly JsonlLine[] =>
  cachedRows(path, columns) ??
  readText(path)
    .split('\n')
    .flatMap((text, index) =>
      text.trim() === '' ? [] : [{ place: `${path}:${index + 1}`, text: renameInText(text, columns) }],
    )

/** The lines of a JSON Lines file. @throws DataError as `jsonlLines`, and for a file without rows */
export const someJsonlLines = (path: string, what = 'row', columns?: Columns): readonly JsonlLine[] => {
  const lines = jsonlLines(path, columns)
  if (lines.length === 0) throw noRows(path, what)
  return lines
}

/** An input that holds nothing: most likely what should have written it failed. */
export const noRows = (path: string, what = 'row'): DataError =>
  new DataError(`${path}: expected at least one ${what}, got none`, {
    hint: 'check what wrote the file',
  })

/** @throws DataError naming the place of a line that is not JSON or that `parse` refuses. */
export const parseRow = <T = unknown>(
  line: string,
  place: string,
  parse: (row: unknown) => T = row => row as T,
): T => {
  try {
    return parse(parseJson(line))
  } catch (error) {
    if (!(error instanceof GradusError)) throw error
    throw new DataError(`${place}: ${error.message}`, { cause: error })
  }
}
