/** @file Arguments by place and by name, and the methods of texts and dictionaries that a template may call. */

import { capitalize, format, PYTHON_WORDS, pySplit, pyStrip, replace, splitLines, titleCase } from './text.ts'
import {
  bool,
  call,
  dictOf,
  itemsOf,
  Lazy,
  list,
  listOf,
  NONE,
  numberOf,
  print,
  reject,
  text,
  textOf,
  tuple,
  UNDEFINED,
  type Value,
} from './values.ts'

/** What a filter or a method was given. */
export interface Given {
  args: readonly Value[]
  kwargs: ReadonlyMap<string, Value>
}
type Arguments = readonly (Value | undefined)[]

/** Arguments in the order of their names. @throws Error for others */
export const take = ({ args, kwargs }: Given, ...names: readonly string[]): Arguments => {
  const unknown = [...kwargs.keys()].find(key => !names.includes(key) || names.indexOf(key) < args.length)
  if (unknown !== undefined) return reject(`the argument ${unknown}`)
  if (args.length > names.length) return reject(`more than ${names.length} arguments`)
  return names.map((name, i) => args[i] ?? kwargs.get(name))
}

/** The text of an argument; null for None and for what was not given. @throws Error for anything else */
export const textOrNull = (value: Value | undefined): string | null =>
  value === undefined || value.type === 'NullValue' ? null : (textOf(value) ?? reject('an argument', value))
export const textFrom = (value: Value | undefined): string =>
  textOrNull(value) ?? reject('an argument', value ?? NONE)
export const wholeFrom = (value: Value | undefined, missing: number): number =>
  value === undefined
    ? missing
    : /^(Integer|Boolean)/.test(value.type)
      ? Number(value.value)
      : reject('an argument', value)

type Method = (self: string, args: Arguments) => Value
const texts = (parts: readonly string[]) => list(parts.map(text))

const border =
  (name: 'startsWith' | 'endsWith'): Method =>
  (self, [part = NONE]) =>
    bool((part.type === 'TupleValue' ? listOf(part)! : [part]).some(one => self[name](textFrom(one))))

/** Names of arguments, and what a method makes of them. */
const TEXT: Readonly<Record<string, readonly [names: string, method: Method]>> = {
  capitalize: ['', self => text(capitalize(self))],
  endswith: ['part', border('endsWith')],
  join: ['iterable', (self, [items = NONE]) => text(itemsOf(items).map(textFrom).join(self))],
  lower: ['', self => text(self.toLowerCase())],
  lstrip: ['chars', (self, [chars]) => text(pyStrip(self, textOrNull(chars), 'left'))],
  replace: [
    'old new count',
    (self, [old, by, count]) => text(replace(self, textFrom(old), textFrom(by), wholeFrom(count, -1))),
  ],
  rstrip: ['chars', (self, [chars]) => text(pyStrip(self, textOrNull(chars), 'right'))],
  split: [
    'sep maxsplit',
    (self, [sep, limit]) => texts(pySplit(self, textOrNull(sep), wholeFrom(limit, -1))),
  ],
  splitlines: ['', self => texts(splitLines(self))],
  startswith: ['part', border('startsWith')],
  strip: ['chars', (self, [chars]) => text(pyStrip(self, textOrNull(chars), 'both'))],
  title: ['', self => text(titleCase(self, PYTHON_WORDS))],
  upper: ['', self => text(self.toUpperCase())],
}

const DICT: Readonly<Record<string, (entries: Map<string, Value>, given: Given) => Value>> = {
  get: (entries, given) => {
    const [key = NONE, missing = NONE] = take(given, 'key', 'default')
    return (textOf(key) === null ? null : entries.get(textOf(key)!)) ?? missing
  },
  items: entries =>
    new Lazy(
      [...entries].map(([key, item]) => tuple([text(key), item])),
      false,
    ),
  keys: entries => new Lazy([...entries.keys()].map(text), false),
  values: entries => new Lazy([...entries.values()], false),
}

/** What `value.name` is in Python where it is a method, else null. */
export const methodOf = (value: Value, name: string): Value | null => {
  const [self, entries] = [textOf(value), dictOf(value)]
  if (self !== null && name === 'format') return call(args => formatted(self, givenOf(args)))
  if (self !== null && Object.hasOwn(TEXT, name)) {
    const [names, method] = TEXT[name]
    return call(args => method(self, take(givenOf(args), ...names.split(' ').filter(Boolean))))
  }
  if (entries !== null && Object.hasOwn(DICT, name)) return call(args => DICT[name](entries, givenOf(args)))
  return null
}

const formatted = (self: string, { args, kwargs }: Given): Value => {
  const read = (name: string) => (/^\d/.test(name) ? args[Number(name)] : kwargs.get(name)) ?? UNDEFINED
  // A list may be short, and long when it is written out.
  const printed = (value: Value) =>
    textOf(value) ?? (numberOf(value) === null ? reject('format', value) : print(value))
  return text(format(self, name => printed(read(name))))
}

/** The library hands on arguments by name as the last one. */
const givenOf = (args: readonly Value[]): Given => {
  const last = args.at(-1)
  if (last?.type !== 'KeywordArgumentsValue') return { args, kwargs: new Map() }
  return { args: args.slice(0, -1), kwargs: last.value as Map<string, Value> }
}
