/** @file Filters of templates: what stands behind `|`. */

import { calculate } from './arithmetic.ts'
import type { Budget } from './budget.ts'
import { percent } from './format.ts'
import { Arguments } from './given.ts'
import { getAttribute, getItem } from './members.ts'
import { joinTexts, methodOf, padTo, replace, sortBy } from './methods.ts'
import { type JsonOptions, print, toJson } from './print.ts'
import { passes } from './tests.ts'
import { capitalize, escapeHtml, SPACE, splitLines, strip } from './text.ts'
import {
  compare,
  Dict,
  Float,
  type Given,
  Iterator,
  isEqual,
  isTrue,
  itemsOf,
  lengthOf,
  Markup,
  numberOf,
  refuse,
  Tuple,
  textOf,
  tryItems,
  typeName,
  Undefined,
  type Value,
} from './values.ts'

type Filter = (value: Value, given: Given, budget: Budget) => Value

/** A filter without arguments. */
const plain =
  (apply: (value: Value, budget: Budget) => Value): Filter =>
  (value, given, budget) => {
    new Arguments('the filter', given, [])
    return apply(value, budget)
  }

/** A filter of the text that a value is printed as; text that is marked as safe stays so. */
const ofText = (change: (text: string) => string): Filter =>
  plain((value, budget) => asBefore(value, change(print(value, budget))))

const asBefore = (value: Value, text: string): Value => (value instanceof Markup ? new Markup(text) : text)

/** Reads `attribute`: names and places with dots between them. */
const getter = (path: Value, budget: Budget, fallback: Value = null): ((item: Value) => Value) => {
  if (path === null) return item => item
  const text = textOf(path)
  const parts =
    text === null ? [path] : text.split('.').map(part => (/^\d+$/.test(part) ? Number(part) : part))
  return item => {
    let found = item
    for (const part of parts) {
      found = getItem(found, part, budget)
      if (fallback !== null && found instanceof Undefined) found = fallback
    }
    return found
  }
}

/** Texts are compared in lower case unless `case_sensitive`. */
const withoutCase = (value: Value): Value => (textOf(value) === null ? value : textOf(value)!.toLowerCase())

const keyOf = (args: Arguments, budget: Budget, fallback: Value = null): ((item: Value) => Value) => {
  const get = getter(args.value('attribute', null), budget, fallback)
  return args.isTrue('case_sensitive') ? get : item => withoutCase(get(item))
}

const sort: Filter = (value, given, budget) => {
  const args = new Arguments('sort', given, ['reverse', 'case_sensitive', 'attribute'])
  const attribute = args.value('attribute', null)
  const paths = textOf(attribute)?.split(',') ?? [attribute]
  const getters = paths.map(path => getter(path, budget))
  const change = args.isTrue('case_sensitive') ? (item: Value) => item : withoutCase
  const key = (item: Value) => getters.map(get => change(get(item)))
  return sortBy(itemsOf(value, budget), key, args.isTrue('reverse'), budget)
}

const unique: Filter = (value, given, budget) => {
  const args = new Arguments('unique', given, ['case_sensitive', 'attribute'])
  const key = keyOf(args, budget)
  const seen = new Dict()
  const kept = itemsOf(value, budget).filter(item => {
    const hash = key(item)
    const isNew = !seen.has(hash)
    seen.set(hash, null)
    return isNew
  })
  return new Iterator('unique', kept)
}

const extreme =
  (sign: 1 | -1): Filter =>
  (value, given, budget) => {
    const key = keyOf(new Arguments('min', given, ['case_sensitive', 'attribute']), budget)
    const items = itemsOf(value, budget)
    if (items.length === 0) return new Undefined('no aggregated item, the sequence was empty')
    return items.reduce((best, item) => (sign * compare(key(item), key(best), budget) < 0 ? item : best))
  }

