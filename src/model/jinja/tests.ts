/** @file Tests of templates: what stands behind `is`. */

import { decide } from './arithmetic.ts'
import type { Budget } from './budget.ts'
import { Arguments } from './given.ts'
import { print } from './print.ts'
import { IS } from './text.ts'
import {
  Dict,
  Float,
  type Given,
  Iterator,
  isEqual,
  lengthOf,
  Markup,
  Namespace,
  numberOf,
  refuse,
  Thing,
  textOf,
  Undefined,
  type Value,
  View,
} from './values.ts'

type Test = (value: Value, given: Given, budget: Budget) => boolean

/** A test without arguments. */
const plain =
  (holds: (value: Value, budget: Budget) => boolean): Test =>
  (value, given, budget) => {
    new Arguments('the test', given, [])
    return holds(value, budget)
  }

/** A test that compares with one value. */
const against =
  (operator: string): Test =>
  (value, given, budget) =>
    decide(operator, value, new Arguments(operator, given, ['other']).value('other'), budget)

const rest = (value: Value, by: number): number => {
  const number = numberOf(value) ?? refuse('%', value)
  if (by === 0) throw new Error('divisibleby: division by zero')
  return ((number % by) + by) % by
}

const isWhole = (value: Value) => typeof value === 'number'
const canBeGoneThrough = (value: Value) => lengthOf(value) !== null || value instanceof Iterator

/** Whether two values are one and the same: of texts and numbers those that are equal and of one type. */
const isSame = (a: Value, b: Value, budget: Budget): boolean =>
  typeof a === 'object' && a !== null && !(a instanceof Float) && !(a instanceof Undefined)
    ? a === b
    : typeof a === typeof b && isEqual(a, b, budget)

const TESTS: Readonly<Record<string, Test>> = {
  boolean: plain(value => typeof value === 'boolean'),
  callable: plain(value => value instanceof Undefined || (value instanceof Thing && value.call !== null)),
  defined: plain(value => !(value instanceof Undefined)),
  divisibleby: (value, given) =>
    rest(value, new Arguments('divisibleby', given, ['num']).integer('num')) === 0,
  escaped: plain(value => value instanceof Markup),
  even: plain(value => rest(value, 2) === 0),
  false: plain(value => value === false),
  float: plain(value => value instanceof Float),
  in: against('in'),
  integer: plain(isWhole),
  iterable: plain(canBeGoneThrough),
  lower: plain((value, budget) => IS.islower(print(value, budget))),
  mapping: plain(value => value instanceof Dict),
  none: plain(value => value === null),
  number: plain(value => numberOf(value) !== null),
  odd: plain(value => rest(value, 2) === 1),
  sameas: (value, given, budget) =>
    isSame(value, new Arguments('sameas', given, ['other']).value('other'), budget),
  sequence: plain(
    value => lengthOf(value) !== null && !(value instanceof View) && !(value instanceof Namespace),
  ),
  string: plain(value => textOf(value) !== null),
  test: plain(value => textOf(value) !== null && Object.hasOwn(TESTS, textOf(value)!)),
  true: plain(value => value === true),
  undefined: plain(value => value instanceof Undefined),
  upper: plain((value, budget) => IS.isupper(print(value, budget))),
  ...Object.fromEntries(
    Object.entries({
      '==': ['==', 'eq', 'equalto'],
      '!=': ['!=', 'ne'],
      '>': ['>', 'gt', 'greaterthan'],
      '>=': ['>=', 'ge'],
      '<': ['<', 'lt', 'lessthan'],
      '<=': ['<=', 'le'],
    }).flatMap(([operator, names]) => names.map(name => [name, against(operator)])),
  ),
}

/** Whether a value passes a test. @throws Error for a test that Jinja does not have */
export const passes = (name: string, value: Value, given: Given, budget: Budget): boolean => {
  if (!Object.hasOwn(TESTS, name)) throw new Error(`no test is called ${name}`)
  return TESTS[name](value, given, budget)
}
