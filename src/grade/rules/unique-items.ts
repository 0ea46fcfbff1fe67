/** @file The keyword `uniqueItems` in linear time; ajv's own compares every item with every other. */

import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv'

/** Equal for equal JSON values, whatever the order of their keys. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

/** Indices of the last item that stands before as well, and of the place nearest to it where it does; null without one. */
const lastRepeat = (items: readonly unknown[]): [earlier: number, later: number] | null => {
  const seen = new Map<string, number>()
  let found: [number, number] | null = null
  for (const [index, item] of items.entries()) {
    const key = canonical(item)
    const earlier = seen.get(key)
    if (earlier !== undefined) found = [earlier, index]
    seen.set(key, index)
  }
  return found
}

const validate: SchemaValidateFunction = (wanted: boolean, items: unknown[]): boolean => {
  const repeat = wanted ? lastRepeat(items) : null
  if (repeat === null) return true
  const message = `must NOT have duplicate items (items ## ${repeat[0]} and ${repeat[1]} are identical)`
  validate.errors = [{ keyword: 'uniqueItems', message, params: { i: repeat[1], j: repeat[0] } }]
  return false
}

export const UNIQUE_ITEMS: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: true,
  validate,
}
