/** @file The library's values as Python has them: what is equal, what comes first, how each is printed. */

import { Interpreter, Environment as LibraryEnvironment } from '@huggingface/jinja'
import { escapeHtml, printFloat, quote } from './text.ts'

// The parts of the library that are used here; its own declarations do not resolve under Node's module rules.
export interface Value {
  type: string
  readonly value: unknown
  __bool__(): { value: boolean }
}
export interface Environment {
  readonly variables: Map<string, Value>
  set(name: string, value: unknown): Value
  setVariable(name: string, value: Value): Value
}
type Call = (args: readonly Value[], scope: Environment) => Value
type Class<T> = new (value: T) => Value

export const newEnvironment = (parent?: Environment): Environment =>
  new (LibraryEnvironment as unknown as new (parent?: Environment) => Environment)(parent)

// The library exports no classes of values.
const sample = (value: unknown) => newEnvironment().set('sample', value)
const classOf = (value: unknown) => sample(value).constructor as Class<never>
const Integer = classOf(0) as Class<number>
const Float = classOf(0.5) as Class<number>
const Text = classOf('') as Class<string>
const List = classOf([]) as Class<readonly Value[]>
const Fn = classOf(() => null) as Class<Call>
const evaluateTuple = (node: object) =>
  (new Interpreter(newEnvironment() as never) as unknown as { evaluate(node: object): Value }).evaluate(node)
const Tuple = evaluateTuple({ type: 'TupleLiteral', value: [] }).constructor as Class<readonly Value[]>
const Namespace = (newEnvironment().variables.get('namespace')!.value as Call)([], newEnvironment())
  .constructor as Class<Map<string, Value>>

export const NONE = sample(null)
export const UNDEFINED = sample(undefined)
const [TRUE, FALSE] = [sample(true), sample(false)]
export const bool = (value: boolean): Value => (value ? TRUE : FALSE)
export const text = (value: string): Value => new Text(value)
export const float = (value: number): Value => new Float(value)
export const list = (items: readonly Value[]): Value => new List(items)
export const tuple = (items: readonly Value[]): Value => new Tuple(items)
export const call = (value: Call): Value => new Fn(value)
export const record = (fields: Record<string, Value>): Value => new Namespace(new Map(Object.entries(fields)))

/** @throws Error beyond 2^53, where JavaScript's numbers skip some */
export const integer = (value: number): Value => {
  if (!Number.isSafeInteger(value)) throw new Error(`expected a whole number below 2^53, got ${value}`)
  return new Integer(value === 0 ? 0 : value)
}

/** Text that `safe` marked: what is added to it is escaped. */
export class SafeText extends Text {}

/** What is gone through and is no list: a generator is empty the second time, and true in any case. */
export class Lazy extends List {
  readonly kind: 'generator' | 'view'
  used = false

  constructor(items: readonly Value[], kind: Lazy['kind']) {
    super(items)
    this.kind = kind
  }

  override __bool__(): { value: boolean } {
    return { value: this.kind === 'generator' || (this.value as readonly Value[]).length > 0 }
  }
}

const NAMES: Readonly<Record<string, string>> = {
  ArrayValue: 'list',
  BooleanValue: 'bool',
  FloatValue: 'float',
  FunctionValue: 'function',
  IntegerValue: 'int',
  NamespaceValue: 'namespace',
  NullValue: 'None',
  ObjectValue: 'dict',
  StringValue: 'str',
  TupleValue: 'tuple',
  UndefinedValue: 'Undefined',
}
export const nameOf = (value: Value): string =>
  value instanceof Lazy ? value.kind : (NAMES[value.type] ?? value.type)

export const refuse = (operation: string, ...values: readonly Value[]): never => {
  throw new Error(`${operation} is not supported for ${values.map(nameOf).join(' and ')}`)
}

export const isUndefined = (value: Value): boolean => value.type === 'UndefinedValue'
export const isTrue = (value: Value): boolean => value.__bool__().value
export const textOf = ({ type, value }: Value): string | null =>
  type === 'StringValue' ? (value as string) : null
export const dictOf = ({ type, value }: Value): Map<string, Value> | null =>
  type === 'ObjectValue' ? (value as Map<string, Value>) : null
/** Items of a list or a tuple. */
export const listOf = (value: Value): readonly Value[] | null =>
  /^(Array|Tuple)Value$/.test(value.type) && !(value instanceof Lazy)
    ? (value.value as readonly Value[])
    : null
/** A number; true is 1. */
export const numberOf = ({ type, value }: Value): number | null =>
  /^(Integer|Float|Boolean)Value$/.test(type) ? Number(value) : null
export const isFloat = ({ type }: Value): boolean => type === 'FloatValue'

