/** @file JSON Lines files too large to hold: line by line, as they are read. */

import { createReadStream } from 'node:fs'
import { fileFailure } from './file-failure.ts'
import { textLines } from './text-file.ts'

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
