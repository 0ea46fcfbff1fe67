/** @file The exact rational value of an expression, where it has one that can be computed in bounded work. */

import type { Budget } from '../budget.ts'
import type { Node } from '../read/expression.ts'
import {
  absolute,
  addRationals,
  compareRationals,
  divideRationals,
  exactRoot,
  isInteger,
  multiplyRationals,
  ONE,
  powInteger,
  type Rational,
  rational,
  ZERO,
} from './rational.ts'

/** Null where the value is irrational, symbolic, undefined, or too large to hold. */
export const exactValue = (node: Node, budget: Budget): Rational | null => {
  budget.spend()
  const value = (child: Node) => exactValue(child, budget)
  switch (node.kind) {
    case 'number':
      return node.value
    case 'based':
      return value(node.value)
    case 'add':
      return fold(node.terms, ZERO, addRationals, value)
    case 'multiply':
      return fold(node.factors, ONE, multiplyRationals, value)
    case 'divide':
      return both(node.numerator, node.denominator, divideRationals, value)
    case 'power':
      return power(value(node.base), value(node.exponent), budget)
    case 'root':
      return rooted(value(node.radicand), value(node.index))
    case 'quantity':
      return node.unit === '%' ? percent(value(node.value)) : null
    case 'call':
      return call(node.name, node.args, value)
    default:
      return null
  }
}

type Value = (node: Node) => Rational | null
type Binary = (a: Rational, b: Rational) => Rational | null

const fold = (nodes: readonly Node[], start: Rational, operation: Binary, value: Value): Rational | null => {
  let result: Rational | null = start
  for (const node of nodes) {
    const next: Rational | null = value(node)
    result = next && operation(result, next)
    if (!result) return null
  }
  return result
}

const both = (a: Node, b: Node, operation: Binary, value: Value): Rational | null => {
  const left = value(a)
  const right = left && value(b)
  return left && right && operation(left, right)
}

const percent = (value: Rational | null) => value && divideRationals(value, { n: 100n, d: 1n })

const power = (base: Rational | null, exponent: Rational | null, budget: Budget): Rational | null => {
  if (!base || !exponent) return null
  if (base.n === 0n && exponent.n <= 0n) return null
  budget.spend(16)
  if (isInteger(exponent)) return powInteger(base, exponent.n)
  const root = exactRoot(base, exponent.d)
  return root && powInteger(root, exponent.n)
}

const rooted = (radicand: Rational | null, index: Rational | null): Rational | null =>
  radicand && index && isInteger(index) ? exactRoot(radicand, index.n) : null

const call = (name: string, args: readonly Node[], value: Value): Rational | null => {
  if (!['abs', 'floor', 'ceil', 'factorial', 'binomial', 'max', 'min', 'gcd', 'lcm'].includes(name))
    return null
  const values = args.map(value)
  if (values.length === 0 || values.some(entry => entry === null)) return null
  return apply(name, values as Rational[])
}

const floor = ({ n, d }: Rational): Rational => ({ n: n >= 0n || n % d === 0n ? n / d : n / d - 1n, d: 1n })

const apply = (name: string, values: readonly Rational[]): Rational | null => {
  const [first, second] = values
  switch (name) {
    case 'abs':
      return absolute(first)
    case 'floor':
      return floor(first)
    case 'ceil':
      return isInteger(first) ? first : addRationals(floor(first), ONE)
    case 'factorial':
      return factorial(first)
    case 'binomial':
      return second ? binomial(first, second) : null
    case 'max':
      return values.reduce((a, b) => (compareRationals(a, b) >= 0 ? a : b))
    case 'min':
      return values.reduce((a, b) => (compareRationals(a, b) <= 0 ? a : b))
    default:
      return values.every(isInteger) ? divisors(name, values) : null
  }
}

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b))

const divisors = (name: string, values: readonly Rational[]): Rational | null =>
  rational(
    values
      .map(({ n }) => n)
      .reduce((a, b) => (name === 'gcd' ? gcd(a, b) : a === 0n ? 0n : (a * b) / gcd(a, b))),
  )

const MAX_FACTORIAL = 300n

const factorial = ({ n, d }: Rational): Rational | null => {
  if (d !== 1n || n < 0n || n > MAX_FACTORIAL) return null
  let product = 1n
  for (let i = 2n; i <= n; i++) product *= i
  return rational(product)
}

const binomial = (top: Rational, bottom: Rational): Rational | null => {
  if (!isInteger(top) || !isInteger(bottom) || top.n < 0n || top.n > 10_000n) return null
  if (bottom.n < 0n || bottom.n > top.n) return ZERO
  const k = 2n * bottom.n > top.n ? top.n - bottom.n : bottom.n
  if (k > MAX_FACTORIAL) return null
  let product = 1n
  for (let i = 1n; i <= k; i++) product = (product * (top.n - k + i)) / i
  return rational(product)
}