const groupBy: Filter = (value, given, budget) => {
  const args = new Arguments('groupby', given, ['attribute', 'default', 'case_sensitive'])
  const get = getter(args.value('attribute'), budget, args.value('default', null))
  const key = args.isTrue('case_sensitive') ? get : (item: Value) => withoutCase(get(item))
  const groups: { key: Value; items: Value[] }[] = []
  for (const item of sortBy(itemsOf(value, budget), key, false, budget)) {
    const last = groups.at(-1)
    if (last && isEqual(key(item), last.key, budget)) last.items.push(item)
    else groups.push({ key: key(item), items: [item] })
  }
  return groups.map(({ items }) => new Tuple([get(items[0]), items], ['grouper', 'list']))
}

const dictSort: Filter = (value, given, budget) => {
  const args = new Arguments('dictsort', given, ['case_sensitive', 'by', 'reverse'])
  if (!(value instanceof Dict)) return refuse('dictsort', value)
  const place = ['key', 'value'].indexOf(args.text('by', 'key'))
  if (place < 0) throw new Error('dictsort: by: expected key or value')
  const change = args.isTrue('case_sensitive') ? (item: Value) => item : withoutCase
  const pairs = value.entries().map(entry => new Tuple(entry))
  return sortBy(pairs, pair => change(pair.items[place]), args.isTrue('reverse'), budget)
}

/** `map(attribute=...)`, or `map('filter', ...)`. As in Jinja, nothing comes of what is not true, also where it has no items. */
const map: Filter = (value, given, budget) => {
  if (!isTrue(value)) return new Iterator('map', [])
  if (given.args.length > 0) {
    const [name, ...args] = given.args
    const filter = textOf(name) ?? refuse('map', name)
    const applied = itemsOf(value, budget).map(item =>
      applyFilter(filter, item, { args, kwargs: given.kwargs }, budget),
    )
    return new Iterator('map', applied)
  }
  const args = new Arguments('map', given, ['attribute', 'default'])
  const get = getter(args.value('attribute'), budget, args.value('default', null))
  return new Iterator('map', itemsOf(value, budget).map(get))
}

/** `select`, `reject`, and both with an attribute first: those that pass a test, or that are true; of what is not true, none. */
const select =
  (wanted: boolean, hasAttribute: boolean): Filter =>
  (value, given, budget) => {
    if (!isTrue(value)) return new Iterator('select', [])
    const [attribute, ...others] = hasAttribute ? given.args : [null, ...given.args]
    if (attribute === undefined) throw new Error('selectattr: expected an attribute')
    const get = getter(attribute, budget)
    const [name, ...args] = others
    const test = name === undefined ? null : (textOf(name) ?? refuse('select', name))
    const holds = (item: Value) =>
      test === null ? isTrue(item) : passes(test, item, { args, kwargs: given.kwargs }, budget)
    return new Iterator(
      'select',
      itemsOf(value, budget).filter(item => holds(get(item)) === wanted),
    )
  }

const batch: Filter = (value, given, budget) => {
  const args = new Arguments('batch', given, ['linecount', 'fill_with'])
  const size = args.integer('linecount')
  if (size < 1) throw new Error('batch: expected at least 1 a batch')
  const fill = args.value('fill_with', null)
  const items = itemsOf(value, budget)
  const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  )
  const last = batches.at(-1)
  if (last === undefined || fill === null)
    return new Iterator(
      'batch',
      batches.map(one => [...one]),
    )
  budget.list(size)
  const filled = [...last, ...Array.from({ length: size - last.length }, () => fill)]
  return new Iterator('batch', [...batches.slice(0, -1).map(one => [...one]), filled])
}

const slice: Filter = (value, given, budget) => {
  const args = new Arguments('slice', given, ['slices', 'fill_with'])
  const [count, fill] = [args.integer('slices'), args.value('fill_with', null)]
  const items = itemsOf(value, budget)
  if (count < 1) throw new Error('slice: expected at least 1 slice')
  budget.list(count)
  const [size, longer] = [Math.floor(items.length / count), items.length % count]
  const slices = Array.from({ length: count }, (_, i) => {
    const start = i * size + Math.min(i, longer)
    const part = items.slice(start, start + size + (i < longer ? 1 : 0))
    return fill !== null && i >= longer ? [...part, fill] : part
  })
  return new Iterator(
    'slice',
    slices.map(one => [...one]),
  )
}

