/** @file Filters and tests of templates: what stands behind `|` and `is`. */

import { type Given, take, textFrom, textOrNull, wholeFrom } from './methods.ts'
import { capitalize, JINJA_WORDS, pyStrip, replace, splitLines, titleCase } from './text.ts'
import {
  compareValues,
  dictOf,
  float,
  integer,
  isEqual,
  isFloat,
  isTruthy,
  isUndefined,
  itemsOf,
  Lazy,
  lengthOf,
  list,
  NONE,
  newEnvironment,
  numberOf,
  print,
  reject,
  SafeText,
  text,
  textOf,
  tuple,
  UNDEFINED,
  type Value,
  write,
} from './values.ts'

type Filter = (value: Value, given: Given) => Value

const generator = (items: readonly Value[]) => new Lazy(items, true)
const plain =
  (apply: (value: Value) => Value): Filter =>
  (value, given) => {
    take(given)
    return apply(value)
  }
/** A filter of the text that a value is printed as. */
const ofText = (change: (printed: string) => string) => plain(value => text(change(print(value))))

/** What filters call an attribute: `a.b`, of entries alone. @throws Error for what is undefined */
const getter = (path: Value, missing?: Value): ((item: Value) => Value) => {
  const step = (value: Value, part: string) => {
    if (isUndefined(value) || /^\d+$/.test(part)) return reject(`the attribute ${part}`, value)
    return dictOf(value)?.get(part) ?? missing ?? UNDEFINED
  }
  return item => textFrom(path).split('.').reduce(step, item)
}

const entriesOf = (value: Value): Value[] =>
  [...(dictOf(value) ?? reject('entries', value))].map(([key, item]) => tuple([text(key), item]))

/** Of texts, which are the same whatever their case. */
const unique = plain(value => {
  const seen = new Set<string>()
  const isNew = (word: string) => !seen.has(word) && seen.add(word) === seen
  return generator(itemsOf(value).filter(item => isNew(textFrom(item).toLowerCase())))
})

/** What is false has no items, whatever it is. */
const itemsOrNone = (value: Value) => (isTruthy(value) ? itemsOf(value) : [])

/** `map(attribute=...)`, or `map('filter')`, of which the parts of a product would not be seen. */
const map: Filter = (value, { args, kwargs }) => {
  const [attribute = NONE, missing] = take({ args: args.slice(1), kwargs }, 'attribute', 'default')
  const [name] = args
  const apply = (item: Value) => applyFilter(textFrom(name), item, { args: [], kwargs: new Map() })
  if (name && args.length + kwargs.size > 1) return reject('map of a filter with arguments')
  return generator(itemsOrNone(value).map(name ? apply : getter(attribute, missing)))
}

/** `select`, `reject`, and both with an attribute first: those that pass a test, or that are true. */
const select =
  (wanted: boolean, hasAttribute: boolean): Filter =>
  (value, { args, kwargs }) => {
    const get = hasAttribute ? getter(args[0] ?? NONE) : (item: Value) => item
    const [name, other] = take({ args: hasAttribute ? args.slice(1) : args, kwargs }, 'test', 'other')
    const holds = (item: Value) => (name === undefined ? isTruthy(item) : passes(textFrom(name), item, other))
    return generator(itemsOrNone(value).filter(item => holds(get(item)) === wanted))
  }

const fallback: Filter = (value, given) => {
  const [missing = text(''), isBoolean = NONE] = take(given, 'default_value', 'boolean')
  return isUndefined(value) || (isTruthy(isBoolean) && !isTruthy(value)) ? missing : value
}

const number =
  (make: (value: number) => Value, expected: RegExp): Filter =>
  (value, given) => {
    const [missing = make(0)] = take(given, 'default')
    const [words, plainNumber] = [textOf(value), numberOf(value)]
    if (isUndefined(value)) return reject('a number', value)
    if (words === null) return plainNumber === null ? missing : make(plainNumber)
    const trimmed = pyStrip(words, null, 'both')
    // Python reads some of these as numbers.
    if (!expected.test(trimmed) && /^[-+]?[\d.]|inf|nan/i.test(trimmed))
      return reject(`a number written as ${trimmed}`)
    return expected.test(trimmed) ? make(Number(trimmed)) : missing
  }

/** Widest indentation. */
const MAX_INDENT = 64

const indentation = (name: string, width: Value): string => {
  const spaces = textOf(width)?.length ?? Math.max(0, wholeFrom(width, 0))
  if (spaces > MAX_INDENT) throw new Error(`${name}: expected at most ${MAX_INDENT} spaces, got ${spaces}`)
  return textOf(width) ?? ' '.repeat(spaces)
}

const indent: Filter = (value, given) => {
  const [width = integer(4), first = NONE, blank = NONE] = take(given, 'width', 'first', 'blank')
  const goes = (line: string, i: number) => isTruthy(i === 0 ? first : blank) || (i > 0 && line !== '')
  const [by, lines] = [indentation('indent', width), splitLines(`${textFrom(value)}\n`)]
  return text(lines.map((line, i) => (goes(line, i) ? by : '') + line).join('\n'))
}

