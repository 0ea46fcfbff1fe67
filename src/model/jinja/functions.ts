/** @file Functions that every template has: those of Jinja, and those that the transformers library adds. */

import type { Budget } from './budget.ts'
import { Arguments } from './given.ts'
import { print } from './print.ts'
import { strftime } from './strftime.ts'
import {
  Dict,
  Float,
  type Given,
  itemsOf,
  Namespace,
  numberOf,
  Range,
  refuse,
  Thing,
  textOf,
  type Value,
} from './values.ts'

/** Numbers that `range` gives at once: the limit of Jinja's sandbox. */
const MAX_RANGE = 100_000

const range = ({ args, kwargs }: Given): Range => {
  if (kwargs.size > 0 || args.length < 1 || args.length > 3)
    throw new Error('range: expected one to three numbers')
  const numbers = args.map(wholeNumber)
  const [start, stop] = numbers.length === 1 ? [0, numbers[0]] : numbers
  const step = numbers[2] ?? 1
  if (step === 0) throw new Error('range: expected a step other than 0')
  const count = Range.count(start, stop, step)
  if (count > MAX_RANGE) throw new Error(`range: expected at most ${MAX_RANGE} numbers, got ${count}`)
  return new Range(start, stop, step)
}

const wholeNumber = (value: Value): number =>
  value instanceof Float ? refuse('range', value) : (numberOf(value) ?? refuse('range', value))

const pairOf = (value: Value, budget: Budget): readonly [Value, Value] => {
  const [key, item, ...more] = itemsOf(value, budget)
  if (item === undefined || more.length > 0) throw new Error('dict: expected pairs')
  return [key, item]
}

const entriesOf = (name: string, { args, kwargs }: Given, budget: Budget): (readonly [Value, Value])[] => {
  if (args.length > 1) throw new Error(`${name}: expected at most one value without a name`)
  const [source] = args
  if (source === undefined) return [...kwargs]
  const entries =
    source instanceof Dict ? source.entries() : itemsOf(source, budget).map(pair => pairOf(pair, budget))
  return [...entries, ...kwargs]
}

const namespace = (given: Given, budget: Budget): Namespace => {
  const made = new Namespace()
  for (const [key, value] of entriesOf('namespace', given, budget))
    made.fields.set(textOf(key) ?? refuse('namespace', key), value)
  return made
}

/** Gives nothing when it is first called, and its text from then on. */
const joiner = (given: Given): Thing => {
  const separator = new Arguments('joiner', given, ['sep']).text('sep', ', ')
  let isUsed = false
  return new Thing('joiner', () => {
    const text = isUsed ? separator : ''
    isUsed = true
    return text
  })
}

/** Gives its values in turn. */
const cycler = ({ args }: Given): Thing => {
  if (args.length === 0) throw new Error('cycler: expected at least one value')
  let place = 0
  const current = () => args[place]
  const next = () => {
    const value = current()
    place = (place + 1) % args.length
    return value
  }
  const reset = () => {
    place = 0
    return null
  }
  return new Thing('cycler', null, {
    current,
    next: () => new Thing('next', next),
    reset: () => new Thing('reset', reset),
  })
}

const raise = (given: Given, budget: Budget): never => {
  throw new Error(print(new Arguments('raise_exception', given, ['message']).value('message'), budget))
}

const now = (given: Given): string =>
  strftime(new Date(), new Arguments('strftime_now', given, ['format']).text('format'))

/** What every template can call. */
export const globalsFor = (budget: Budget): ReadonlyMap<string, Value> => {
  const functions: Readonly<Record<string, (given: Given, budget: Budget) => Value>> = {
    range,
    dict: given => new Dict(entriesOf('dict', given, budget)),
    namespace,
    joiner,
    cycler,
    raise_exception: raise,
    strftime_now: now,
  }
  return new Map(
    Object.entries(functions).map(([name, call]) => [name, new Thing(name, given => call(given, budget))]),
  )
}
