/** @file JSON Lines: one value a line; errors name the file and the line. */

import { createReadStream } from 'node:fs'
import { AS_THEY_ARE, type Columns, renameInText } from './column-names.ts'
import { DataError, GradusError } from './errors.ts'
import { fileFailure } from './file-failure.ts'
import { parseJson } from './json.ts'
import { cachedRows } from './prefetched-rows.ts'
import { readText, textLines } from './text-file.ts'

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
export const parseRow = <T>(line: string, place: string, parse: (row: unknown) => T): T => {
  try {
    return parse(parseJson(line))
  } catch (error) {
    if (!(error instanceof GradusError)) throw error
    throw new DataError(`${place}: ${error.message}`, { cause: error })
  }
}

/** A line of a JSON Lines file that is not blank, or the row of another file in its place, and where it is: `path:line`. */
export interface JsonlLine {
  place: string
  text: string
}

export interface StreamOptions {
  /** Most bytes of a line; a line is held as a whole. Default 256 MiB. */
  maxLineBytes?: number
}

/** Most bytes of a line. */
export const MAX_LINE_BYTES = 256 * 1024 * 1024

/**
 * The lines of a file that are not blank, with their places. `-` is standard input.
 * @throws DataError for a file that cannot be read, a line that is too long, or bytes that are no text in UTF-8.
 */
export async function* streamJsonl(
  path: string,
  { maxLineBytes = MAX_LINE_BYTES }: StreamOptions = {},
): AsyncGenerator<JsonlLine> {
  const name = path === '-' ? 'standard input' : path
  try {
    const stream: AsyncIterable<Buffer> = path === '-' ? process.stdin : createReadStream(path)
    for await (const { number, text } of textLines(stream, name, maxLineBytes))
      if (text.trim() !== '') yield { place: `${name}:${number}`, text }
  } catch (error) {
    throw fileFailure(name, error)
  }
}
