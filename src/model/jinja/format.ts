/** @file Python's two ways to fill in a text: `text % values`, and `text.format(...)`. */

import type { Budget } from './budget.ts'
import { print, represent } from './print.ts'
import {
  Dict,
  Float,
  type Given,
  lengthOf,
  numberOf,
  refuse,
  Tuple,
  textOf,
  tryItems,
  type Value,
} from './values.ts'

/** How a value is to be written: `[[fill]align][sign][#][0][width][,][.precision][type]`. */
interface Layout {
  fill: string
  align: string
  sign: string
  alternate: boolean
  width: number
  grouping: string
  precision: number | null
  type: string
}

const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/su

const layoutOf = (spec: string, budget: Budget): Layout => {
  const parts = SPEC.exec(spec)
  if (parts === null) throw new Error(`format: expected a layout, got ${JSON.stringify(spec)}`)
  const [, fill, align, sign = '-', alternate, zero, width = '0', grouping = '', precision, type = ''] = parts
  budget.text(Number(width))
  return {
    fill: fill ?? (zero ? '0' : ' '),
    align: align ?? (zero ? '=' : ''),
    sign,
    alternate: alternate !== undefined,
    width: Number(width),
    grouping,
    precision: precision === undefined ? null : budget.width('decimals', Number(precision)),
    type,
  }
}

const pad = (text: string, usual: string, { fill, align, width }: Layout): string => {
  const gap = Math.max(0, width - lengthOf(text)!)
  const side = align || usual
  if (side === '<') return text + fill.repeat(gap)
  if (side === '^') return fill.repeat(Math.floor(gap / 2)) + text + fill.repeat(Math.ceil(gap / 2))
  if (side === '>') return fill.repeat(gap) + text
  const sign = /^[-+ ]?(?:0[xob])?/.exec(text)![0]
  return sign + fill.repeat(gap) + text.slice(sign.length)
}

const exponential = (value: number, precision: number): string =>
  value.toExponential(precision).replace(/e([-+])(\d)$/, 'e$10$2')

/** `%g`: the shorter of both notations, without zeros at the end unless `#`. */
const general = (value: number, precision: number, keepsZeros: boolean): string => {
  const digits = precision === 0 ? 1 : precision
  const exponent = value === 0 ? 0 : Number(value.toExponential(digits - 1).split('e')[1])
  const isLong = exponent < -4 || exponent >= digits
  const text = isLong ? exponential(value, digits - 1) : value.toFixed(Math.max(0, digits - 1 - exponent))
  return keepsZeros ? text : text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '')
}

const floatDigits = (value: number, { type, precision, alternate }: Layout): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : 'inf'
  const kind = type.toLowerCase()
  if (kind === 'e') return exponential(value, precision ?? 6)
  if (kind === '%') return `${(value * 100).toFixed(precision ?? 6)}%`
  return kind === 'f' ? value.toFixed(precision ?? 6) : general(value, precision ?? 6, alternate)
}

const BASES: Readonly<Record<string, [base: number, prefix: string]>> = {
  b: [2, '0b'],
  o: [8, '0o'],
  x: [16, '0x'],
  d: [10, ''],
  n: [10, ''],
}

const integerDigits = (value: number, { type, alternate }: Layout): string => {
  const [base, prefix] = BASES[type.toLowerCase() || 'd']
  return (alternate ? prefix : '') + BigInt(value).toString(base)
}

const group = (digits: string, mark: string): string =>
  mark === '' ? digits : digits.replace(/^\d+/, whole => whole.replace(/\B(?=(\d{3})+$)/g, mark))

const isFloatType = (type: string) => /^[eEfFgG%]$/.test(type)

const formatNumber = (value: Value, number: number, layout: Layout, budget: Budget): string => {
  const { type, sign, grouping } = layout
  if (type === 'c') return pad(String.fromCodePoint(number), '<', layout)
  const size = Math.abs(number)
  const plain = value instanceof Float && type === '' && layout.precision === null
  const isFloat = isFloatType(type) || value instanceof Float
  if (value instanceof Float && !isFloatType(type) && type !== '' && type !== 'n') return refuse(type, value)
  const digits = plain
    ? print(new Float(size), budget)
    : isFloat
      ? floatDigits(size, layout)
      : integerDigits(size, layout)
  const before = number < 0 || Object.is(number, -0) ? '-' : sign === '-' ? '' : sign
  const text = before + group(digits, grouping)
  return pad(/[EFGX]/.test(type) ? text.toUpperCase() : text, '>', layout)
}

/** `format(value, spec)`. */
const formatValue = (value: Value, spec: string, budget: Budget): string => {
  if (spec === '') return print(value, budget)
  const layout = layoutOf(spec, budget)
  const number = numberOf(value)
  if (number !== null && (typeof value !== 'boolean' || layout.type !== ''))
    return formatNumber(value, number, layout, budget)
  const text = textOf(value) ?? (typeof value === 'boolean' ? print(value, budget) : null)
  if (text === null || !/^s?$/.test(layout.type)) return refuse(`format ${JSON.stringify(spec)}`, value)
  const cut = layout.precision === null ? text : Array.from(text).slice(0, layout.precision).join('')
  return pad(cut, '<', layout)
}

