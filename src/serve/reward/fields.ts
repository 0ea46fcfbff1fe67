/** @file Looking up what a configuration names by a dotted path in a sample. */

import { referenceText } from '../../grade/reference.ts'
import { tryJson } from '../../util/json.ts'
import { isRecord } from '../../util/own-value.ts'

type Fields = Readonly<Record<string, unknown>>

/** Longest text that is read as JSON, characters. */
const LONGEST_JSON = 1_000_000

/** A text that is a JSON object is looked into: trainers pass labels and extra columns as text. */
const asFields = (value: unknown): Fields | null => {
  if (typeof value === 'string' && value.length <= LONGEST_JSON && value.trimStart().startsWith('{'))
    return asFields(tryJson(value))
  return isRecord(value) ? value : null
}

/** Value at `a.b.c`; undefined where there is none. */
export const fieldAt = (fields: Fields, path: string): unknown => {
  let value: unknown = fields
  for (const key of path.split('.')) {
    const inner = asFields(value)
    if (inner === null || !Object.hasOwn(inner, key)) return undefined
    value = inner[key]
  }
  return value
}

/** The right answer at a path, as text (see `referenceText`). */
export const referenceAt = (fields: Fields, path: string | undefined): string | undefined =>
  path === undefined ? undefined : referenceText(fieldAt(fields, path))
