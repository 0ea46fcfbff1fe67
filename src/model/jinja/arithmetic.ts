/** @file Operators of templates: as Python has them. */

import type { Budget } from './budget.ts'
import { percent } from './format.ts'
import { print } from './print.ts'
import { escapeHtml } from './text.ts'
import {
  compare,
  contains,
  Float,
  isEqual,
  Markup,
  numberOf,
  refuse,
  Tuple,
  textOf,
  type Value,
} from './values.ts'

/** A result of whole numbers. @throws Error beyond 2^53, where JavaScript's numbers are not exact */
const whole = (value: number): number => {
  if (!Number.isSafeInteger(value)) throw new Error('whole numbers beyond 2^53 are not supported')
  return value === 0 ? 0 : value
}

/** The remainder has the sign of the divisor. */
const modulo = (a: number, b: number): number => {
  const rest = a % b
  if (rest === 0) return b < 0 ? -0 : 0
  return rest < 0 !== b < 0 ? rest + b : rest
}

/** Negative powers by division: JavaScript's own are off in the last digit. */
const power = (a: number, b: number): number => (b < 0 && Number.isInteger(b) ? 1 / a ** -b : a ** b)

const NUMERIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '//': (a, b) => Math.floor(a / b),
  '%': modulo,
  '**': power,
}

const numeric = (operator: string, left: Value, right: Value): Value => {
  const [a, b] = [numberOf(left)!, numberOf(right)!]
  if (/[/%]/.test(operator) && b === 0) throw new Error(`${operator}: division by zero`)
  if (operator === '**' && a === 0 && b < 0) throw new Error('**: 0 to a negative power')
  const isFloat =
    left instanceof Float || right instanceof Float || operator === '/' || (operator === '**' && b < 0)
  const value = NUMERIC[operator](a, b)
  if (isFloat && Number.isNaN(value)) throw new Error(`${operator}: no real number`)
  return isFloat ? new Float(value) : whole(value)
}

/** What is added to HTML is escaped. */
const addMarkup = (left: Value, right: Value, budget: Budget): Markup => {
  const html = (value: Value) =>
    value instanceof Markup ? value.text : escapeHtml(textOf(value) ?? refuse('+', left, right))
  return join([html(left), html(right)], budget, text => new Markup(text))
}

const join = <T>(parts: readonly string[], budget: Budget, make: (text: string) => T): T => {
  budget.text(parts.reduce((sum, part) => sum + part.length, 0))
  return make(parts.join(''))
}

const add = (left: Value, right: Value, budget: Budget): Value => {
  if (typeof left === 'string' && typeof right === 'string') return join([left, right], budget, text => text)
  if (left instanceof Markup || right instanceof Markup) return addMarkup(left, right, budget)
  if (Array.isArray(left) && Array.isArray(right)) {
    budget.list(left.length + right.length)
    return [...left, ...right]
  }
  if (!(left instanceof Tuple && right instanceof Tuple)) return refuse('+', left, right)
  budget.list(left.items.length + right.items.length)
  return new Tuple([...left.items, ...right.items])
}

const repeat = (value: Value, times: number, budget: Budget): Value => {
  const count = Math.max(0, times)
  const text = textOf(value)
  const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : null
  if (text !== null) {
    budget.text(text.length * count)
    return value instanceof Markup ? new Markup(text.repeat(count)) : text.repeat(count)
  }
  if (items === null) return refuse('*', value, times)
  budget.list(items.length * count)
  const repeated = Array.from({ length: count }, () => items).flat()
  return Array.isArray(value) ? repeated : new Tuple(repeated)
}

const isWhole = (value: Value) => typeof value === 'number' || typeof value === 'boolean'

/** `left operator right` of `+ - * / // % **`. @throws Error for what Python refuses */
export const calculate = (operator: string, left: Value, right: Value, budget: Budget): Value => {
  if (numberOf(left) !== null && numberOf(right) !== null) return numeric(operator, left, right)
  if (operator === '+') return add(left, right, budget)
  if (operator === '*' && isWhole(right)) return repeat(left, numberOf(right)!, budget)
  if (operator === '*' && isWhole(left)) return repeat(right, numberOf(left)!, budget)
  if (operator === '%' && typeof left === 'string') return percent(left, right, budget)
  return refuse(operator, left, right)
}

/** `left operator right` of `== != < <= > >= in not in`. @throws Error for what Python refuses */
export const decide = (operator: string, left: Value, right: Value, budget: Budget): boolean => {
  switch (operator) {
    case '==':
      return isEqual(left, right, budget)
    case '!=':
      return !isEqual(left, right, budget)
    case 'in':
      return contains(right, left, budget)
    case 'not in':
      return !contains(right, left, budget)
    case '<':
      return compare(left, right, budget) < 0
    case '<=':
      return compare(left, right, budget) <= 0
    case '>':
      return compare(left, right, budget) > 0
    default:
      return compare(left, right, budget) >= 0
  }
}

/** `a ~ b`: texts of both, whatever they are. */
export const concatenate = (values: readonly Value[], budget: Budget): string =>
  join(
    values.map(value => print(value, budget)),
    budget,
    text => text,
  )

/** `-value`, `+value`. */
export const withSign = (value: Value, isNegative: boolean): Value => {
  const number = numberOf(value) ?? refuse(isNegative ? '-' : '+', value)
  const signed = isNegative ? -number : number
  return value instanceof Float ? new Float(signed) : whole(signed)
}
