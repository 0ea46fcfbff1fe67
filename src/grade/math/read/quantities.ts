/** @file Numbers with percent signs, degrees and units. */

import { parseDecimal } from '../value/rational.ts'
import { type ScalarRules, scalarsEqual } from '../value/scalars.ts'
import { type Node, numberNode, some } from './expression.ts'
import { conversion } from './units.ts'

const PER_HUNDRED: Node = numberNode({ n: 1n, d: 100n })
const RADIANS: Node = {
  kind: 'divide',
  numerator: { kind: 'constant', name: 'pi' },
  denominator: numberNode({ n: 180n, d: 1n }),
}

const times = (a: Node, b: Node): Node => ({ kind: 'multiply', factors: [a, b] })

/** Value and unit of a node; no unit for a bare expression. Beside a unit, the letter of `5000 m` is one as well. */
const split = (node: Node, other: Node): { value: Node; unit: string | null } => {
  if (node.kind === 'quantity') return { value: node.value, unit: node.unit }
  const guess =
    other.kind === 'quantity' && other.unit !== '%' && other.unit !== '°' ? withUnitLetter(node) : null
  return guess ?? { value: node, unit: null }
}

/** `5 m` as a number and a unit; it may also be five times a variable. */
const withUnitLetter = (node: Node): { value: Node; unit: string } | null => {
  if (node.kind !== 'multiply' || node.factors.length !== 2) return null
  const [value, letter] = node.factors
  if (value.kind !== 'number' || letter.kind !== 'symbol' || !/^[mgshL]$/.test(letter.name)) return null
  return { value, unit: letter.name }
}

/**
 * Equality of scalars with units. A percentage equals its number and its hundredth (28% is 28 and 0.28), an angle in
 * degrees its number and its radians, a unit its conversion; a unit on one side only is no difference.
 */
export const quantitiesEqual = (a: Node, b: Node, rules: ScalarRules): boolean | null => {
  const [left, right] = [split(a, b), split(b, a)]
  const equal = (x: Node, y: Node) => scalarsEqual(x, y, rules)
  if (left.unit === null && right.unit === null)
    return based(a, b) || perhapsUnit(a, b, equal) ? null : equal(a, b)
  if (left.unit === null || right.unit === null) {
    const [bare, quantity] = left.unit === null ? [left, right] : [right, left]
    return bareEqual(bare.value, quantity.value, quantity.unit!, equal)
  }
  if (left.unit === right.unit) return equal(left.value, right.value)
  if (left.unit === '%' || right.unit === '%') return equal(left.value, right.value)
  return converted(left.value, left.unit, right.value, right.unit, equal)
}

type Equal = (x: Node, y: Node) => boolean | null

const bareEqual = (bare: Node, value: Node, unit: string, equal: Equal): boolean | null => {
  const direct = equal(bare, value)
  if (direct === true) return true
  if (unit === '%') return equal(bare, times(value, PER_HUNDRED))
  if (unit === '°' && some(bare, node => node.kind === 'constant' && node.name === 'pi')) {
    return equal(bare, times(value, RADIANS))
  }
  return direct
}

const converted = (x: Node, unitX: string, y: Node, unitY: string, equal: Equal): boolean | null => {
  const factors = conversion(unitX, unitY)
  if (factors === null) return equal(x, y) === false ? false : null
  const [factorX, factorY] = factors.map(factor => parseDecimal(String(Number(factor.toPrecision(12)))))
  return factorX && factorY ? equal(times(x, numberNode(factorX)), times(y, numberNode(factorY))) : null
}

/** 5 against `5 m`: metres, or a variable? */
const perhapsUnit = (a: Node, b: Node, equal: Equal): boolean => {
  const [number, product] = a.kind === 'number' ? [a, b] : [b, a]
  const guess = withUnitLetter(product)
  return number.kind === 'number' && guess !== null && equal(number, guess.value) === true
}

/** `204_5` against a bare 204: the digits agree, the values do not; nobody can tell what was meant. */
const based = (a: Node, b: Node): boolean => {
  const [number, other] = a.kind === 'based' ? [a, b] : [b, a]
  if (number.kind !== 'based' || other.kind !== 'number') return false
  return other.decimals === undefined && String(other.value.n) === number.digits && other.value.d === 1n
}
