/** @file Whether two expressions are the same number or the same function: exactly where possible, else at sample points. */

import type { Budget } from '../budget.ts'
import { type Node, some, symbolsOf } from '../read/expression.ts'
import { type Complex, isDefined, isReal, modulus, subtractComplex } from './complex.ts'
import { Evaluator, type Point } from './evaluate.ts'
import { exactValue } from './exact.ts'
import { compareRationals, type Rational, same, toNumber } from './rational.ts'

export interface ScalarRules {
  readonly budget: Budget
  /** Decimals that must agree; without it a written decimal must be a rounding of the other value. */
  readonly precision?: number
}

/** A decimal counts as the rounding of another value only when it is this near. */
const RELATIVE_TOLERANCE = 1e-6
/** Doubles that agree to this many parts are the same irrational number, beyond their own error bounds. */
const SAME_DOUBLE = 1e-12

/**
 * True or false where it is proved or sampled with a clear result; null where rounding errors, undefined values or
 * branches of roots and logarithms leave it open.
 */
export const scalarsEqual = (a: Node, b: Node, rules: ScalarRules): boolean | null => {
  const [exactA, exactB] = [exactValue(a, rules.budget), exactValue(b, rules.budget)]
  if (exactA && exactB) return exactEqual(a, exactA, b, exactB, rules)
  const infinite = infinityOf(a) !== 0 || infinityOf(b) !== 0
  if (infinite) return infinityOf(a) === infinityOf(b)
  const names = symbolsOf(a, b)
  const natural = sampled(a, b, names, 'e', rules)
  if (natural === true || !some(a, isPlainLog) === !some(b, isPlainLog)) return natural
  return sampled(a, b, names, '10', rules) === true ? true : natural
}

const isPlainLog = (node: Node): boolean =>
  node.kind === 'call' && node.name === 'log' && node.args.length === 1

/** 1 for infinity, -1 for minus infinity, 0 for anything finite. */
export const infinityOf = (node: Node): number => {
  if (node.kind === 'constant') return node.name === 'infinity' ? 1 : 0
  if (node.kind === 'multiply' && node.factors.length === 2) {
    const [sign, rest] = node.factors
    if (sign.kind === 'number') return Math.sign(toNumber(sign.value)) * infinityOf(rest)
  }
  if (node.kind === 'add' && node.terms.length === 1) return infinityOf(node.terms[0])
  return 0
}

const exactEqual = (a: Node, x: Rational, b: Node, y: Rational, rules: ScalarRules): boolean =>
  same(x, y) || nearEnough(a, toNumber(x), b, toNumber(y), rules) === true

/** Digits after the point where the whole expression is one written decimal. */
const decimalsOf = (node: Node): number | undefined => (node.kind === 'number' ? node.decimals : undefined)

/** Whether a written decimal stands for the other value; undefined where neither side is one. */
const nearEnough = (
  a: Node,
  x: number,
  b: Node,
  y: number,
  { precision }: ScalarRules,
): boolean | undefined => {
  const distance = Math.abs(x - y)
  if (precision !== undefined) return distance <= 0.5 * 10 ** -precision * (1 + 1e-9)
  const [placesA, placesB] = [decimalsOf(a), decimalsOf(b)]
  if (placesA === undefined && placesB === undefined) return undefined
  if (placesA === placesB) return false
  const places = Math.min(placesA ?? Number.POSITIVE_INFINITY, placesB ?? Number.POSITIVE_INFINITY)
  return distance < 10 ** -places && distance <= RELATIVE_TOLERANCE * Math.max(Math.abs(x), Math.abs(y))
}

type PointResult = 'same' | 'different' | 'unclear' | 'undefined'

const compareAt = (x: Complex, y: Complex): PointResult => {
  if (!isDefined(x) || !isDefined(y)) return 'undefined'
  const distance = modulus(subtractComplex(x, y))
  const size = Math.max(modulus(x), modulus(y))
  const error = 8 * (x.err + y.err)
  if (distance <= error + SAME_DOUBLE * size) return error > 1e-4 * size && error > 1e-9 ? 'unclear' : 'same'
  return distance > 4 * error ? 'different' : 'unclear'
}

/** Points of positive values first: there, roots and logarithms have one meaning. */
const SIGNS = [[1], [1], [1], [1], [-1], [-1, 1], [1, -1], [-1, -1, 1]]
const POSITIVE_POINTS = 4

