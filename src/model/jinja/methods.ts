/** @file Methods of texts, lists and dictionaries that a template may call; none of them changes anything. */

import type { Budget } from './budget.ts'
import { Arguments } from './given.ts'
import {
  capitalize,
  expandTabs,
  IS,
  splitAt,
  splitAtSpace,
  splitAtSpaceFromRight,
  splitLines,
  strip,
  swapCase,
  titleCase,
} from './text.ts'
import {
  compare,
  Dict,
  type Given,
  isEqual,
  itemsOf,
  lengthOf,
  refuse,
  Tuple,
  textOf,
  type Value,
  View,
} from './values.ts'

type Method<T> = (self: T, given: Given, budget: Budget) => Value

/** A method of texts without arguments. */
const plain =
  (change: (text: string) => Value): Method<string> =>
  (text, given) => {
    new Arguments('the method', given, [])
    return change(text)
  }

const stripped =
  (sides: 'both' | 'left' | 'right'): Method<string> =>
  (text, given) =>
    strip(text, new Arguments('strip', given, ['chars']).textOrNone('chars'), sides)

const split =
  (fromRight: boolean): Method<string> =>
  (text, given, budget) => {
    const args = new Arguments('split', given, ['sep', 'maxsplit'])
    const [separator, limit] = [args.textOrNone('sep'), args.integer('maxsplit', -1)]
    budget.charge(text.length / 64)
    const atSpace = fromRight ? splitAtSpaceFromRight : splitAtSpace
    return separator === null ? atSpace(text, limit) : splitAt(text, separator, limit, fromRight)
  }

/** Where a part lies between the characters `start` and `end`: -1 for nowhere. */
const find = (text: string, given: Given, fromRight: boolean): number => {
  const [part, start, end] = partBetween('find', given)
  const characters = Array.from(text)
  const [from, to] = bounds(characters.length, start, end)
  if (from > to) return -1
  const within = characters.slice(from, to).join('')
  const at = fromRight ? within.lastIndexOf(part) : within.indexOf(part)
  return at < 0 ? -1 : from + Array.from(within.slice(0, at)).length
}

const partBetween = (name: string, given: Given): [part: string, start: number, end: number | null] => {
  const args = new Arguments(name, given, ['part', 'start', 'end'])
  const bound = (key: string) => (args.value(key, null) === null ? null : args.integer(key))
  return [args.text('part'), bound('start') ?? 0, bound('end')]
}

const bounds = (length: number, start: number, end: number | null): [from: number, to: number] => {
  const place = (at: number) => Math.min(length, at < 0 ? Math.max(0, length + at) : at)
  return [start > length ? start : place(start), end === null ? length : place(end)]
}

const found = (at: number): number => {
  if (at < 0) throw new Error('index: there is no such part')
  return at
}

/** `startswith`, `endswith`: one text, or any of a tuple. */
const borders =
  (isEnd: boolean): Method<string> =>
  (text, given) => {
    const args = new Arguments('startswith', given, ['part', 'start', 'end'])
    const part = args.value('part')
    const bound = (key: string) => (args.value(key, null) === null ? null : args.integer(key))
    const characters = Array.from(text)
    const [from, to] = bounds(characters.length, bound('start') ?? 0, bound('end'))
    const within = characters.slice(from, Math.max(from, to)).join('')
    const parts = part instanceof Tuple ? part.items : [part]
    return parts.some(one => {
      const border = textOf(one) ?? refuse(isEnd ? 'endswith' : 'startswith', one)
      return from <= to && (isEnd ? within.endsWith(border) : within.startsWith(border))
    })
  }

const partition =
  (fromRight: boolean): Method<string> =>
  (text, given) => {
    const separator = new Arguments('partition', given, ['sep']).text('sep')
    if (separator === '') throw new Error('partition: expected a separator, got an empty text')
    const at = fromRight ? text.lastIndexOf(separator) : text.indexOf(separator)
    if (at < 0) return new Tuple(fromRight ? ['', '', text] : [text, '', ''])
    return new Tuple([text.slice(0, at), separator, text.slice(at + separator.length)])
  }

/** Replaces a part at most `count` times (-1: always), and says the length of the result before it is made. */
export const replace = (text: string, old: string, by: string, count: number, budget: Budget): string => {
  budget.charge(text.length / 64)
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old)
  const times = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1)
  budget.text(text.length + times * by.length)
  return (
    parts.slice(0, times + 1).join(by) +
    parts
      .slice(times + 1)
      .map(part => old + part)
      .join('')
  )
}

const align =
  (side: 'left' | 'right' | 'both'): Method<string> =>
  (text, given, budget) => {
    const args = new Arguments('center', given, ['width', 'fillchar'])
    return padTo(text, args.integer('width'), args.text('fillchar', ' '), side, budget)
  }

/** Fills up to a width in characters: for `both` as `center` does, which puts an odd one left where the width is odd. */
export const padTo = (
  text: string,
  width: number,
  fill: string,
  side: 'left' | 'right' | 'both',
  budget: Budget,
): string => {
  if (lengthOf(fill) !== 1) throw new Error('center: expected one character to fill with')
  budget.text(Math.max(0, width))
  const gap = Math.max(0, width - lengthOf(text)!)
  const left = side === 'left' ? 0 : side === 'right' ? gap : Math.floor(gap / 2) + (gap & width & 1)
  return fill.repeat(left) + text + fill.repeat(gap - left)
}

