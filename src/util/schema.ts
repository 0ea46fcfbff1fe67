/** @file Checks outside values against a zod schema and says in the house style what is wrong, where, and what to do. */

import type { z } from 'zod'
import { ConfigError, type GradusError } from './errors.ts'
import { valueInside } from './own-value.ts'
import { describeSecret } from './secret-words.ts'

type ErrorClass = new (message: string) => GradusError
type Path = readonly PropertyKey[]

/**
 * Parses `value`; on failure throws one error that lists every problem as
 * `source: path: expected ..., got ...; what to do`. A message of the schema's own, as a refinement has, is read as `what was
 * expected; what to do`.
 * @param source where the value came from, for example a file name
 * @throws ErrorKind (ConfigError unless given)
 */
export const parseWith = <S extends z.ZodType>(
  schema: S,
  value: unknown,
  source: string,
  ErrorKind: ErrorClass = ConfigError,
): z.output<S> => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const { issues } = result.error
  const problems = issues.slice(0, MAX_PROBLEMS).flatMap(issue => lines(issue, schema, value, source))
  const shown = problems.slice(0, MAX_PROBLEMS)
  const told = issues.map(issue => (issue.code === 'unrecognized_keys' ? issue.keys.length : 1))
  const more =
    Math.max(
      problems.length,
      told.reduce((sum, count) => sum + count, 0),
    ) - shown.length
  throw new ErrorKind(
    [...shown, ...(more > 0 ? [`${source}: and ${more} more problems like these`] : [])].join('\n'),
  )
}

/** Most problems that one error lists: more say no more. */
const MAX_PROBLEMS = 20
/** Most characters of a key that a path shows. */
const MAX_KEY = 80

export const shortKey = (key: string): string =>
  key.length > MAX_KEY ? `${key.slice(0, MAX_KEY - 3)}...` : key

/** `criteria[3].points` from a path. */
const formatPath = (path: Path): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    const name = shortKey(String(key))
    return text ? `${text}.${name}` : name
  }, '')

/** A short description of a value for an error message; no secret is shown. */
export const describeValue = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (value !== null && typeof value === 'object') return 'an object'
  const secret = typeof value === 'string' ? describeSecret(value) : undefined
  if (secret !== undefined) return secret
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

/** Most keys of an object that a message names. */
const SHOWN_KEYS = 12

/** `an object with a, b and 3 more`. */
export const describeKeys = (value: object): string => {
  const keys = Object.keys(value)
  if (keys.length === 0) return 'an empty object'
  const more = keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : ''
  return `an object with ${keys.slice(0, SHOWN_KEYS).map(shortKey).join(', ')}${more}`
}

const lines = (issue: z.core.$ZodIssue, schema: z.ZodType, root: unknown, source: string): string[] => {
  const at = (path: Path) => [source, formatPath(path)].filter(part => part !== '').join(': ')
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, issue.path, unwrapUnion, root)
    // The known keys once: a file of another kind has many that are unknown.
    return issue.keys.slice(0, MAX_PROBLEMS + 1).map((key, index) => {
      const homes = homesOf(schema, [...issue.path, key], root, known)
      return `${at([...issue.path, key])}: ${unknownKey(key, known, { isListed: index > 0, homes })}`
    })
  }
  const branch = issue.code === 'invalid_union' ? fittingBranch(issue.errors) : undefined
  if (branch) {
    const within = branch.map(inner => ({ ...inner, path: [...issue.path, ...inner.path] }))
    return within.flatMap(inner => lines(inner, schema, root, source))
  }
  const [expected, advice = 'correct this value'] = split(expectation(issue))
  const place = at(issue.path)
  return [
    `${place === '' ? '' : `${place}: `}expected ${expected}, got ${describeValue(valueInside(root, issue.path))}; ${advice}`,
  ]
}

const split = (text: string): string[] => {
  const cut = text.indexOf('; ')
  return cut < 0 ? [text] : [text.slice(0, cut), text.slice(cut + 2)]
}