const samplePoints = (names: readonly string[], logBase: 'e' | '10'): Point[] =>
  SIGNS.map((signs, k) => ({
    logBase,
    values: new Map(names.map((name, i) => [name, signs[i % signs.length] * sampleValue(i, k)])),
  }))

/** Spread over 0.3 to 2.3, no two alike, the same every time. */
const sampleValue = (variable: number, point: number): number =>
  0.3 + 2 * (((variable + 1) * 0.754877666 + (point + 1) * 0.569840296 + 0.1 * variable * point) % 1)

const sampled = (
  a: Node,
  b: Node,
  names: readonly string[],
  logBase: 'e' | '10',
  rules: ScalarRules,
): boolean | null => {
  const evaluator = new Evaluator(rules.budget)
  const points = samplePoints(names, logBase)
  if (names.length === 0) return constantsEqual(a, b, points[0], evaluator, rules)
  const results: PointResult[] = []
  for (const [k, point] of points.entries()) {
    const [x, y] = [evaluator.at(a, point), evaluator.at(b, point)]
    // With negative variables, roots and logarithms leave the real numbers: that is outside the domain of the answer.
    const outside = k >= POSITIVE_POINTS && isReal(x) !== isReal(y)
    const result = outside ? 'undefined' : compareAt(x, y)
    results.push(result)
    if (result === 'different') break
  }
  return verdict(results, a, b, names, evaluator, rules)
}

const constantsEqual = (
  a: Node,
  b: Node,
  point: Point,
  evaluator: Evaluator,
  rules: ScalarRules,
): boolean | null => {
  const [x, y] = [evaluator.at(a, point), evaluator.at(b, point)]
  const result = compareAt(x, y)
  if (result === 'undefined') return null
  if (result === 'same') return true
  if (x.im === 0 && y.im === 0 && nearEnough(a, x.re, b, y.re, rules)) return true
  return result === 'different' && !evaluator.sawUnknown ? false : null
}

const verdict = (
  results: readonly PointResult[],
  a: Node,
  b: Node,
  names: readonly string[],
  evaluator: Evaluator,
  rules: ScalarRules,
): boolean | null => {
  const differentAt = results.indexOf('different')
  if (differentAt < 0) return results.filter(result => result === 'same').length >= 2 ? true : null
  if (evaluator.sawUnknown) return null
  if (differentAt >= POSITIVE_POINTS) return some(a, isBranched) || some(b, isBranched) ? null : false
  return equalAtWholeNumbers(a, b, names, rules) ? null : false
}

/** Roots, logarithms and fractional powers, which have several values at negative arguments. */
const isBranched = (node: Node): boolean =>
  node.kind === 'root' ||
  (node.kind === 'call' && ['ln', 'log', 'lg'].includes(node.name)) ||
  (node.kind === 'power' && !(node.exponent.kind === 'number' && node.exponent.value.d === 1n))

/** `(-1)^n` and `cos(n pi)` agree where n is a whole number, which its name suggests but does not say. */
const equalAtWholeNumbers = (a: Node, b: Node, names: readonly string[], rules: ScalarRules): boolean => {
  if (!names.every(name => /^[nmkjlN](_|$)/.test(name))) return false
  const evaluator = new Evaluator(rules.budget)
  return [1, 2, 3, 4].every(k => {
    const point: Point = { logBase: 'e', values: new Map(names.map((name, i) => [name, k + ((i * k) % 3)])) }
    return compareAt(evaluator.at(a, point), evaluator.at(b, point)) === 'same'
  })
}

/** Below 0, 0 or above 0 as the real constants a < b, a = b, a > b; null where one is not a real constant. */
export const orderOf = (a: Node, b: Node, rules: ScalarRules): number | null => {
  const [infiniteA, infiniteB] = [infinityOf(a), infinityOf(b)]
  if (infiniteA !== 0 || infiniteB !== 0) return infiniteA - infiniteB
  const [exactA, exactB] = [exactValue(a, rules.budget), exactValue(b, rules.budget)]
  if (exactA && exactB) return compareRationals(exactA, exactB)
  const evaluator = new Evaluator(rules.budget)
  const point: Point = { logBase: 'e', values: new Map() }
  const [x, y] = [evaluator.at(a, point), evaluator.at(b, point)]
  if (!isDefined(x) || !isDefined(y) || Math.abs(x.im) > 1e-9 || Math.abs(y.im) > 1e-9) return null
  return compareAt(x, y) === 'same' ? 0 : x.re - y.re
}
