/** @file The keys of a schema as a person looks them up: path, type, default, unit, what it is. From the schema alone. */

import { z } from 'zod'
import { isRecord } from './own-value.ts'

/** One key of a configuration. */
export interface SchemaKey {
  /** `rollout.samples`; entries of a list are `judge.fleet.endpoints[].url`, of a map `headers.NAME`. */
  path: string
  /** `integer, at least 1`, `one of a, b`, `section`. */
  type: string
  /** As a file would write it; undefined where there is none, because the key is required or may be left out. */
  default: unknown
  required: boolean
  /** Of the number; null where it has none, or the explanation says it. */
  unit: string | null
  /** From the schema; empty where it says nothing. */
  about: string
  /** The key is there only where another one says so: `policy.kind: tinker`. */
  only: string | null
}

/** A condition on a value, as zod keeps it. */
interface Check {
  _zod: { def: { check?: string; value?: number; inclusive?: boolean; format?: string } }
}

/** What the walk reads of zod's own definition of a schema. */
interface Node {
  description?: string
  shape?: Record<string, Node>
  meta?(): Record<string, unknown> | undefined
  def: {
    type: string
    innerType?: Node
    in?: Node
    out?: Node
    element?: Node
    valueType?: Node
    options?: Node[]
    discriminator?: string
    items?: Node[]
    entries?: Record<string, unknown>
    values?: unknown[]
    defaultValue?: unknown
    format?: string
    checks?: Check[]
  }
}

/** A schema without what is wrapped around it, and what the wrappers say. */
interface Peeled {
  inner: Node
  about: string
  unit: string | null
  only: string | null
  nullable: boolean
  optional: boolean
  fallback: unknown
}

const OPENED = new Set(['optional', 'nullable', 'default', 'prefault', 'readonly', 'catch', 'nonoptional'])

const peel = (node: Node): Peeled => {
  const nothing = { about: '', unit: null, only: null, nullable: false, optional: false, fallback: undefined }
  const found: Peeled = { inner: node, ...nothing }
  for (let at = node; ; ) {
    found.inner = at
    if (found.about === '') found.about = at.description ?? ''
    const { unit, only } = (at.meta?.() ?? {}) as { unit?: string; only?: string }
    found.unit ??= unit ?? null
    found.only ??= only ?? null
    const { type, innerType, in: first, out, defaultValue } = at.def
    if (type === 'nullable') found.nullable = true
    if (type === 'optional') found.optional = true
    if (type === 'default' || type === 'prefault') found.fallback ??= defaultValue
    if (OPENED.has(type)) at = innerType!
    // What is changed before it is read has its keys behind the change; what is changed after, before it.
    else if (type === 'pipe') at = first!.def.type === 'transform' ? out! : first!
    else return found
  }
}

/** By the end of a key: units are in the names (CONTRIBUTING.md). */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/Ms$/, 'ms'],
  [/Minutes$/, 'minutes'],
  [/Bytes$/, 'bytes'],
  [/Mb$/, 'MiB'],
  [/(?:^t|T)okens$/, 'tokens'],
  [/(?:Chars|Characters)$/, 'characters'],
  [/PerMinute$/, 'a minute'],
  [/PerMillion$/, 'a million tokens'],
  [/^(?:steps|warmup|every)$/, 'steps'],
]

const unitOf = (path: string, type: string, unit: string | null): string | null => {
  const key = path.split('.').at(-1)!
  return (
    unit ?? (/\b(?:number|integer)\b/.test(type) ? (UNITS.find(([end]) => end.test(key))?.[1] ?? null) : null)
  )
}

type Limits = Partial<Record<'least' | 'above' | 'most' | 'below', number>>

/** The closest limits of a number; the bounds of safe integers are none. */
const limitsOf = (checks: readonly Check[]): Limits => {
  const limits: Limits = {}
  for (const { check, value, inclusive } of checks.map(({ _zod }) => _zod.def)) {
    if (value === undefined || Math.abs(value) >= 2 ** 53 - 1) continue
    if (check === 'greater_than') limits[inclusive ? 'least' : 'above'] = value
    if (check === 'less_than') limits[inclusive ? 'most' : 'below'] = value
  }
  return limits
}

