/** @file Filters and tests of templates: what stands behind `|` and `is`. */

import { Arguments, type Given } from './methods.ts'
import { capitalize, isLower, isUpper, JINJA_WORDS, replace, splitLines, strip, titleCase } from './text.ts'
import {
  bool,
  compare,
  dictOf,
  float,
  integer,
  isEqual,
  isFloat,
  isTrue,
  isUndefined,
  itemsOf,
  type JsonOptions,
  Lazy,
  lengthOf,
  list,
  listOf,
  NONE,
  numberOf,
  print,
  refuse,
  SafeText,
  text,
  textOf,
  toJson,
  tuple,
  UNDEFINED,
  type Value,
} from './values.ts'

type Filter = (value: Value, given: Given) => Value
type Test = (value: Value, other: Value) => boolean

const generator = (items: readonly Value[]) => new Lazy(items, 'generator')

/** A filter without arguments. */
const plain =
  (apply: (value: Value) => Value): Filter =>
  (value, given) => {
    new Arguments('the filter', given, [])
    return apply(value)
  }

/** A filter of the text that a value is printed as. */
const ofText = (change: (printed: string) => string): Filter =>
  plain(value => marked(value, change(print(value))))

/** Safe text stays so. */
const marked = (value: Value, changed: string): Value =>
  value instanceof SafeText ? new SafeText(changed) : text(changed)

/** `value.name`, `value['name']` or `value[0]`: what filters call an attribute. @throws Error for what is undefined */
const getItem = (value: Value, part: string): Value => {
  if (isUndefined(value)) return refuse(`the attribute ${part}`, value)
  if (value.type === 'NamespaceValue' || value instanceof Lazy) return refuse(`the attribute ${part}`, value)
  return (
    dictOf(value)?.get(part) ?? (/^\d+$/.test(part) ? listOf(value)?.[Number(part)] : undefined) ?? UNDEFINED
  )
}

const getter = (path: Value, fallback?: Value): ((item: Value) => Value) => {
  const parts = (
    path.type === 'IntegerValue' ? print(path) : (textOf(path) ?? refuse('an attribute', path))
  ).split('.')
  const step = (value: Value, part: string) => {
    const found = getItem(value, part)
    return fallback && isUndefined(found) ? fallback : found
  }
  return item => parts.reduce(step, item)
}

/** What `sort` and its like compare: an attribute, and texts in lower case unless `case_sensitive`. */
const keyOf = (args: Arguments): ((item: Value) => Value) => {
  const attribute = args.get('attribute') ?? NONE
  const get = attribute.type === 'NullValue' ? (item: Value) => item : getter(attribute)
  return item => {
    const key = get(item)
    const words = args.isTrue('case_sensitive') ? null : textOf(key)
    return words === null ? key : text(words.toLowerCase())
  }
}

const sortBy = <T>(items: readonly T[], key: (item: T) => Value, isReversed: boolean): T[] => {
  const keyed = items.map(item => [key(item), item] as const)
  return keyed.sort(([a], [b]) => (isReversed ? -1 : 1) * compare(a, b)).map(([, item]) => item)
}

const sort: Filter = (value, given) => {
  const args = new Arguments('sort', given, ['reverse', 'case_sensitive', 'attribute'])
  return list(sortBy(itemsOf(value), keyOf(args), args.isTrue('reverse')))
}

const dictSort: Filter = (value, given) => {
  const args = new Arguments('dictsort', given, ['case_sensitive', 'by', 'reverse'])
  const place = ['key', 'value'].indexOf(args.text('by', 'key'))
  if (place < 0) return refuse('dictsort: by', args.get('by')!)
  const pairs = [...(dictOf(value) ?? refuse('dictsort', value))].map(([key, item]) => [text(key), item])
  const key = keyOf(
    new Arguments('dictsort', { args: [bool(args.isTrue('case_sensitive'))], kwargs: new Map() }, [
      'case_sensitive',
    ]),
  )
  return list(sortBy(pairs, pair => key(pair[place]), args.isTrue('reverse')).map(tuple))
}