/** What zod itself says begins like this; anything else was written into the schema. */
const ZODS_OWN = /^(?:Invalid |Too (?:small|big)|Unrecognized )/

const expectation = (issue: z.core.$ZodIssue): string => {
  if (issue.code !== 'invalid_union' && !ZODS_OWN.test(issue.message)) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return `${article(issue.expected)}`
    case 'invalid_value':
      return issue.values.length === 1
        ? String(issue.values[0])
        : `one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
    case 'invalid_union':
      return unionExpectation(issue)
    default:
      return issue.message
  }
}

type Issues = readonly z.core.$ZodIssue[]

/** The branch of a union that a value was meant for: of those whose kind it is, the one with the fewest faults. */
const fittingBranch = (branches: readonly Issues[]): Issues | undefined => {
  const isOtherKind = ({ code, path }: z.core.$ZodIssue) =>
    path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
  const fitting = branches.filter(branch => branch.length > 0 && !branch.some(isOtherKind))
  return fitting.toSorted((a, b) => a.length - b.length)[0]
}

const unionExpectation = (issue: z.core.$ZodIssueInvalidUnion): string => {
  if (!/^Invalid (input|discriminator value)/.test(issue.message)) return issue.message
  // Distinguished by a key whose value is none of those that are known.
  if ('options' in issue && issue.options)
    return `one of ${issue.options
      .filter(option => option !== undefined)
      .map(String)
      .join(', ')}`
  const tops = issue.errors.flatMap(branch =>
    branch.filter(issue => issue.path.length === 0).map(expectation),
  )
  const kinds = [...new Set(tops.map(text => split(text)[0]))]
  return kinds.length > 0 ? kinds.join(' or ') : 'one of the accepted forms'
}

const article = (kind: string): string => {
  if (kind === 'int') return 'an integer'
  if (kind === 'array') return 'a list'
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`
}

const bound = (origin: string, relation: string, limit: number | bigint): string => {
  const number = `${relation} ${limit}`
  const one = Number(limit) === 1
  if (origin === 'array') return `${number} ${one ? 'entry' : 'entries'}`
  if (origin === 'string') return `${number} ${one ? 'character' : 'characters'}`
  return `a number of ${number}`
}

interface SchemaNode {
  shape?: Record<string, SchemaNode>
  element?: SchemaNode
  def?: {
    type?: string
    innerType?: SchemaNode
    in?: SchemaNode
    out?: SchemaNode
    valueType?: SchemaNode
    options?: SchemaNode[]
    discriminator?: string
  }
  /** Of a literal. */
  values?: ReadonlySet<unknown>
}

/** Follows optional, default, nullable and pipe wrappers, and a union of one, down to the schema that has a shape or an element. */
const unwrap = (node: SchemaNode | undefined): SchemaNode | undefined => {
  let inner = node
  while (inner && !inner.shape && !inner.element) {
    const { innerType, in: first, out, options } = inner.def ?? {}
    // What is changed before it is read has its keys behind the change.
    const piped = first?.def?.type === 'transform' ? out : first
    const next = innerType ?? piped ?? (options?.length === 1 ? options[0] : undefined)
    if (!next) return inner
    inner = next
  }
  return inner
}

/** The value is what stands at that place, where it is known. */
type Open = (node: SchemaNode | undefined, value?: unknown) => SchemaNode | undefined

/** As `unwrap`; of a union of objects the one that the value names by its kind, else one object with the keys of all. */
const unwrapUnion: Open = (node, value) => {
  const inner = unwrap(node)
  const { options, discriminator } = inner?.def ?? {}
  if (!options) return inner
  const own = (value as Record<string, unknown> | null | undefined)?.[discriminator ?? '']
  const named = options.filter(
    option => own !== undefined && unwrap(unwrap(option)?.shape?.[discriminator!])?.values?.has(own),
  )
  const all = named.length > 0 ? named : options
  return { shape: Object.assign({}, ...all.map(option => unwrapUnion(option, value)?.shape ?? {})) }
}

