/** @file JSON as values that nobody changes. */

import { DataError } from '../util/errors.ts'
import { MAX_DEPTH, wellFormed } from '../util/json.ts'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | {
      readonly [key: string]: Json
    }

/**
 * A copy of a JSON value with its texts well-formed. Properties that are undefined are left out, as JSON does.
 * @throws DataError naming `place` for what JSON does not keep, and for nesting without end
 */
export const copyJson = (value: unknown, place: string, depth = 0): Json => {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (depth >= MAX_DEPTH) throw new DataError(`${place}: expected JSON at most ${MAX_DEPTH} deep`)
  if (Array.isArray(value)) return value.map((item, i) => copyJson(item, `${place}[${i}]`, depth + 1))
  if (typeof value !== 'object' || ![Object.prototype, null].includes(Object.getPrototypeOf(value)))
    throw new DataError(`${place}: expected JSON, got ${typeof value === 'number' ? value : typeof value}`)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [wellFormed(key), copyJson(item, `${place}.${key}`, depth + 1)]),
  )
}