const unique: Filter = (value, given) => {
  const key = keyOf(new Arguments('unique', given, ['case_sensitive', 'attribute']))
  const seen = new Set<string>()
  const isNew = (item: Value) => {
    const found = key(item)
    const words =
      textOf(found) === null ? `${numberOf(found) ?? refuse('unique', found)}` : `"${textOf(found)}`
    return !seen.has(words) && seen.add(words) !== null
  }
  return generator(itemsOf(value).filter(isNew))
}

const extreme =
  (sign: 1 | -1): Filter =>
  (value, given) => {
    const key = keyOf(new Arguments('min', given, ['case_sensitive', 'attribute']))
    const items = itemsOf(value)
    const better = (best: Value, item: Value) => (sign * compare(key(item), key(best)) < 0 ? item : best)
    return items.length === 0 ? UNDEFINED : items.reduce(better)
  }

const nameFrom = (value: Value | undefined): string =>
  textOf(value ?? NONE) ?? refuse('a name of a filter', value ?? NONE)

/** `map(attribute=...)`, or `map('filter', ...)`. */
const map: Filter = (value, { args, kwargs }) => {
  if (args.length > 0) {
    const rest = { args: args.slice(1), kwargs }
    return generator(itemsOf(value).map(item => applyFilter(nameFrom(args[0]), item, rest)))
  }
  const named = new Arguments('map', { args, kwargs }, ['attribute', 'default'])
  return generator(itemsOf(value).map(getter(named.get('attribute') ?? NONE, named.get('default'))))
}

/** `select`, `reject`, and both with an attribute first: those that pass a test, or that are true. */
const select =
  (wanted: boolean, hasAttribute: boolean): Filter =>
  (value, { args, kwargs }) => {
    const get = hasAttribute ? getter(args[0] ?? NONE) : (item: Value) => item
    const [name, ...rest] = hasAttribute ? args.slice(1) : args
    const holds = (item: Value) =>
      name === undefined ? isTrue(item) : passes(nameFrom(name), item, { args: rest, kwargs })
    return generator(itemsOf(value).filter(item => holds(get(item)) === wanted))
  }

const join: Filter = (value, given) => {
  const args = new Arguments('join', given, ['d', 'attribute'])
  const get =
    given.kwargs.has('attribute') || given.args.length > 1
      ? getter(args.get('attribute')!)
      : (item: Value) => item
  return text(
    itemsOf(value)
      .map(item => print(get(item)))
      .join(print(args.get('d') ?? text(''))),
  )
}

const fallback: Filter = (value, given) => {
  const args = new Arguments('default', given, ['default_value', 'boolean'])
  const isMissing = isUndefined(value) || (args.isTrue('boolean') && !isTrue(value))
  return isMissing ? (args.get('default_value') ?? text('')) : value
}

const reverse = plain(value => {
  const characters = textOf(value)
  return characters === null
    ? generator([...itemsOf(value)].reverse())
    : text(Array.from(characters).reverse().join(''))
})

const last = plain(value => {
  if (value instanceof Lazy) return refuse('last', value)
  return itemsOf(value).at(-1) ?? UNDEFINED
})

const items = plain(value => {
  if (isUndefined(value)) return generator([])
  return generator(
    [...(dictOf(value) ?? refuse('items', value))].map(([key, item]) => tuple([text(key), item])),
  )
})

const sum: Filter = (value, given) => {
  const args = new Arguments('sum', given, ['attribute', 'start'])
  const get =
    given.args.length + given.kwargs.size === 0
      ? (item: Value) => item
      : getter(args.get('attribute') ?? NONE)
  const numbers = itemsOf(value).map(get)
  const total = numbers.reduce((x, item) => x + (numberOf(item) ?? refuse('sum', item)), 0)
  return numbers.some(isFloat) ? float(total) : integer(total)
}