const nodeAt = (schema: z.ZodType, path: Path, open: Open, root?: unknown): SchemaNode | undefined => {
  let value = root
  let node = open(schema as unknown as SchemaNode, value)
  for (const key of path) {
    value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key]
    node = open(
      typeof key === 'number' ? node?.element : (node?.shape?.[String(key)] ?? node?.def?.valueType),
      value,
    )
  }
  return node
}

const keysAt = (schema: z.ZodType, path: Path, open: Open, root?: unknown): string[] =>
  Object.keys(nodeAt(schema, path, open, root)?.shape ?? {})

/** Of a union of kinds: those that have the key, as `kind: research`. */
const kindsWith = (schema: z.ZodType, path: Path, root: unknown, key: string): string[] => {
  const last = path.at(-1)
  const above = path.length === 0 ? undefined : nodeAt(schema, path.slice(0, -1), unwrapUnion, root)
  const union = unwrap(typeof last === 'number' ? above?.element : above?.shape?.[String(last)])
  const { options = [], discriminator } = union?.def ?? {}
  if (discriminator === undefined) return []
  return options
    .map(option => unwrap(option)?.shape ?? {})
    .filter(shape => Object.hasOwn(shape, key))
    .flatMap(shape => [...(unwrap(shape[discriminator])?.values ?? [])])
    .map(kind => `${formatPath([...path, discriminator])}: ${String(kind)}`)
}

/** What to do with a key that is known elsewhere: in another kind, in a section beside it, or as a section whose keys belong here. */
const homesOf = (schema: z.ZodType, at: Path, root: unknown, known: readonly string[]): string | null => {
  const [path, key] = [at.slice(0, -1), String(at.at(-1))]
  const kinds = kindsWith(schema, path, root, key)
  if (kinds.length > 0) return `it belongs to ${kinds.join(', or ')}`
  const sections = Object.entries(nodeAt(schema, path, unwrapUnion, root)?.shape ?? {})
    .filter(([, section]) => Object.hasOwn(unwrapUnion(section)?.shape ?? {}, key))
    .map(([name]) => formatPath([...path, name, key]))
  if (sections.length > 0 && sections.length <= 3) return `did you mean ${sections.join(' or ')}?`
  const inside = Object.keys(Object(valueInside(root, at)))
  return inside.length > 0 && inside.every(own => known.includes(own))
    ? `write ${inside.map(own => formatPath([...path, own])).join(', ')}`
    : null
}

/** Keys of the object that a schema has at a path; none where it has no object of known keys, or a union of several. */
export const knownKeys = (schema: z.ZodType, path: Path): string[] => keysAt(schema, path, unwrap)

/** The same, where a union of objects has the keys of all. */
export const knownKeysOfAny = (schema: z.ZodType, path: Path): string[] => keysAt(schema, path, unwrapUnion)

interface UnknownKey {
  /** The known keys were named before. */
  isListed: boolean
  /** What to do with one that is known elsewhere. */
  homes: string | null
}

const unknownKey = (key: string, known: readonly string[], { isListed, homes }: UnknownKey): string => {
  const close = key.length > MAX_KEY ? null : closest(key, known)
  const listed = isListed ? 'expected one of the keys above' : `expected one of ${known.join(', ')}`
  const expected = known.length > 0 ? listed : 'expected no such key'
  const slip = close ? `did you mean ${close}?` : 'remove it or correct its name'
  return `${expected}, got an unknown key; ${homes ?? slip}`
}

/** The known word nearest to `word` by edit distance, if near enough to be a slip of the hand. */
export const closest = (word: string, known: readonly string[]): string | null => {
  let best: string | null = null
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** What to say of a word that is none of the known ones: which was meant, else something else. */
export const meantOr = (word: string, known: readonly string[], otherwise: string): string => {
  const near = closest(word, known)
  return near ? `did you mean ${near}?` : otherwise
}

const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]
}
