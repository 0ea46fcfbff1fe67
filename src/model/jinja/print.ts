/** @file Values as Python prints them, and as its `json` writes them. */

import type { Budget } from './budget.ts'
import {
  Dict,
  Float,
  Iterator,
  Markup,
  Namespace,
  numberOf,
  Range,
  refuse,
  Thing,
  Tuple,
  textOf,
  Undefined,
  type Value,
  View,
} from './values.ts'

/** Digits and exponent of the shortest decimal that reads back as the same number. */
const shortest = (value: number): [digits: string, exponent: number] => {
  const [mantissa, exponent] = Math.abs(value).toExponential().split('e')
  return [mantissa.replace('.', ''), Number(exponent)]
}

/** `repr` of a float: with an exponent below 1e-4 and from 1e16 on. */
export const printFloat = (value: number): string => {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const [digits, exponent] = shortest(value)
  if (exponent < -4 || exponent >= 16) {
    const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${`${Math.abs(exponent)}`.padStart(2, '0')}`
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}

/** A whole number with all its digits. */
export const printInteger = (value: number): string => BigInt(value).toString()

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0)!
  const [letter, width] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8]
  return SHORT[character] ?? `\\${letter}${code.toString(16).padStart(width, '0')}`
}

/** `repr` of a text: in single quotes, unless only those are in it. */
export const quote = (text: string): string => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text
    .replace(mark === '"' ? /\\/g : /[\\']/g, '\\$&')
    .replace(/[\p{C}\p{Z}]/gu, character => (character === ' ' ? ' ' : escapeCharacter(character)))
  return mark + escaped + mark
}

const list = (parts: readonly string[], budget: Budget): string => {
  budget.text(parts.reduce((sum, part) => sum + part.length + 2, 0))
  return parts.join(', ')
}

const quoteItems = (items: readonly Value[], budget: Budget): string =>
  list(
    items.map(item => represent(item, budget)),
    budget,
  )

const quoteDict = (dict: Dict, budget: Budget): string => {
  const pairs = dict.entries().map(([key, value]) => `${represent(key, budget)}: ${represent(value, budget)}`)
  return `{${list(pairs, budget)}}`
}

const quoteView = ({ kind, dict }: View, budget: Budget): string => {
  const items = kind === 'items' ? dict.entries().map(entry => new Tuple(entry)) : dict[kind]()
  return `dict_${kind}([${quoteItems(items, budget)}])`
}

/** `repr(value)`. @throws Error for what Python prints with its place in memory */
export const represent = (value: Value, budget: Budget): string => {
  budget.charge(1 / 4)
  if (typeof value === 'string') return quote(value)
  if (value instanceof Markup) return `Markup(${quote(value.text)})`
  if (value instanceof Undefined) return 'Undefined'
  return print(value, budget)
}

/** `str(value)`. @throws Error for what Python prints with its place in memory */
export const print = (value: Value, budget: Budget): string => {
  if (typeof value === 'string') return value
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return printInteger(value)
  if (value instanceof Float) return printFloat(value.value)
  if (value instanceof Markup) return value.text
  if (value instanceof Undefined) return ''
  return printHolder(value, budget)
}

const printHolder = (value: Value, budget: Budget): string => {
  if (Array.isArray(value)) return `[${quoteItems(value, budget)}]`
  if (value instanceof Tuple)
    return `(${quoteItems(value.items, budget)}${value.items.length === 1 ? ',' : ''})`
  if (value instanceof Dict) return quoteDict(value, budget)
  if (value instanceof Range) return printRange(value)
  if (value instanceof View) return quoteView(value, budget)
  if (value instanceof Namespace) return `<Namespace ${quoteDict(new Dict(value.fields), budget)}>`
  const name = value instanceof Thing || value instanceof Iterator ? value.name : ''
  throw new Error(`${name}: cannot be printed; call it, or make a list of it`)
}

const printRange = ({ start, stop, step }: Range): string =>
  `range(${start}, ${stop}${step === 1 ? '' : `, ${step}`})`

export interface JsonOptions {
  ascii: boolean
  /** What a level is indented by; null for all in one line. */
  indent: string | null
  /** Between items, and behind keys. */
  separators: readonly [string, string]
  sorted: boolean
}

const jsonText = (text: string, { ascii }: JsonOptions): string => {
  const written = JSON.stringify(text)
  if (!ascii) return written
  return written.replace(/[\x7f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const JSON_WORDS: Readonly<Record<string, string>> = { nan: 'NaN', inf: 'Infinity', '-inf': '-Infinity' }

const jsonAtom = (value: Value, options: JsonOptions): string | null => {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return `${value}`
  if (typeof value === 'number') return printInteger(value)
  const text = textOf(value)
  if (text !== null) return jsonText(text, options)
  if (!(value instanceof Float)) return null
  const printed = printFloat(value.value)
  return JSON_WORDS[printed] ?? printed
}

const jsonKey = (key: Value, options: JsonOptions): string => {
  const text = textOf(key)
  return jsonText(text ?? jsonAtom(key, options) ?? refuse('tojson: a key', key), options)
}

/** Entries by their keys, in Python's order of texts or of numbers. */
const sortEntries = (dict: Dict): (readonly [Value, Value])[] => {
  const rank = ([key]: readonly [Value, Value]) =>
    textOf(key) ?? numberOf(key) ?? refuse('tojson: a key', key)
  const order = (a: readonly [Value, Value], b: readonly [Value, Value]) => {
    const [x, y] = [rank(a), rank(b)]
    if (typeof x !== typeof y) return refuse('tojson: the order of keys', a[0], b[0])
    if (typeof x === 'number') return x - (y as number)
    return Buffer.compare(Buffer.from(x, 'utf8'), Buffer.from(y as string, 'utf8'))
  }
  return dict.entries().toSorted(order)
}

/** `json.dumps(value)`. @param depth of the value within what is written */
export const toJson = (value: Value, options: JsonOptions, budget: Budget, depth = 0): string => {
  budget.charge(1 / 4)
  const atom = jsonAtom(value, options)
  if (atom !== null) return atom
  const inner = (item: Value) => toJson(item, options, budget, depth + 1)
  if (value instanceof Dict) {
    const entries = options.sorted ? sortEntries(value) : value.entries()
    const parts = entries.map(([key, item]) => jsonKey(key, options) + options.separators[1] + inner(item))
    return bracket('{', parts, '}', options, budget, depth)
  }
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : null
  if (items === null) return refuse('tojson', value)
  return bracket('[', items.map(inner), ']', options, budget, depth)
}

const bracket = (
  open: string,
  parts: readonly string[],
  close: string,
  { indent, separators: [between] }: JsonOptions,
  budget: Budget,
  depth: number,
): string => {
  const line = (level: number) => (indent === null ? '' : `\n${indent.repeat(level)}`)
  const gap = line(depth + 1)
  budget.text(parts.reduce((sum, part) => sum + part.length + between.length + gap.length, 2))
  return parts.length === 0 ? open + close : open + gap + parts.join(between + gap) + line(depth) + close
}
