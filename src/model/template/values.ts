/** @file The library's values as Python has them: what is equal, what comes first, how each is printed. */

import { Interpreter, Environment as LibraryEnvironment } from '@huggingface/jinja'
import { printFloat, quote } from './text.ts'

// The parts of the library that are used here; its own declarations do not resolve under Node's module rules.
export interface Value {
  type: string
  readonly value: unknown
  __bool__(): { value: boolean }
}
export interface Scope {
  readonly variables: Map<string, Value>
  readonly tests: ReadonlyMap<string, (value: Value) => boolean>
  set(name: string, value: unknown): Value
  setVariable(name: string, value: Value): Value
}
export type Callable = (args: readonly Value[], scope: Scope) => Value
type Class<T> = new (value: T) => Value

export const newEnvironment = (parent?: Scope): Scope =>
  new (LibraryEnvironment as unknown as new (parent?: Scope) => Scope)(parent)

// The library exports no classes of values.
const sample = (value: unknown) => newEnvironment().set('sample', value)
const make = <T>(one: Value) => {
  const One = one.constructor as Class<T>
  return (value: T): Value => new One(value)
}
const library = new Interpreter(newEnvironment() as never) as unknown as { evaluate(node: object): Value }
export const [NONE, UNDEFINED] = [sample(null), sample(undefined)]
export const bool = make<boolean>(sample(true))
export const text = make<string>(sample(''))
export const float = make<number>(sample(0.5))
export const list = make<readonly Value[]>(sample([]))
export const tuple = make<readonly Value[]>(library.evaluate({ type: 'TupleLiteral', value: [] }))
const dict = make<Map<string, Value>>(sample({}))
export const call = make<Callable>(sample(() => null))
const namespace = newEnvironment().variables.get('namespace')!.value as Callable
export const record = (fields: Record<string, Value>): Value =>
  namespace([dict(new Map(Object.entries(fields)))], newEnvironment())
const makeInteger = make<number>(sample(0))
/** @throws Error beyond 2^53, where JavaScript's numbers skip some */
export const integer = (value: number): Value =>
  Number.isSafeInteger(value) ? makeInteger(value) : reject(`a whole number of ${value}`)

/** Text that `safe` marked: what is added to it would be escaped. */
export class SafeText extends (sample('').constructor as Class<string>) {}

/** What is gone through and is no list: a generator is empty the second time, and true in any case. */
export class Lazy extends (sample([]).constructor as Class<readonly Value[]>) {
  readonly isGenerator: boolean
  used = false

  constructor(items: readonly Value[], isGenerator: boolean) {
    super(items)
    this.isGenerator = isGenerator
  }

  override __bool__(): { value: boolean } {
    return { value: this.isGenerator || (this.value as []).length > 0 }
  }
}

export const reject = (operation: string, ...values: readonly Value[]): never => {
  const names = values.map(value => (value instanceof Lazy ? 'Lazy' : value.type.replace('Value', '')))
  throw new Error(`${operation} is not supported${names.length > 0 ? ` for ${names.join(' and ')}` : ''}`)
}

export const isUndefined = (value: Value): boolean => value.type === 'UndefinedValue'
export const isTruthy = (value: Value): boolean => value.__bool__().value
export const isFloat = (value: Value): boolean => value.type === 'FloatValue'
export const textOf = ({ type, value }: Value): string | null =>
  type === 'StringValue' ? (value as string) : null
export const dictOf = ({ type, value }: Value): Map<string, Value> | null =>
  type === 'ObjectValue' ? (value as Map<string, Value>) : null
/** Items of a list or a tuple. */
export const listOf = (value: Value): readonly Value[] | null =>
  /^(Array|Tuple)/.test(value.type) && !(value instanceof Lazy) ? (value.value as readonly Value[]) : null
/** A number; true is 1. */
export const numberOf = ({ type, value }: Value): number | null =>
  /^(Integer|Float|Boolean)/.test(type) ? Number(value) : null