const join: Filter = (value, given, budget) => {
  const args = new Arguments('join', given, ['d', 'attribute'])
  const get = getter(args.value('attribute', null), budget)
  const parts = itemsOf(value, budget).map(item => print(get(item), budget))
  return joinTexts(parts, print(args.value('d', ''), budget), budget)
}

const fallback: Filter = (value, given) => {
  const args = new Arguments('default', given, ['default_value', 'boolean'])
  const isMissing = value instanceof Undefined || (args.isTrue('boolean') && !isTrue(value))
  return isMissing ? args.value('default_value', '') : value
}

const reverse: Filter = plain((value, budget) => {
  const text = textOf(value)
  if (text !== null) return asBefore(value, Array.from(text).reverse().join(''))
  return new Iterator('reverse', itemsOf(value, budget).toReversed())
})

const first: Filter = plain((value, budget) => {
  const item = value instanceof Iterator ? value.next() : itemsOf(value, budget)[0]
  return item === undefined ? new Undefined('no first item, the sequence was empty') : item
})

const last: Filter = plain((value, budget) => {
  if (value instanceof Iterator) return refuse('last', value)
  const item = itemsOf(value, budget).at(-1)
  return item === undefined ? new Undefined('no last item, the sequence was empty') : item
})

const length: Filter = plain(value => lengthOf(value) ?? refuse('length', value))

const items: Filter = plain(value => {
  if (value instanceof Undefined) return new Iterator('items', [])
  if (!(value instanceof Dict)) return refuse('items', value)
  return new Iterator(
    'items',
    value.entries().map(entry => new Tuple(entry)),
  )
})

const sum: Filter = (value, given, budget) => {
  const args = new Arguments('sum', given, ['attribute', 'start'])
  const get = getter(args.value('attribute', null), budget)
  const start = args.value('start', 0)
  if (textOf(start) !== null) return refuse('sum', start)
  return itemsOf(value, budget).reduce((total, item) => calculate('+', total, get(item), budget), start)
}

/** Rounds halves to the even digit, as Python does; 2.5 is one, 2.675 is not (it is a little less). */
const roundHalfEven = (value: number, digits: number): number => {
  const size = Math.abs(value)
  if (!(size < 1e21)) return value
  const whole = digits < 0 ? size / 10 ** -digits : size
  const places = Math.max(0, digits)
  // Enough digits to tell a half from what is near it; a half itself has few.
  const [, kept, next] = /^(.*)(.{60})$/s.exec(whole.toFixed(Math.min(100, places + 60)))!
  const isHalf = /^50*$/.test(next)
  const lower = Number(kept)
  const rounded = isHalf && /[02468]\.?$/.test(kept) ? lower : Number(whole.toFixed(places))
  return (
    Math.sign(value) * (digits < 0 ? rounded * 10 ** -digits : rounded) ||
    (Object.is(value, -0) ? -0 : 0 * value)
  )
}

const round: Filter = (value, given) => {
  const args = new Arguments('round', given, ['precision', 'method'])
  const [digits, method] = [args.integer('precision', 0), args.text('method', 'common')]
  const number = numberOf(value) ?? refuse('round', value)
  if (!['common', 'ceil', 'floor'].includes(method)) throw new Error('round: expected common, ceil or floor')
  if (method === 'common') {
    const rounded = roundHalfEven(number, Math.min(40, digits))
    return value instanceof Float ? new Float(rounded) : rounded
  }
  const scale = 10 ** digits
  return new Float((method === 'ceil' ? Math.ceil : Math.floor)(number * scale) / scale)
}

const DIGITS: Readonly<Record<number, RegExp>> = {
  2: /^(?:0b)?[01](?:_?[01])*$/i,
  8: /^(?:0o)?[0-7](?:_?[0-7])*$/i,
  10: /^\d(?:_?\d)*$/,
  16: /^(?:0x)?[\da-f](?:_?[\da-f])*$/i,
}

