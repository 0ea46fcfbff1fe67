/** @file Attributes and items of values: `x.name`, `x[key]`, `x[from:to:step]`, as Jinja's sandbox looks them up. */

import type { Budget } from './budget.ts'
import { formatText } from './format.ts'
import { methodOf } from './methods.ts'
import {
  Dict,
  Float,
  type Given,
  Markup,
  Namespace,
  numberOf,
  Range,
  refuse,
  Thing,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from './values.ts'

/** What is in a list by its place, from the end where that is below 0. */
const at = <T>(items: readonly T[], place: number): T | undefined => items.at(place)

const missing = (value: Value, name: Value): Undefined =>
  new Undefined(`${typeName(value)} has no ${typeof name === 'string' ? JSON.stringify(name) : 'such item'}`)

const assertDefined = (value: Value): void => {
  if (value instanceof Undefined) throw new Error(value.why)
}

/** Methods that would have to escape what they are given. */
const ESCAPING = new Set(['format', 'join', 'replace'])

const asMarkup = (value: Value): Value => {
  if (typeof value === 'string') return new Markup(value)
  return Array.isArray(value) ? value.map(asMarkup) : value
}

const markupMethod = (name: string, call: (given: Given) => Value) => (given: Given) => {
  if (ESCAPING.has(name)) throw new Error(`${name}: not supported on text that is marked as safe`)
  return asMarkup(call(given))
}

const format =
  (text: string, budget: Budget) =>
  (given: Given): Value => {
    const part = (value: Value, name: Value, isAttribute: boolean) =>
      isAttribute ? getAttribute(value, name as string, budget) : getItem(value, name, budget)
    return formatText(text, { ...given, part, budget })
  }

/** `getattr(value, name)`; undefined where there is none. */
const attributeOf = (value: Value, name: string, budget: Budget): Value | undefined => {
  if (value instanceof Thing)
    return Object.hasOwn(value.attributes, name) ? value.attributes[name]() : undefined
  if (value instanceof Namespace) return value.fields.get(name)
  if (value instanceof Tuple && value.names.includes(name)) return value.items[value.names.indexOf(name)]
  const text = textOf(value)
  const method = text !== null && name === 'format' ? format(text, budget) : methodOf(value, name)
  if (method === null) return undefined
  const call = (given: Given) => method(given, budget)
  return new Thing(name, value instanceof Markup ? markupMethod(name, call) : call)
}

/** `value.name`: an attribute, else an item. @throws Error for something undefined */
export const getAttribute = (value: Value, name: string, budget: Budget): Value => {
  assertDefined(value)
  const attribute = attributeOf(value, name, budget)
  const found = attribute === undefined && value instanceof Dict ? value.get(name) : attribute
  return found === undefined ? missing(value, name) : found
}

/** What lies in a value under a key; undefined where nothing does. */
const itemOf = (value: Value, key: Value): Value | undefined => {
  if (value instanceof Dict) return isKey(key) ? value.get(key) : undefined
  const place = key instanceof Float ? null : numberOf(key)
  if (place === null) return undefined
  const text = textOf(value)
  if (text !== null) return at(Array.from(text), place)
  if (Array.isArray(value)) return at(value, place)
  return value instanceof Tuple || value instanceof Range ? at(value.items, place) : undefined
}

const isKey = (key: Value): boolean => key === null || textOf(key) !== null || numberOf(key) !== null

/** `value[key]`: an item, else an attribute. @throws Error for something undefined */
export const getItem = (value: Value, key: Value, budget: Budget): Value => {
  assertDefined(value)
  const item = itemOf(value, key)
  if (item !== undefined) return item
  const name = textOf(key)
  const attribute = name === null ? undefined : attributeOf(value, name, budget)
  return attribute === undefined ? missing(value, key) : attribute
}

/** First, end and step of a slice of so many elements, as Python clips them. */
const clip = (length: number, [from, to, by]: readonly (number | null)[]): [number, number, number] => {
  const step = by ?? 1
  if (step === 0) throw new Error('slice: expected a step other than 0')
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1]
  const place = (x: number) => Math.min(high, Math.max(low, x < 0 ? x + length : x))
  const [first, last] = step > 0 ? [low, high] : [high, low]
  return [from === null ? first : place(from), to === null ? last : place(to), step]
}

const cut = <T>(items: readonly T[], parts: readonly (number | null)[]): T[] => {
  const [first, end, step] = clip(items.length, parts)
  const kept: T[] = []
  for (let i = first; step > 0 ? i < end : i > end; i += step) kept.push(items[i])
  return kept
}

const cutRange = ({ start, step, items }: Range, parts: readonly (number | null)[]): Range => {
  const [first, end, by] = clip(items.length, parts)
  return new Range(start + first * step, start + end * step, step * by)
}

/** `value[from:to:step]`. @throws Error where there is nothing to cut */
export const getSlice = (value: Value, bounds: readonly Value[], budget: Budget): Value => {
  assertDefined(value)
  const parts = bounds.map(bound =>
    bound === null
      ? null
      : bound instanceof Float
        ? refuse('slice', bound)
        : (numberOf(bound) ?? refuse('slice', bound)),
  )
  const text = textOf(value)
  if (text !== null) {
    budget.charge(text.length / 64)
    const kept = cut(Array.from(text), parts).join('')
    return value instanceof Markup ? new Markup(kept) : kept
  }
  if (Array.isArray(value)) return cut(value, parts)
  if (value instanceof Tuple) return new Tuple(cut(value.items, parts))
  if (value instanceof Range) return cutRange(value, parts)
  return refuse('slice', value)
}
