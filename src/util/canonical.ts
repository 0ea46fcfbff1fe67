/** @file One text for equal values: keys in order, nothing undefined; what hashes are taken of. */

import { createHash } from 'node:crypto'

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]),
  )
}

/** JSON with the keys of every object in order. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value))

/** First 16 digits of the SHA-256 of a value. */
export const shortHash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16)

const SHOWN = 120

/** The same as a message shows it: its beginning where it is long, as the text of a prompt is. @param absent of nothing */
export const shortJson = (value: unknown, absent = 'not set'): string => {
  const text: string = canonicalJson(value) ?? absent
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