/** What Python goes through. @throws Error for what it does not */
export const itemsOf = (value: Value): readonly Value[] => {
  const [characters, entries] = [textOf(value), dictOf(value)]
  if (characters !== null) return Array.from(characters, text)
  if (entries !== null) return Array.from(entries.keys(), text)
  if (isUndefined(value)) return []
  if (!(value instanceof Lazy)) return listOf(value) ?? reject('going through it', value)
  const isOver = value.isGenerator && value.used
  value.used = true
  return isOver ? [] : (value.value as readonly Value[])
}

/** `len(value)`. */
export const lengthOf = (value: Value): number =>
  numberOf(value) !== null || (value instanceof Lazy && value.isGenerator)
    ? reject('length', value)
    : itemsOf(value).length

export const isEqual = (a: Value, b: Value): boolean => {
  if (a === b) return true
  if (a instanceof Lazy || b instanceof Lazy) return reject('==', a, b)
  const [x, y, items, others] = [numberOf(a), numberOf(b), listOf(a), listOf(b)]
  if (x !== null || y !== null) return x === y
  if (a.type !== b.type) return false
  if (items && others)
    return items.length === others.length && items.every((item, i) => isEqual(item, others[i]))
  const [one, other] = [dictOf(a), dictOf(b)]
  if (one === null || other === null) return a.value === b.value
  return (
    one.size === other.size &&
    [...one].every(([key, item]) => other.has(key) && isEqual(item, other.get(key)!))
  )
}

/** Below 0 when `a` comes first. @throws Error for what has no order in Python, and for lists */
export const compareValues = (a: Value, b: Value): number => {
  const [x, y, left, right] = [numberOf(a), numberOf(b), textOf(a), textOf(b)]
  if (x !== null && y !== null) return x - y
  if (left === null || right === null) return reject('an order', a, b)
  return left < right ? -1 : left > right ? 1 : 0
}

/** How lists and dictionaries are written out. */
export interface ValueStyle {
  text(value: string): string
  words: readonly [none: string, yes: string, no: string]
  /** Between items, and behind keys. */
  separators: readonly [string, string]
  /** What a level is indented by; null for all in one line. */
  indent: string | null
  isPython: boolean
  isSorted: boolean
}
const PYTHON: ValueStyle = {
  text: quote,
  words: ['None', 'True', 'False'],
  separators: [', ', ': '],
  indent: null,
  isPython: true,
  isSorted: false,
}

const writeAtom = (value: Value, { words, isPython }: ValueStyle): string => {
  const number = numberOf(value)
  if (value.type === 'NullValue') return words[0]
  if (value.type === 'BooleanValue') return words[value.value ? 1 : 2]
  if (number !== null) return isFloat(value) ? printFloat(number) : `${number}`
  return isPython && isUndefined(value) ? 'Undefined' : reject('writing it out', value)
}

/** A value within a list, as Python's `repr` or its `json` writes it. @throws Error for functions, views, generators */
export const write = (value: Value, style: ValueStyle, depth = 0): string => {
  const [string, entries, items] = [textOf(value), dictOf(value), listOf(value)]
  if (string !== null) return value instanceof SafeText ? reject('writing safe text out') : style.text(string)
  if (entries === null && items === null) return writeAtom(value, style)
  const pairs = [...(entries ?? [])]
  if (style.isSorted) pairs.sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = entries
    ? pairs.map(([key, item]) => style.text(key) + style.separators[1] + write(item, style, depth + 1))
    : items!.map(item => write(item, style, depth + 1))
  const [open, close] = entries ? '{}' : style.isPython && value.type === 'TupleValue' ? '()' : '[]'
  const line = (level: number) =>
    style.indent === null || parts.length === 0 ? '' : `\n${style.indent.repeat(level)}`
  const comma = open === '(' && parts.length === 1 ? ',' : ''
  return (
    open + line(depth + 1) + parts.join(style.separators[0] + line(depth + 1)) + comma + line(depth) + close
  )
}

/** `str(value)`. @throws Error as `write` does */
export const print = (value: Value): string =>
  textOf(value) ?? (isUndefined(value) ? '' : write(value, PYTHON))