const jsonText = (value: string, isAscii: boolean): string => {
  const written = JSON.stringify(value)
  return isAscii
    ? written.replace(/[\x7f-\uffff]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : written
}

/** `tojson` of the transformers library: no HTML is escaped, and nothing beyond ASCII unless asked. */
const json: Filter = (value, given) => {
  const [ascii = NONE, width = NONE, parts = NONE, sorted = NONE] = take(
    given,
    'ensure_ascii',
    'indent',
    'separators',
    'sort_keys',
  )
  const isOneLine = width.type === 'NullValue'
  const separators =
    parts.type === 'NullValue'
      ? [isOneLine ? ', ' : ',', ': ']
      : itemsOf(parts).map(part => indentation('tojson', text(textFrom(part))))
  const style = {
    text: (one: string) => jsonText(one, isTruthy(ascii)),
    words: ['null', 'true', 'false'],
    separators: [separators[0] ?? reject('separators', parts), separators[1] ?? reject('separators', parts)],
    indent: isOneLine ? null : indentation('tojson', width),
    isPython: false,
    isSorted: isTruthy(sorted),
  } as const
  return text(textOf(value) === null ? write(value, style) : style.text(textOf(value)!))
}

const FILTERS: Readonly<Record<string, Filter>> = {
  capitalize: ofText(capitalize),
  default: fallback,
  first: plain(value => itemsOf(value)[0] ?? UNDEFINED),
  float: number(float, /^[-+]?\d+(\.\d+)?$/),
  indent,
  int: number(value => integer(Math.trunc(value)), /^[-+]?\d+(\.\d+)?$/),
  items: plain(value => generator(isUndefined(value) ? [] : entriesOf(value))),
  join: (value, given) => {
    const [between = text(''), attribute] = take(given, 'd', 'attribute')
    return text(
      itemsOf(value)
        .map(item => print(attribute ? getter(attribute)(item) : item))
        .join(textFrom(between)),
    )
  },
  last: plain(value =>
    value instanceof Lazy ? reject('last', value) : (itemsOf(value).at(-1) ?? UNDEFINED),
  ),
  length: plain(value => integer(lengthOf(value))),
  list: plain(value => list(itemsOf(value))),
  lower: ofText(value => value.toLowerCase()),
  map,
  reject: select(false, false),
  rejectattr: select(false, true),
  replace: (value, given) => {
    const [old, by, count] = take(given, 'old', 'new', 'count')
    return text(replace(print(value), textFrom(old), textFrom(by), wholeFrom(count, -1)))
  },
  reverse: plain(value =>
    textOf(value) === null
      ? generator([...itemsOf(value)].reverse())
      : text(Array.from(textOf(value)!).reverse().join('')),
  ),
  safe: plain(value => new SafeText(print(value))),
  select: select(true, false),
  selectattr: select(true, true),
  string: ofText(value => value),
  title: ofText(value => titleCase(value, JINJA_WORDS)),
  tojson: json,
  trim: (value, given) => text(pyStrip(print(value), textOrNull(take(given, 'chars')[0]), 'both')),
  unique,
  upper: ofText(value => value.toUpperCase()),
}

/** @throws Error for a filter that there is not, or not for such a value */
export const applyFilter = (name: string, value: Value, given: Given): Value => {
  if (!Object.hasOwn(FILTERS, name)) return reject(`the filter ${name}`)
  const result = FILTERS[name](value, given)
  return value instanceof SafeText && textOf(result) !== null && name !== 'tojson'
    ? new SafeText(print(result))
    : result
}

/** `a in b`. @throws Error for what holds nothing */
export const isIn = (a: Value, b: Value): boolean => {
  const [part, within, entries] = [textOf(a), textOf(b), dictOf(b)]
  if (within !== null) return within.includes(part ?? reject('in', a, b))
  if (entries !== null) return entries.has(part ?? reject('in', a, b))
  return itemsOf(b).some(item => isEqual(item, a))
}

const HOLDERS = /^(Array|Object|String|Tuple|Undefined)/
const SAME_IN_LIBRARY = /^(boolean|defined|even|false|integer|mapping|none|odd|string|true|undefined)$/

/** Tests that the library lacks, or has otherwise. */
const TESTS: Readonly<Record<string, (value: Value, other: Value) => boolean>> = {
  eq: isEqual,
  equalto: isEqual,
  float: isFloat,
  ge: (a, b) => compareValues(a, b) >= 0,
  gt: (a, b) => compareValues(a, b) > 0,
  in: isIn,
  iterable: value => HOLDERS.test(value.type),
  le: (a, b) => compareValues(a, b) <= 0,
  lt: (a, b) => compareValues(a, b) < 0,
  ne: (a, b) => !isEqual(a, b),
  number: value => numberOf(value) !== null,
  sequence: value => HOLDERS.test(value.type) && (!(value instanceof Lazy) || reject('sequence', value)),
}

/** Whether a value passes a test. @throws Error for a test that there is not */
export const passes = (name: string, value: Value, other?: Value): boolean => {
  const wanted = /^(eq|equalto|ge|gt|in|le|lt|ne)$/.test(name)
  const test = SAME_IN_LIBRARY.test(name)
    ? newEnvironment().tests.get(name)!
    : Object.hasOwn(TESTS, name) && TESTS[name]
  if (!test || wanted !== (other !== undefined))
    return reject(`the test ${name} ${wanted ? 'without' : 'with'} a value`)
  return test(value, other!)
}