const DIRECTIVE = /%(?:\(([^)]*)\))?([-+ 0#]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?(.)?/gsu

/** What `text % values` is filled in with: one after the other, or by name. */
class Values {
  readonly #given: Value
  readonly #list: readonly Value[]
  #at = 0
  constructor(given: Value) {
    this.#given = given
    this.#list = given instanceof Tuple ? given.items : [given]
  }
  named(name: string): Value {
    const found = this.#given instanceof Dict ? this.#given.get(name) : undefined
    if (found === undefined) throw new Error(`%(${name}): no such value`)
    this.#at = this.#list.length
    return found
  }
  next(): Value {
    const value = this.#list[this.#at++]
    if (value === undefined) throw new Error('%: more places than values')
    return value
  }
  /** As in Python, what has items of its own may have more than there are places, unless it is a tuple or a text. */
  assertAllTaken(): void {
    const hasItems =
      tryItems(this.#given) !== null && !(this.#given instanceof Tuple || textOf(this.#given) !== null)
    if (this.#at < this.#list.length && !hasItems) throw new Error('%: more values than places')
  }
}

const percentSpec = (flags: string, width: string, precision: string | undefined, type: string): string => {
  const align = flags.includes('-') ? '<' : flags.includes('0') && type !== 's' ? '0=' : '>'
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
  const decimals = precision === undefined || /[diu]/.test(type) ? '' : `.${precision}`
  const mark = flags.includes('#') && type !== 's' ? '#' : ''
  return align + sign + mark + (width === '0' ? '' : width) + decimals + type.replace(/[iu]/, 'd')
}

const percentValue = (value: Value, type: string): Value => {
  const number = numberOf(value)
  if (/[diuxXoc]/.test(type) && typeof value !== 'number')
    return number === null || (/[xXo]/.test(type) && value instanceof Float)
      ? refuse(`%${type}`, value)
      : Math.trunc(number)
  if (isFloatType(type)) return number === null ? refuse(`%${type}`, value) : new Float(number)
  return value
}

/** `text % values`. @throws Error where they do not go together */
export const percent = (text: string, given: Value, budget: Budget): string => {
  const values = new Values(given)
  const star = (part: string | undefined) => (part === '*' ? `${numberOf(values.next())}` : part)
  const filled = text.replace(
    DIRECTIVE,
    (whole, name?: string, flags = '', width?: string, precision?: string, type?: string) => {
      if (type === '%') return '%'
      if (type === undefined || !/[srdiufFeEgGxXoca]/.test(type))
        throw new Error(`%: expected a place for a value, got ${JSON.stringify(whole)}`)
      const wide = star(width) ?? '0'
      const decimals = whole.includes('.') ? (star(precision) ?? '0') : undefined
      const value = name === undefined ? values.next() : values.named(name)
      if (type === 's' || type === 'r' || type === 'a') {
        const shown = type === 's' ? print(value, budget) : represent(value, budget)
        return formatValue(shown, percentSpec(flags, wide, decimals, 's'), budget)
      }
      if (type === 'c' && textOf(value) !== null) return textOf(value)!
      const spec = percentSpec(flags, wide, decimals, type)
      return formatValue(percentValue(value, type), spec, budget)
    },
  )
  values.assertAllTaken()
  budget.text(filled.length)
  return filled
}

const FIELD = /^([^.[!:]*)((?:\.[^.[!:]+|\[[^\]]+\])*)(?:!([rsa]))?(?::(.*))?$/su

/** Where `format` looks its values up. */
interface Fields extends Given {
  /** The item or attribute of a value. */
  part(value: Value, name: Value, isAttribute: boolean): Value
  budget: Budget
}

const partsOf = (path: string): [name: string, isAttribute: boolean][] =>
  [...path.matchAll(/\.([^.[]+)|\[([^\]]+)\]/g)].map(([, attribute, item]) => [
    attribute ?? item,
    attribute !== undefined,
  ])

const fieldValue = (field: string, count: () => number, fields: Fields): string => {
  const found = FIELD.exec(field)
  if (found === null) throw new Error(`format: expected a field, got ${JSON.stringify(field)}`)
  const [, name, path, conversion, spec = ''] = found
  const index = name === '' ? count() : /^\d+$/.test(name) ? Number(name) : null
  let value = index === null ? fields.kwargs.get(name) : fields.args[index]
  if (value === undefined) throw new Error(`format: no value for {${field}}`)
  for (const [part, isAttribute] of partsOf(path))
    value = fields.part(value, /^\d+$/.test(part) && !isAttribute ? Number(part) : part, isAttribute)
  const layout = spec.includes('{') ? formatText(spec, fields, count) : spec
  if (conversion === undefined) return formatValue(value, layout, fields.budget)
  const shown = conversion === 's' ? print(value, fields.budget) : represent(value, fields.budget)
  return formatValue(shown, layout, fields.budget)
}

/** `text.format(...)`. @throws Error where they do not go together */
export const formatText = (text: string, fields: Fields, count = counter()): string => {
  const filled = text.replace(
    /\{\{|\}\}|\{((?:[^{}]|\{[^{}]*\})*)\}|[{}]/g,
    (whole: string, field?: string) => {
      if (field !== undefined) return fieldValue(field, count, fields)
      if (whole.length === 1) throw new Error(`format: a single ${whole}`)
      return whole[0]
    },
  )
  fields.budget.text(filled.length)
  return filled
}

const counter = (): (() => number) => {
  let next = 0
  return () => next++
}
