/** @file Values of a template as Python has them: which are true, equal, less, and what they hold. */

import type { Budget } from './budget.ts'

/** A number with a point: `1.0` and `1` are printed differently. Whole numbers are plain ones. */
export class Float {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** Text that is taken for HTML (`safe`, `escape`): what is added to it is escaped. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A list that never changes; `names` of its places where they have some. */
export class Tuple {
  readonly items: readonly Value[]
  readonly names: readonly string[]
  constructor(items: readonly Value[], names: readonly string[] = []) {
    this.items = items
    this.names = names
  }
}

/** What is not there. Using it for more than a question, a loop or a print is an error. */
export class Undefined {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** `namespace()`: what may be set from within a loop. */
export class Namespace {
  readonly fields = new Map<string, Value>()
}

/** What yields its items once: filters as `map` and `select`, `reversed`. */
export class Iterator {
  readonly name: string
  readonly #items: readonly Value[]
  #at = 0
  constructor(name: string, items: readonly Value[]) {
    this.name = name
    this.#items = items
  }
  /** What is left, which is then gone. */
  rest(): readonly Value[] {
    const rest = this.#items.slice(this.#at)
    this.#at = this.#items.length
    return rest
  }
  /** The next item, or undefined at the end. */
  next(): Value | undefined {
    return this.#items[this.#at++]
  }
}

/** `range()`: so many numbers from a first one on. */
export class Range {
  readonly start: number
  readonly stop: number
  readonly step: number
  readonly items: readonly number[]
  constructor(start: number, stop: number, step: number) {
    this.start = start
    this.stop = stop
    this.step = step
    this.items = Array.from({ length: Range.count(start, stop, step) }, (_, i) => start + i * step)
  }
  static count(start: number, stop: number, step: number): number {
    return Math.max(0, Math.ceil((stop - start) / step))
  }
}

/** `keys()`, `values()`, `items()` of a dictionary. */
export class View {
  readonly kind: 'keys' | 'values' | 'items'
  readonly dict: Dict
  constructor(kind: 'keys' | 'values' | 'items', dict: Dict) {
    this.kind = kind
    this.dict = dict
  }
}

/** What was given to a function. */
export interface Given {
  args: readonly Value[]
  kwargs: ReadonlyMap<string, Value>
}

/** A function, a method, a macro, a `loop`: what can be called, or has attributes of its own. */
export class Thing {
  readonly name: string
  readonly call: ((given: Given) => Value) | null
  readonly attributes: Readonly<Record<string, () => Value>>
  constructor(
    name: string,
    call: ((given: Given) => Value) | null,
    attributes: Readonly<Record<string, () => Value>> = {},
  ) {
    this.name = name
    this.call = call
    this.attributes = attributes
  }
}

export type Value =
  | null
  | boolean
  | number
  | string
  | Float
  | Markup
  | Value[]
  | Tuple
  | Dict
  | Undefined
  | Namespace
  | Iterator
  | Range
  | View
  | Thing

/** A dictionary: keys in the order in which they were first set; `1`, `1.0` and `true` are the same key. */
export class Dict {
  readonly #entries = new Map<string | number | null, [key: Value, value: Value]>()

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    for (const [key, value] of entries) this.set(key, value)
  }
  get size(): number {
    return this.#entries.size
  }
  get(key: Value): Value | undefined {
    const hash = hashOf(key)
    return hash === undefined ? undefined : this.#entries.get(hash)?.[1]
  }
  has(key: Value): boolean {
    const hash = hashOf(key)
    return hash !== undefined && this.#entries.has(hash)
  }
  /** @throws Error for keys that are neither texts, numbers, booleans nor none */
  set(key: Value, value: Value): void {
    const hash = hashOf(key)
    if (hash === undefined) throw new Error(`a dictionary's key: ${typeName(key)} is not supported`)
    const known = this.#entries.get(hash)
    this.#entries.set(hash, [known ? known[0] : key, value])
  }
  keys(): Value[] {
    return [...this.#entries.values()].map(([key]) => key)
  }
  values(): Value[] {
    return [...this.#entries.values()].map(([, value]) => value)
  }
  entries(): (readonly [Value, Value])[] {
    return [...this.#entries.values()]
  }
}

/** What stands for a key in a map; undefined for those that no dictionary here has. @throws Error for what Python cannot hash */
const hashOf = (key: Value): string | number | null | undefined => {
  if (key === null || typeof key === 'string') return key
  const number = numberOf(key)
  if (number !== null) return number
  if (key instanceof Markup) return key.text
  if (Array.isArray(key) || key instanceof Dict)
    throw new Error(`a dictionary's key cannot be of type ${typeName(key)}`)
  return undefined
}

/** The number that a value is in arithmetic, or null; `true` is 1. */
export const numberOf = (value: Value): number | null => {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  return value instanceof Float ? value.value : null
}

/** A text, or null. */
export const textOf = (value: Value): string | null =>
  typeof value === 'string' ? value : value instanceof Markup ? value.text : null

/** Python's name of a value's type. */
export const typeName = (value: Value): string => {
  if (value === null) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'object') return value.constructor.name.toLowerCase()
  return { boolean: 'bool', number: 'int', string: 'str' }[typeof value as 'boolean' | 'number' | 'string']
}

/** Why something undefined cannot be used, or null. */
export const whyUndefined = (...values: readonly Value[]): string | null => {
  for (const value of values) if (value instanceof Undefined) return value.why
  return null
}

/** @throws Error that an operation does not go with such values */
export const refuse = (what: string, ...values: readonly Value[]): never => {
  const why = whyUndefined(...values)
  throw new Error(why ?? `${what}: not for ${values.map(typeName).join(' and ')}`)
}

/** `bool(value)`. */
export const isTrue = (value: Value): boolean => {
  if (value === null || value instanceof Undefined) return false
  if (value instanceof Float) return value.value !== 0
  const length = lengthOf(value)
  return length === null ? value !== false && value !== 0 : length > 0
}

/** How many elements or characters (code points) a value has; null where it has no length. */
export const lengthOf = (value: Value): number | null => {
  const text = textOf(value)
  if (text !== null) return characterCount(text)
  if (Array.isArray(value)) return value.length
  if (value instanceof Tuple || value instanceof Range) return value.items.length
  if (value instanceof Dict) return value.size
  if (value instanceof View) return value.dict.size
  return value instanceof Undefined ? 0 : null
}

const characterCount = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

const viewItems = ({ kind, dict }: View): Value[] =>
  kind === 'items' ? dict.entries().map(entry => new Tuple(entry)) : dict[kind]()

/** `iter(value)`: null where nothing can be gone through. */
export const tryItems = (value: Value): readonly Value[] | null => {
  const text = textOf(value)
  if (text !== null) return Array.from(text)
  if (Array.isArray(value)) return value
  if (value instanceof Tuple || value instanceof Range) return value.items
  if (value instanceof Dict) return value.keys()
  if (value instanceof View) return viewItems(value)
  if (value instanceof Iterator) return value.rest()
  return value instanceof Undefined ? [] : null
}

/** @throws Error where a value cannot be gone through */
export const itemsOf = (value: Value, budget: Budget): readonly Value[] => {
  const items = tryItems(value)
  if (items === null) throw new Error(`expected what can be gone through, got ${typeName(value)}`)
  budget.charge(items.length / 16)
  return items
}

const sameItems = (a: readonly Value[], b: readonly Value[], budget: Budget): boolean =>
  a.length === b.length && a.every((x, i) => isEqual(x, b[i], budget))

const sameEntries = (a: Dict, b: Dict, budget: Budget): boolean =>
  a.size === b.size &&
  a.entries().every(([key, value]) => {
    const other = b.get(key)
    return other !== undefined && isEqual(value, other, budget)
  })

/** `a == b`: without coercion, but for numbers and booleans. */
export const isEqual = (a: Value, b: Value, budget: Budget): boolean => {
  budget.charge(1 / 4)
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== null || y !== null) return x === y
  const [text, other] = [textOf(a), textOf(b)]
  if (text !== null || other !== null) return text === other
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b, budget)
  if (a instanceof Tuple) return b instanceof Tuple && sameItems(a.items, b.items, budget)
  if (a instanceof Range) return b instanceof Range && sameItems(a.items, b.items, budget)
  if (a instanceof Dict) return b instanceof Dict && sameEntries(a, b, budget)
  if (a instanceof Undefined) return b instanceof Undefined
  return a === b
}

/** Order of texts by code points, as Python has it; JavaScript compares halves of surrogate pairs. */
const compareTexts = (a: string, b: string): number => {
  const [left, right] = [Array.from(a), Array.from(b)]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = left[i].codePointAt(0)! - right[i].codePointAt(0)!
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

const compareItems = (a: readonly Value[], b: readonly Value[], budget: Budget): number => {
  for (let i = 0; i < Math.min(a.length, b.length); i++)
    if (!isEqual(a[i], b[i], budget)) return compare(a[i], b[i], budget)
  return a.length - b.length
}

/** Below 0 for `a < b`, above it for `a > b`; NaN where neither holds. @throws Error for values without an order */
export const compare = (a: Value, b: Value, budget: Budget): number => {
  budget.charge(1 / 4)
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== null && y !== null) return x === y ? 0 : x - y
  const [text, other] = [textOf(a), textOf(b)]
  if (text !== null && other !== null) return compareTexts(text, other)
  if (Array.isArray(a) && Array.isArray(b)) return compareItems(a, b, budget)
  if (a instanceof Tuple && b instanceof Tuple) return compareItems(a.items, b.items, budget)
  return refuse('order', a, b)
}

/** `needle in place`. @throws Error where nothing can be in it */
export const contains = (place: Value, needle: Value, budget: Budget): boolean => {
  const text = textOf(place)
  if (text !== null) return text.includes(textOf(needle) ?? refuse('in', needle, place))
  if (place instanceof Dict) return place.has(needle)
  if (!(place instanceof Iterator)) return itemsOf(place, budget).some(item => isEqual(item, needle, budget))
  for (let item = place.next(); item !== undefined; item = place.next())
    if (isEqual(item, needle, budget)) return true
  return false
}

/** What was parsed from JSON, as a template sees it. A whole number is one, however it was written. @throws Error for functions */
export const fromJson = (value: unknown): Value => {
  if (value === undefined) return new Undefined('undefined')
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isInteger(value) ? value : new Float(value)
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== 'object') throw new Error(`expected data, got a ${typeof value}`)
  const given = Object.entries(value).filter(([, field]) => field !== undefined)
  return new Dict(given.map(([key, field]) => [key, fromJson(field)]))
}