const round: Filter = (value, given) => {
  const args = new Arguments('round', given, ['precision', 'method'])
  const [digits, method] = [args.integer('precision', 0), args.text('method', 'common')]
  const number = numberOf(value) ?? refuse('round', value)
  if (digits < 0 || digits > 15) throw new Error('round: expected a precision from 0 to 15')
  if (method === 'common') {
    if (!isFloat(value)) return integer(number)
    const isHalf = digits === 0 && Math.abs(number % 1) === 0.5
    return float(isHalf ? 2 * Math.round(number / 2) : Number(number.toFixed(digits)))
  }
  if (method !== 'ceil' && method !== 'floor') return refuse(`round: ${method}`)
  return float(Math[method](number * 10 ** digits) / 10 ** digits)
}

/** `int(text)` or `float(text)` for numbers as people write them, or null. */
const readNumber = (value: Value, expected: RegExp): number | null => {
  if (isUndefined(value)) return refuse('a number', value)
  const words = textOf(value)
  if (words === null) return numberOf(value)
  const trimmed = strip(words, null, 'both')
  if (/_|inf|nan/i.test(trimmed)) throw new Error(`a number written as ${trimmed} is not supported`)
  return expected.test(trimmed) ? Number(trimmed) : null
}
const DECIMAL = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i

const toInteger: Filter = (value, given) => {
  const missing = new Arguments('int', given, ['default']).get('default') ?? integer(0)
  const number = readNumber(value, DECIMAL)
  return number === null || !Number.isFinite(number) ? missing : integer(Math.trunc(number))
}

const toFloat: Filter = (value, given) => {
  const missing = new Arguments('float', given, ['default']).get('default') ?? float(0)
  const number = readNumber(value, DECIMAL)
  return number === null ? missing : float(number)
}

const spaces = (args: Arguments, name: string, missing?: number) =>
  textOf(args.get(name) ?? NONE) ?? ' '.repeat(Math.max(0, args.integer(name, missing)))

const indent: Filter = (value, given) => {
  const args = new Arguments('indent', given, ['width', 'first', 'blank'])
  const by = spaces(args, 'width', 4)
  const lines = splitLines(`${textOf(value) ?? refuse('indent', value)}\n`)
  const goes = (line: string, i: number) =>
    i === 0 ? args.isTrue('first') : args.isTrue('blank') || line !== ''
  return marked(value, lines.map((line, i) => (goes(line, i) ? by + line : line)).join('\n'))
}

/** `tojson` of the transformers library: no HTML is escaped, and nothing beyond ASCII unless asked. */
const json: Filter = (value, given) => {
  const args = new Arguments('tojson', given, ['ensure_ascii', 'indent', 'separators', 'sort_keys'])
  const isOneLine = (args.get('indent') ?? NONE).type === 'NullValue'
  const separators = args.get('separators') ?? NONE
  const between =
    separators.type === 'NullValue'
      ? null
      : itemsOf(separators).map(part => textOf(part) ?? refuse('separators', part))
  if (between && between.length !== 2) return refuse('tojson: separators', separators)
  const options: JsonOptions = {
    ascii: args.isTrue('ensure_ascii'),
    indent: isOneLine ? null : spaces(args, 'indent'),
    separators: (between as [string, string] | null) ?? [isOneLine ? ', ' : ',', ': '],
    sorted: args.isTrue('sort_keys'),
  }
  return text(toJson(value, options))
}

const length = plain(value => integer(lengthOf(value)))

const FILTERS: Readonly<Record<string, Filter>> = {
  abs: plain(value => {
    const number = Math.abs(numberOf(value) ?? refuse('abs', value))
    return isFloat(value) ? float(number) : integer(number)
  }),
  capitalize: ofText(capitalize),
  count: length,
  d: fallback,
  default: fallback,
  dictsort: dictSort,
  first: plain(value => itemsOf(value)[0] ?? UNDEFINED),
  float: toFloat,
  indent,
  int: toInteger,
  items,
  join,
  last,
  length,
  list: plain(value => list(itemsOf(value))),
  lower: ofText(value => value.toLowerCase()),
  map,
  max: extreme(-1),
  min: extreme(1),
  reject: select(false, false),
  rejectattr: select(false, true),
  replace: (value, given) => {
    const args = new Arguments('replace', given, ['old', 'new', 'count'])
    return marked(value, replace(print(value), args.text('old'), args.text('new'), args.integer('count', -1)))
  },
  reverse,
  round,
  safe: plain(value => new SafeText(print(value))),
  select: select(true, false),
  selectattr: select(true, true),
  sort,
  string: ofText(value => value),
  sum,
  title: ofText(value => titleCase(value, JINJA_WORDS)),
  tojson: json,
  trim: (value, given) =>
    marked(value, strip(print(value), new Arguments('trim', given, ['chars']).textOrNull('chars'), 'both')),
  unique,
  upper: ofText(value => value.toUpperCase()),
}

