/** @file JSON Lines files too large to hold: line by line, as they are read. */

import { createReadStream } from 'node:fs'
import { DataError } from './errors.ts'
import type { JsonlLine } from './jsonl.ts'

/**
 * The lines of a file that are not blank, with their places. `-` is standard input. Only a line feed ends a line: other
 * line separators of Unicode may stand inside JSON texts.
 * @throws DataError for a file that cannot be read.
 */
export async function* streamJsonl(path: string): AsyncGenerator<JsonlLine> {
  const stream = path === '-' ? process.stdin : createReadStream(path)
  stream.setEncoding('utf8')
  let number = 0
  let parts: string[] = []
  try {
    for await (const chunk of stream as AsyncIterable<string>) {
      const pieces = chunk.split('\n')
      for (const [index, piece] of pieces.entries()) {
        parts.push(piece)
        if (index === pieces.length - 1) continue
        const text = parts.join('')
        parts = []
        number++
        if (text.trim() !== '') yield { place: `${path}:${number}`, text }
      }
    }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code) throw error
    throw new DataError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`, {
      hint: 'check the path',
      cause: error,
    })
  }
  const rest = parts.join('')
  if (rest.trim() !== '') yield { place: `${path}:${number + 1}`, text: rest }
}