/** What Python goes through. @throws Error for what it does not */
export const itemsOf = (value: Value): readonly Value[] => {
  if (value instanceof Lazy) {
    if (value.used && value.kind === 'generator') return []
    value.used = true
    return value.value as readonly Value[]
  }
  if (isUndefined(value)) return []
  const characters = textOf(value)
  if (characters !== null) return Array.from(characters, text)
  return listOf(value) ?? [...(dictOf(value)?.keys() ?? refuse('going through it', value))].map(text)
}

/** `len(value)`. */
export const lengthOf = (value: Value): number => {
  if (isUndefined(value)) return 0
  if (value instanceof Lazy)
    return value.kind === 'view' ? (value.value as []).length : refuse('length', value)
  const characters = textOf(value)
  if (characters !== null) return Array.from(characters).length
  return listOf(value)?.length ?? dictOf(value)?.size ?? refuse('length', value)
}

export const isEqual = (a: Value, b: Value): boolean => {
  if (a === b) return true
  if (a instanceof Lazy || b instanceof Lazy) return refuse('==', a, b)
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== null || y !== null) return x === y
  if (a.type !== b.type) return false
  const [items, others] = [listOf(a), listOf(b)]
  if (items && others)
    return items.length === others.length && items.every((item, i) => isEqual(item, others[i]))
  const [dict, other] = [dictOf(a), dictOf(b)]
  if (dict === null || other === null) return a.value === b.value
  return (
    dict.size === other.size &&
    [...dict].every(([key, item]) => other.has(key) && isEqual(item, other.get(key)!))
  )
}

/** Below 0 when `a` comes first. @throws Error for what has no order in Python, and for lists */
export const compare = (a: Value, b: Value): number => {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== null && y !== null) return x - y
  const [left, right] = [textOf(a), textOf(b)]
  if (left === null || right === null) return refuse('an order', a, b)
  // By code points, as Python's.
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

/** `str(value)`. @throws Error for what Python prints with its place in memory, or as a view or a generator */
export const print = (value: Value): string => {
  const plain = printAtom(value)
  if (plain !== null) return plain
  const dict = dictOf(value)
  if (dict !== null)
    return `{${[...dict].map(([key, item]) => `${quote(key)}: ${represent(item)}`).join(', ')}}`
  const items = listOf(value)?.map(represent) ?? refuse('printing', value)
  if (value.type !== 'TupleValue') return `[${items.join(', ')}]`
  return `(${items.join(', ')}${items.length === 1 ? ',' : ''})`
}

const represent = (value: Value): string => {
  if (isUndefined(value)) return 'Undefined'
  if (value instanceof SafeText) return refuse('printing safe text within', value)
  const string = textOf(value)
  return string === null ? print(value) : quote(string)
}

const printAtom = (value: Value): string | null => {
  if (isUndefined(value)) return ''
  if (value.type === 'NullValue') return 'None'
  if (value.type === 'BooleanValue') return value.value ? 'True' : 'False'
  if (value.type === 'IntegerValue') return BigInt(value.value as number).toString()
  return isFloat(value) ? printFloat(value.value as number) : textOf(value)
}

export interface JsonOptions {
  ascii: boolean
  /** What a level is indented by; null for all in one line. */
  indent: string | null
  /** Between items, and behind keys. */
  separators: readonly [string, string]
  sorted: boolean
}

const jsonText = (value: string, { ascii }: JsonOptions): string => {
  const written = JSON.stringify(value)
  return ascii
    ? written.replace(/[\x7f-\uffff]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : written
}

/** `json.dumps(value)` within `depth` others. @throws Error for what JSON has not */
export const toJson = (value: Value, options: JsonOptions, depth = 0): string => {
  const { indent, separators, sorted } = options
  const string = textOf(value)
  if (string !== null) return jsonText(string, options)
  if (value.type === 'NullValue') return 'null'
  if (numberOf(value) !== null) return print(value).replace('True', 'true').replace('False', 'false')
  const dict = dictOf(value)
  const keys = [...(dict?.keys() ?? [])]
  if (sorted) keys.sort((a, b) => compare(text(a), text(b)))
  const inner = (item: Value) => toJson(item, options, depth + 1)
  const parts = dict
    ? keys.map(key => jsonText(key, options) + separators[1] + inner(dict.get(key)!))
    : (listOf(value)?.map(inner) ?? refuse('tojson', value))
  const line = (level: number) => (indent === null || parts.length === 0 ? '' : `\n${indent.repeat(level)}`)
  const [open, close] = dict ? '{}' : '[]'
  return open + line(depth + 1) + parts.join(separators[0] + line(depth + 1)) + line(depth) + close
}

/** `a + b` of texts, where one of them is safe. */
export const addSafely = (a: Value, b: Value): Value => {
  const escaped = (value: Value) =>
    value instanceof SafeText ? (value.value as string) : escapeHtml(textOf(value)!)
  return new SafeText(escaped(a) + escaped(b))
}
