/** @file A record of the cache: one line, with a checksum, so that any damage is found and ends at the next line. */

import { crc32 } from 'node:zlib'

/**
 * `cccccccc kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk {json}\n`: CRC-32 of all that follows the first space, key, value. JSON has no raw
 * newline, so that a reader who lost its place finds it again at the next one.
 */
const CRC_DIGITS = 8
const KEY_DIGITS = 32
const KEY_START = CRC_DIGITS + 1
const VALUE_START = KEY_START + KEY_DIGITS + 1
const NEWLINE = 10
const SPACE = 32

export const encodeRecord = (key: string, json: string): Buffer => {
  const content = `${key} ${json}`
  return Buffer.from(`${crc32(content).toString(16).padStart(CRC_DIGITS, '0')} ${content}\n`)
}

/** Value of one hexadecimal digit in lower case; NaN for anything else. */
const digit = (code: number): number => {
  if (code >= 48 && code <= 57) return code - 48
  return code >= 97 && code <= 102 ? code - 87 : Number.NaN
}

/** A 32-bit word from eight digits; NaN where one is not a digit. */
const wordAt = (bytes: Uint8Array, at: number): number => {
  let word = 0
  for (let i = at; i < at + 8; i++) word = word * 16 + digit(bytes[i])
  return word
}

/** Key as four words of 32 bits. */
export const keyWords = (key: string): [number, number, number, number] => [
  Number.parseInt(key.slice(0, 8), 16),
  Number.parseInt(key.slice(8, 16), 16),
  Number.parseInt(key.slice(16, 24), 16),
  Number.parseInt(key.slice(24, 32), 16),
]

const isWhole = (bytes: Buffer, start: number, end: number): boolean =>
  end - start > VALUE_START &&
  bytes[start + CRC_DIGITS] === SPACE &&
  bytes[start + VALUE_START - 1] === SPACE &&
  wordAt(bytes, start) === crc32(bytes.subarray(start + KEY_START, end))

export interface ScanResult {
  /** Bytes up to and including the last newline; what follows may still be being written. */
  consumed: number
  damaged: number
}

/**
 * Calls `onRecord` for every whole record in `bytes`; damaged lines are counted and passed over.
 * @param onRecord receives the key's words, the offset of the line in `bytes` and its length with the newline
 */
export const scanRecords = (
  bytes: Buffer,
  onRecord: (words: [number, number, number, number], offset: number, length: number) => void,
): ScanResult => {
  let start = 0
  let damaged = 0
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    const words = [0, 8, 16, 24].map(shift => wordAt(bytes, start + KEY_START + shift))
    if (isWhole(bytes, start, end) && !words.some(Number.isNaN))
      onRecord(words as [number, number, number, number], start, end + 1 - start)
    // An empty line is the mark that a writer sets after a write that failed.
    else if (end > start) damaged++
    start = end + 1
  }
  return { consumed: start, damaged }
}

/** JSON text of a record that must be of `key`; null for a damaged one. @param line with its newline */
export const decodeRecord = (line: Buffer, key: string): string | null => {
  const end = line.length - 1
  if (!isWhole(line, 0, end)) return null
  const content = line.toString('utf8', KEY_START, end)
  return content.startsWith(key) ? content.slice(KEY_DIGITS + 1) : null
}