/** `int(text, base)`, or null. */
const parseWhole = (text: string, base: number): number | null => {
  const [, sign, digits] = /^([-+]?)(.*)$/s.exec(strip(text, null, 'both'))!
  const expected = DIGITS[base]
  if (expected === undefined) throw new Error(`int: expected base 2, 8, 10 or 16, got ${base}`)
  if (!expected.test(digits)) return null
  const value = Number.parseInt(digits.replace(/^0[bo]/i, '').replaceAll('_', ''), base)
  return sign === '-' ? -value : value
}

/** `float(text)`, or null. */
const parseFloatText = (text: string): number | null => {
  const trimmed = strip(text, null, 'both').replace(/(?<=\d)_(?=\d)/g, '')
  const word = /^([-+]?)(inf|infinity|nan)$/i.exec(trimmed)
  if (word) return /nan/i.test(word[2]) ? Number.NaN : word[1] === '-' ? -Infinity : Infinity
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(trimmed) ? Number(trimmed) : null
}

const toInteger: Filter = (value, given) => {
  const args = new Arguments('int', given, ['default', 'base'])
  if (value instanceof Undefined) return refuse('int', value)
  const text = textOf(value)
  const whole = text === null ? null : parseWhole(text, args.integer('base', 10))
  const number = whole ?? (text === null ? numberOf(value) : parseFloatText(text))
  return number === null || !Number.isFinite(number) ? args.value('default', 0) : Math.trunc(number)
}

const toFloat: Filter = (value, given) => {
  const args = new Arguments('float', given, ['default'])
  if (value instanceof Undefined) return refuse('float', value)
  const text = textOf(value)
  const number = text === null ? numberOf(value) : parseFloatText(text)
  return number === null ? args.value('default', new Float(0)) : new Float(number)
}

const indent: Filter = (value, given, budget) => {
  const args = new Arguments('indent', given, ['width', 'first', 'blank'])
  const by = textOf(args.value('width', 4)) ?? ' '.repeat(budget.width('indent', args.integer('width', 4)))
  const text = textOf(value) ?? refuse('indent', value)
  const lines = splitLines(`${text}\n`)
  budget.text(text.length + lines.length * by.length)
  const indented = lines.map((line, i) => {
    const isFirst = i === 0
    const goes = isFirst ? args.isTrue('first') : args.isTrue('blank') || line !== ''
    return goes ? by + line : line
  })
  return asBefore(value, indented.join('\n'))
}

const jsonOptions = (args: Arguments, budget: Budget): JsonOptions => {
  const [indentation, separators] = [args.value('indent', null), args.value('separators', null)]
  const spaces = () => ' '.repeat(Math.max(0, budget.width('tojson', args.integer('indent'))))
  const given =
    separators === null ? null : tryItems(separators)?.map(part => textOf(part) ?? refuse('tojson', part))
  if (given !== null && given?.length !== 2) throw new Error('tojson: separators: expected two texts')
  return {
    ascii: args.isTrue('ensure_ascii'),
    indent: indentation === null ? null : (textOf(indentation) ?? spaces()),
    separators: given ? [given[0], given[1]] : [indentation === null ? ', ' : ',', ': '],
    sorted: args.isTrue('sort_keys'),
  }
}

/** `tojson` of the transformers library: no HTML is escaped, and nothing beyond ASCII unless asked. */
const json: Filter = (value, given, budget) => {
  const args = new Arguments('tojson', given, ['ensure_ascii', 'indent', 'separators', 'sort_keys'])
  return toJson(value, jsonOptions(args, budget), budget)
}

const truncate: Filter = (value, given) => {
  const args = new Arguments('truncate', given, ['length', 'killwords', 'end', 'leeway'])
  const [limit, end] = [args.integer('length', 255), args.text('end', '...')]
  const characters = Array.from(textOf(value) ?? refuse('truncate', value))
  if (characters.length <= limit + args.integer('leeway', 5)) return value
  const kept = characters.slice(0, limit - Array.from(end).length).join('')
  const atWord = kept.includes(' ') ? kept.slice(0, kept.lastIndexOf(' ')) : kept
  return (args.isTrue('killwords') ? kept : atWord) + end
}