const whole = (value: Value): number => numberOf(value) ?? refuse('the test', value)
const remainder = (value: Value, by: Value): number => {
  if (whole(by) === 0) throw new Error('a number is divided by 0')
  return whole(value) % whole(by)
}

/** `a in b`. @throws Error for what holds nothing */
export const isIn = (a: Value, b: Value): boolean => {
  const [part, within, dict] = [textOf(a), textOf(b), dictOf(b)]
  if (within !== null) return within.includes(part ?? refuse('in', a, b))
  if (dict !== null) return part !== null && dict.has(part)
  if (b.type === 'NamespaceValue') return refuse('in', a, b)
  return itemsOf(b).some(item => isEqual(item, a))
}

const equal: Test = isEqual
const greater: Test = (a, b) => compare(a, b) > 0
const less: Test = (a, b) => compare(a, b) < 0
const ofType =
  (expression: RegExp): Test =>
  value =>
    expression.test(value.type)
const HOLDERS = /^(Array|Object|String|Tuple|Undefined)Value$/

const TESTS: Readonly<Record<string, Test>> = {
  boolean: ofType(/^Boolean/),
  callable: ofType(/^Function/),
  defined: value => !isUndefined(value),
  divisibleby: (value, by) => remainder(value, by) === 0,
  eq: equal,
  equalto: equal,
  even: value => whole(value) % 2 === 0,
  false: value => value.type === 'BooleanValue' && value.value === false,
  float: isFloat,
  ge: (a, b) => compare(a, b) >= 0,
  greaterthan: greater,
  gt: greater,
  in: isIn,
  integer: ofType(/^Integer/),
  iterable: ofType(HOLDERS),
  le: (a, b) => compare(a, b) <= 0,
  lessthan: less,
  lower: value => isLower(print(value)),
  lt: less,
  mapping: ofType(/^Object/),
  ne: (a, b) => !isEqual(a, b),
  none: ofType(/^Null/),
  number: value => numberOf(value) !== null,
  odd: value => whole(value) % 2 !== 0,
  sameas: (a, b) =>
    /^(Boolean|Null)/.test(a.type) || a === b
      ? a.type === b.type && a.value === b.value
      : refuse('sameas', a, b),
  sequence: value => HOLDERS.test(value.type) && !(value instanceof Lazy),
  string: ofType(/^String/),
  true: value => value.type === 'BooleanValue' && value.value === true,
  undefined: isUndefined,
  upper: value => isUpper(print(value)),
}

/** Whether a value passes a test. @throws Error for a test that there is not */
const passes = (name: string, value: Value, { args, kwargs }: Given): boolean => {
  if (!Object.hasOwn(TESTS, name)) throw new Error(`the test ${name} is not supported`)
  const count = /^(divisibleby|eq|equalto|ge|greaterthan|gt|in|le|lessthan|lt|ne|sameas)$/.test(name) ? 1 : 0
  if (args.length !== count || kwargs.size > 0)
    throw new Error(`the test ${name}: expected ${count} arguments`)
  return TESTS[name](value, args[0])
}

/** @param name of a filter, or `is NAME`, `is not NAME` for a test. @throws Error for what there is not */
export const applyFilter = (name: string, value: Value, given: Given): Value => {
  const test = /^is (not )?(.*)$/.exec(name)
  if (test) return bool(passes(test[2], value, given) === (test[1] === undefined))
  if (!Object.hasOwn(FILTERS, name)) throw new Error(`the filter ${name} is not supported`)
  return FILTERS[name](value, given)
}
