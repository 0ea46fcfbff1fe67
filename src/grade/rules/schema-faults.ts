/** @file What keeps a JSON schema from being used: it is too large, answers later, leads back to itself, or checks without end. */

import { isRecord } from '../../util/own-value.ts'

export type Schema = boolean | Record<string, unknown>

const MAX_CHARACTERS = 100_000
/** Objects and lists in it. Compiling takes seconds for many more, and no schema of a response has them. */
const MAX_PARTS = 1_000
/** Levels of nesting. */
const MAX_DEPTH = 100
/** Schemas that one value is checked by: thirty that each refer twice to the next would be a thousand million. */
const MAX_CHECKS = 10_000

interface Part {
  value: object
  depth: number
}

/** What is wrong with the form of a schema, or null. */
const formFault = (schema: object): string | null => {
  const waiting: Part[] = [{ value: schema, depth: 1 }]
  let parts = 0
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (++parts > MAX_PARTS) return `more than ${MAX_PARTS} parts`
    if (part.depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`
    // Wherever it stands: also a property of this name is not worth the risk of a verdict that nobody gave.
    if ('$async' in part.value && part.value.$async !== false)
      return '$async: such a schema has its result later, and a verdict is needed now; leave $async out'
    for (const value of Object.values(part.value))
      if (typeof value === 'object' && value !== null) waiting.push({ value, depth: part.depth + 1 })
  }
  return null
}

/** Keywords whose schemas check the same value again, and not a part of it. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'] as const
const SAME_VALUE_BY_KEY = ['dependentSchemas', 'dependencies'] as const

/** What a reference inside the schema leads to; null for one that leads elsewhere. */
const referred = (root: object, reference: unknown): unknown => {
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return null
  let found: unknown = root
  for (const step of reference.split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return null
    found = (found as Record<string, unknown>)[key]
  }
  return found
}

/** Schemas that check what this one checks. */
const sameValue = (root: object, schema: Record<string, unknown>): Record<string, unknown>[] =>
  [
    referred(root, schema.$ref),
    referred(root, schema.$dynamicRef),
    referred(root, schema.$recursiveRef),
    ...SAME_VALUE.flatMap(keyword => schema[keyword]),
    ...SAME_VALUE_BY_KEY.flatMap(keyword =>
      isRecord(schema[keyword]) ? Object.values(schema[keyword]) : [],
    ),
  ].filter(isRecord)

/**
 * How often checking one value would apply a schema to it, references followed: the most of any part; Infinity where it would come
 * to the same schema again, for ever.
 */
const mostChecks = (root: Record<string, unknown>): number => {
  const known = new Map<object, number>()
  const visit = (schema: Record<string, unknown>): number => {
    const checks = known.get(schema)
    if (checks !== undefined) return checks
    known.set(schema, Number.POSITIVE_INFINITY)
    const all = sameValue(root, schema).reduce((sum, each) => sum + visit(each), 1)
    known.set(schema, all)
    return all
  }
  let most = 0
  const all: unknown[] = [root]
  for (const schema of all) {
    if (isRecord(schema)) most = Math.max(most, visit(schema))
    if (typeof schema === 'object' && schema !== null) all.push(...Object.values(schema))
  }
  return most
}

/** Why a schema cannot be used, before anyone tries to compile it; null where nothing speaks against it. */
export const schemaFault = (schema: Schema): string | null => {
  if (typeof schema === 'boolean') return null
  const form = formFault(schema)
  if (form !== null) return form
  if (JSON.stringify(schema).length > MAX_CHARACTERS) return `more than ${MAX_CHARACTERS} characters`
  const checks = mostChecks(schema)
  if (checks === Number.POSITIVE_INFINITY)
    return 'its references lead back to where they started without going into the value'
  return checks > MAX_CHECKS ? `its references have a value checked more than ${MAX_CHECKS} times` : null
}