const TITLE_BREAK = new RegExp(`([-${SPACE}({\\[<]+)`)
const titleParts = (text: string) =>
  text
    .split(TITLE_BREAK)
    .map(part => {
      const [head = '', ...tail] = Array.from(part)
      return head.toUpperCase() + tail.join('').toLowerCase()
    })
    .join('')

/** `quote` of Python's urllib: a slash stays. */
const urlEncode = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/')

const absolute: Filter = plain(value => {
  const number = Math.abs(numberOf(value) ?? refuse('abs', value))
  return value instanceof Float ? new Float(number) : number
})

const attribute: Filter = (value, given, budget) => {
  const name = new Arguments('attr', given, ['name']).text('name')
  return value instanceof Dict && methodOf(value, name) === null
    ? new Undefined(`${typeName(value)} has no attribute ${JSON.stringify(name)}`)
    : getAttribute(value, name, budget)
}

const format: Filter = (value, { args, kwargs }, budget) => {
  if (args.length > 0 && kwargs.size > 0)
    throw new Error('format: expected values by place or by name, not both')
  return percent(print(value, budget), kwargs.size > 0 ? new Dict(kwargs) : new Tuple(args), budget)
}

const escapeOnce: Filter = plain((value, budget) =>
  value instanceof Markup ? value : new Markup(escapeHtml(print(value, budget))),
)

const FILTERS: Readonly<Record<string, Filter>> = {
  abs: absolute,
  attr: attribute,
  batch,
  capitalize: ofText(capitalize),
  center: (value, given, budget) => {
    const width = new Arguments('center', given, ['width']).integer('width', 80)
    return asBefore(value, padTo(print(value, budget), width, ' ', 'both', budget))
  },
  count: length,
  d: fallback,
  default: fallback,
  dictsort: dictSort,
  e: escapeOnce,
  escape: escapeOnce,
  first,
  float: toFloat,
  forceescape: plain((value, budget) => new Markup(escapeHtml(print(value, budget)))),
  format,
  groupby: groupBy,
  indent,
  int: toInteger,
  items,
  join,
  last,
  length,
  list: plain((value, budget) => [...itemsOf(value, budget)]),
  lower: ofText(text => text.toLowerCase()),
  map,
  max: extreme(-1),
  min: extreme(1),
  reject: select(false, false),
  rejectattr: select(false, true),
  replace: (value, given, budget) => {
    const args = new Arguments('replace', given, ['old', 'new', 'count'])
    const count = args.value('count', null) === null ? -1 : args.integer('count')
    const [old, by] = [print(args.value('old'), budget), print(args.value('new'), budget)]
    return replace(print(value, budget), old, by, count, budget)
  },
  reverse,
  round,
  safe: plain((value, budget) => new Markup(print(value, budget))),
  select: select(true, false),
  selectattr: select(true, true),
  slice,
  sort,
  string: plain((value, budget) => (value instanceof Markup ? value : print(value, budget))),
  sum,
  title: ofText(titleParts),
  tojson: json,
  trim: (value, given, budget) => {
    const chars = new Arguments('trim', given, ['chars']).textOrNone('chars')
    return asBefore(value, strip(print(value, budget), chars, 'both'))
  },
  truncate,
  unique,
  upper: ofText(text => text.toUpperCase()),
  urlencode: plain(value => urlEncode(textOf(value) ?? refuse('urlencode', value))),
  wordcount: plain((value, budget) => print(value, budget).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
}

/** Filters of Jinja that no chat template of 190 uses: HTML, web addresses, chance. */
const UNSUPPORTED = ['filesizeformat', 'pprint', 'random', 'striptags', 'urlize', 'wordwrap', 'xmlattr']

/** What a filter makes of a value. @throws Error for a filter that is not there */
export const applyFilter = (name: string, value: Value, given: Given, budget: Budget): Value => {
  if (Object.hasOwn(FILTERS, name)) return FILTERS[name](value, given, budget)
  throw new Error(`filter ${name}: ${UNSUPPORTED.includes(name) ? 'not supported' : 'there is none'}`)
}