const zeroFill: Method<string> = (text, given, budget) => {
  const width = new Arguments('zfill', given, ['width']).integer('width')
  const sign = /^[-+]/.exec(text)?.[0] ?? ''
  return sign + padTo(text.slice(sign.length), width - sign.length, '0', 'right', budget)
}

/** Parts of a text joined by another. */
export const joinTexts = (parts: readonly string[], between: string, budget: Budget): string => {
  budget.text(parts.reduce((sum, part) => sum + part.length, between.length * Math.max(0, parts.length - 1)))
  return parts.join(between)
}

const remove =
  (isEnd: boolean): Method<string> =>
  (text, given) => {
    const part = new Arguments('removeprefix', given, ['part']).text('part')
    if (part === '' || !(isEnd ? text.endsWith(part) : text.startsWith(part))) return text
    return isEnd ? text.slice(0, -part.length) : text.slice(part.length)
  }

const TEXT: Readonly<Record<string, Method<string>>> = {
  ...Object.fromEntries(Object.entries(IS).map(([name, test]) => [name, plain(test)])),
  capitalize: plain(capitalize),
  casefold: plain(text => text.toUpperCase().toLowerCase().replaceAll('ς', 'σ')),
  center: align('both'),
  count: (text, given) => {
    const [part, start, end] = partBetween('count', given)
    const characters = Array.from(text)
    const within = characters.slice(...bounds(characters.length, start, end)).join('')
    return part === '' ? Array.from(within).length + 1 : within.split(part).length - 1
  },
  endswith: borders(true),
  expandtabs: (text, given, budget) => {
    const size = new Arguments('expandtabs', given, ['tabsize']).integer('tabsize', 8)
    budget.text(text.length * Math.max(1, size))
    return expandTabs(text, size)
  },
  find: (text, given) => find(text, given, false),
  index: (text, given) => found(find(text, given, false)),
  join: (text, given, budget) => {
    const items = itemsOf(new Arguments('join', given, ['iterable']).value('iterable'), budget)
    return joinTexts(
      items.map(item => textOf(item) ?? refuse('join', item)),
      text,
      budget,
    )
  },
  ljust: align('left'),
  lower: plain(text => text.toLowerCase()),
  lstrip: stripped('left'),
  partition: partition(false),
  removeprefix: remove(false),
  removesuffix: remove(true),
  replace: (text, given, budget) => {
    if (given.kwargs.size > 0) throw new Error('replace: expected no named arguments')
    const args = new Arguments('replace', given, ['old', 'new', 'count'])
    return replace(text, args.text('old'), args.text('new'), args.integer('count', -1), budget)
  },
  rfind: (text, given) => find(text, given, true),
  rindex: (text, given) => found(find(text, given, true)),
  rjust: align('right'),
  rpartition: partition(true),
  rsplit: split(true),
  rstrip: stripped('right'),
  split: split(false),
  splitlines: (text, given) =>
    splitLines(text, new Arguments('splitlines', given, ['keepends']).isTrue('keepends')),
  startswith: borders(false),
  strip: stripped('both'),
  swapcase: plain(swapCase),
  title: plain(titleCase),
  upper: plain(text => text.toUpperCase()),
  zfill: zeroFill,
}

const count: Method<readonly Value[]> = (items, given, budget) => {
  const value = new Arguments('count', given, ['value']).value('value')
  return items.filter(item => isEqual(item, value, budget)).length
}

const index: Method<readonly Value[]> = (items, given, budget) => {
  const args = new Arguments('index', given, ['value', 'start', 'stop'])
  const [from, to] = bounds(items.length, args.integer('start', 0), args.integer('stop', items.length))
  const value = args.value('value')
  return found(items.findIndex((item, i) => i >= from && i < to && isEqual(item, value, budget)))
}

const LIST: Readonly<Record<string, Method<readonly Value[]>>> = {
  count,
  index,
  copy: items => [...items],
}

const view =
  (kind: View['kind']): Method<Dict> =>
  (dict, given) => {
    new Arguments(kind, given, [])
    return new View(kind, dict)
  }

const DICT: Readonly<Record<string, Method<Dict>>> = {
  copy: dict => new Dict(dict.entries()),
  get: (dict, given) => {
    if (given.kwargs.size > 0) throw new Error('get: expected no named arguments')
    const args = new Arguments('get', given, ['key', 'default'])
    return dict.get(args.value('key')) ?? args.value('default', null)
  },
  items: view('items'),
  keys: view('keys'),
  values: view('values'),
}

/** The method of a value, or null. What would change the value is not there, as in the sandbox of the transformers library. */
export const methodOf = (value: Value, name: string): ((given: Given, budget: Budget) => Value) | null => {
  const bind = <T>(methods: Readonly<Record<string, Method<T>>>, self: T) => {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined
    return method === undefined ? null : (given: Given, budget: Budget) => method(self, given, budget)
  }
  const text = textOf(value)
  if (text !== null) return bind(TEXT, text)
  if (Array.isArray(value)) return bind(LIST, value)
  if (value instanceof Tuple) return name === 'copy' ? null : bind(LIST, value.items)
  return value instanceof Dict ? bind(DICT, value) : null
}

/** Sorts as Python does: stable, and refusing what has no order. */
export const sortBy = <T>(
  items: readonly T[],
  key: (item: T) => Value,
  isReversed: boolean,
  budget: Budget,
): T[] => {
  const keyed = items.map(item => [key(item), item] as const)
  const sign = isReversed ? -1 : 1
  return keyed.toSorted(([a], [b]) => sign * compare(a, b, budget)).map(([, item]) => item)
}