const boundsOf = ({ checks = [] }: Node['def']): string => {
  const { least, above, most, below } = limitsOf(checks)
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`
  const parts = [
    above !== undefined ? `above ${above}` : least !== undefined ? `at least ${least}` : '',
    below !== undefined ? `below ${below}` : most !== undefined ? `at most ${most}` : '',
  ].filter(part => part !== '')
  return parts.length > 0 ? `, ${parts.join(' and ')}` : ''
}

const isInteger = ({ format, checks = [] }: Node['def']): boolean =>
  [format, ...checks.map(({ _zod }) => _zod.def.format)].some(name => name?.includes('int'))

const list = (values: readonly unknown[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`

const typeText = ({ inner, nullable }: Peeled): string => plainType(inner) + (nullable ? ', or null' : '')

const plainType = ({ def }: Node): string => {
  switch (def.type) {
    case 'object':
      return 'section'
    case 'number':
      return `${isInteger(def) ? 'integer' : 'number'}${boundsOf(def)}`
    case 'string':
      return 'text'
    case 'boolean':
      return 'true or false'
    case 'enum':
      return list(Object.values(def.entries!))
    case 'literal':
      return list(def.values!)
    case 'array':
      return `list: ${typeText(peel(def.element!))}`
    case 'tuple':
      return `list of ${def.items!.length}: ${[...new Set(def.items!.map(item => typeText(peel(item))))].join(', ')}`
    case 'record':
      return `map: ${typeText(peel(def.valueType!))}`
    case 'union':
      return [...new Set(def.options!.map(option => typeText(peel(option))))].join(' or ')
    default:
      return 'any'
  }
}

/** What a walk carries along. */
interface Place {
  path: string
  only: string | null
  /** What the section above says in place of the key's own default. */
  given?: unknown
}

const children = (node: Node, { path, only, given }: Place, skip?: string): SchemaKey[] =>
  Object.entries(node.shape ?? {}).flatMap(([key, child]) =>
    key === skip
      ? []
      : walk(child, {
          path: path === '' ? key : `${path}.${key}`,
          only,
          ...(isRecord(given) && { given: given[key] }),
        }),
  )

/** The kinds of a union by the key that tells them apart, which is listed once; then the keys of each, and once those of several. */
const kindsOf = (options: readonly Node[], discriminator: string, place: Place): SchemaKey[] => {
  const path = place.path === '' ? discriminator : `${place.path}.${discriminator}`
  const kinds = options.map(option => {
    const { inner } = peel(option)
    const kind = peel(inner.shape![discriminator])
    return { inner, kind, values: kind.inner.def.values ?? Object.values(kind.inner.def.entries ?? {}) }
  })
  const usual = kinds.find(({ kind }) => kind.fallback !== undefined)?.kind.fallback
  const fallback = isRecord(place.given) ? (place.given[discriminator] ?? usual) : usual
  const code = (values: readonly unknown[]) => values.map(value => `\`${value}\``).join(', ')
  const abouts = kinds.flatMap(({ kind: { about }, values }) =>
    about === '' ? [] : [`${code(values)}: ${about}`],
  )
  const row: SchemaKey = {
    path,
    type: list([...new Set(kinds.flatMap(({ values }) => values))]),
    default: fallback,
    required: fallback === undefined,
    unit: null,
    about: kinds.length > 1 ? abouts.join(' ') : `Only ${code(kinds[0].values)} is possible here.`,
    only: place.only,
  }
  const found = new Map<string, { key: SchemaKey; among: unknown[] }>()
  for (const { inner, values } of kinds) {
    const given = isRecord(place.given) && values.includes(fallback) ? place.given : undefined
    for (const key of children(inner, { ...place, only: '', given }, discriminator)) {
      const same = JSON.stringify(key)
      found.set(same, { key, among: [...(found.get(same)?.among ?? []), ...values] })
    }
  }
  const keys = [...found.values()].map(({ key, among }) => {
    const isInAll = kinds.length > 1 && kinds.every(({ values }) => among.includes(values[0]))
    const only = isInAll ? place.only : `${path}: ${among.map(String).join(' or ')}`
    return key.only === '' ? { ...key, only } : key
  })
  return [row, ...keys]
}

const below = (node: Node, place: Place): SchemaKey[] => {
  const { type, element, valueType, options, discriminator } = node.def
  const inside = (inner: Node, end: string) =>
    below(peel(inner).inner, { path: `${place.path}${end}`, only: place.only })
  if (type === 'object') return children(node, place)
  if (type === 'array') return inside(element!, '[]')
  if (type === 'record') return inside(valueType!, '.NAME')
  if (type !== 'union') return []
  return discriminator === undefined
    ? options!.flatMap(option => below(peel(option).inner, place))
    : kindsOf(options!, discriminator, place)
}

const walk = (node: Node, place: Place): SchemaKey[] => {
  const peeled = peel(node)
  const { inner, about, optional, fallback } = peeled
  const type = typeText(peeled)
  const value = place.given === undefined ? fallback : place.given
  // A default that is itself laid out in keys is told by those keys.
  const isLaidOut = isRecord(value) && below(inner, { path: '', only: null }).length > 0
  const row: SchemaKey = {
    path: place.path,
    type,
    default: isLaidOut ? undefined : value,
    required: value === undefined && !optional,
    unit: unitOf(place.path, type, peeled.unit),
    about,
    only: peeled.only ?? place.only,
  }
  return [row, ...below(inner, { ...place, given: value ?? undefined })]
}

/** Every key of a schema of settings, sections before what is in them, in the order of the schema. */
export const schemaKeys = (schema: z.ZodType): SchemaKey[] => {
  const { inner, fallback } = peel(schema as unknown as Node)
  return below(inner, { path: '', only: null, given: fallback })
}

/** What is changed before it is read has its keys behind the change. */
const written = (schema: z.ZodType): z.ZodType => {
  const { type, in: first, out } = (schema as unknown as Node).def
  return type === 'pipe' && first?.def.type === 'transform' ? (out as unknown as z.ZodType) : schema
}

/**
 * JSON Schema (draft 7) of what a file may say. What only this program can check (a loss, rules that several keys follow) is
 * left open in it.
 * @param title shown by editors
 */
export const jsonSchemaOf = (schema: z.ZodType, title: string): Record<string, unknown> => ({
  title,
  ...z.toJSONSchema(written(schema), { io: 'input', target: 'draft-7', unrepresentable: 'any' }),
})
