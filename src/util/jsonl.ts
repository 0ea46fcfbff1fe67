/** @file JSON Lines: one value a line; errors name the file and the line. */

import { readFileSync } from 'node:fs'
import { DataError } from './errors.ts'

/**
 * Reads a JSON Lines file. `parse` may check or convert each row.
 * @throws DataError naming `path:line` for a line that is not JSON or that `parse` refuses.
 */
export const readJsonl = <T = unknown>(path: string, parse: (row: unknown) => T = row => row as T): T[] =>
  jsonlLines(path).map(({ place, text }) => parseRow(text, place, parse))

/** A line of a JSON Lines file that is not blank, and where it is: `path:line`. */
export interface JsonlLine {
  place: string
  text: string
}

/**
 * The lines of a JSON Lines file, unparsed: for readers that go on after a bad one (see `parseRow`).
 * @throws DataError for a file that cannot be read.
 */
export const jsonlLines = (path: string): JsonlLine[] =>
  readText(path)
    .split('\n')
    .flatMap((text, index) => (text.trim() === '' ? [] : [{ place: `${path}:${index + 1}`, text }]))

/** @throws DataError for a file that cannot be read. */
export const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new DataError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`, {
      hint: 'check the path',
      cause: error,
    })
  }
}

/** @throws DataError naming the place of a line that is not JSON or that `parse` refuses. */
export const parseRow = <T>(line: string, place: string, parse: (row: unknown) => T): T => {
  try {
    return parse(JSON.parse(line))
  } catch (error) {
    throw new DataError(`${place}: ${(error as Error).message}`, { cause: error })
  }
}
