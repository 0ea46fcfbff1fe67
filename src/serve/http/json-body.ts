/** @file JSON that nobody vouches for: so many values, so deep, and no more; looked at before it is read. */

import { isUtf8 } from 'node:buffer'
import { DataError } from '../../util/errors.ts'
import { assertWholeText } from '../../util/json.ts'

export interface JsonLimits {
  /** Values: members of objects and entries of lists, nested ones too. */
  values: number
  /** Lists, objects and texts, keys too: each takes memory of its own. Default: as many as values. */
  parts?: number
  /** Lists and objects inside each other. */
  depth: number
  /** Half of a character is refused: what is written down of it cannot be read again. */
  wholeText?: boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Index of the quote that ends a string; the end where none does. */
const endOfString = (bytes: Buffer, from: number): number => {
  for (let end = bytes.indexOf(QUOTE, from); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0
    while (bytes[end - 1 - escapes] === BACKSLASH && end - 1 - escapes >= from) escapes++
    if (escapes % 2 === 0) return end
  }
  return bytes.length
}

/**
 * What is too much in a text that should be JSON, or null. One pass over the bytes, strings in leaps, and no more of it than
 * is needed: to read 30 MB of `[[],[],...` would take seconds and gigabytes.
 */
const jsonExcess = (
  bytes: Buffer,
  { values, parts = Number.POSITIVE_INFINITY, depth }: JsonLimits,
): string | null => {
  let seen = 1
  let seenParts = 0
  let level = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1)
      seenParts += 1
    } else if (byte === COMMA) seen += 1
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      seen += 1
      seenParts += 1
      level += 1
      if (level > depth) return `at most ${depth} levels of lists and objects (limits.jsonDepth), got more`
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) level -= 1
    if (seen > values) return `at most ${values} values (limits.jsonValues), got more`
    if (seenParts > parts) return `at most ${parts} lists, objects and texts, got more`
  }
  return null
}

type ErrorClass = new (message: string) => Error

const assertWhole = (text: string, ErrorKind: ErrorClass): void => {
  try {
    assertWholeText(text)
  } catch (error) {
    // What is no JSON is told by whoever reads it.
    if (error instanceof DataError) throw new ErrorKind(`body: ${error.message}`)
  }
}

/** Reads JSON within limits. @throws ErrorKind for what is none, or too much of it */
export const parseBounded = (
  body: Uint8Array,
  limits: JsonLimits,
  ErrorKind: ErrorClass = DataError,
): unknown => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (!isUtf8(bytes))
    throw new ErrorKind('body: expected JSON in UTF-8, got bytes that are none; encode it as UTF-8')
  const excess = jsonExcess(bytes, limits)
  if (excess !== null) throw new ErrorKind(`body: expected ${excess}; send less at a time`)
  const text = bytes.toString('utf8')
  if (limits.wholeText) assertWhole(text, ErrorKind)
  try {
    return JSON.parse(text)
  } catch (error) {
    const what = bytes.length < 1000 && text.trim() === '' ? 'nothing' : (error as Error).message
    throw new ErrorKind(`body: expected JSON, got ${what}`)
  }
}
