/** @file Numbers with percent signs, degrees and units: how they are put together, and when they are equal. */

import { type ScalarRules, scalarsEqual } from '../value/scalars.ts'
import { type Node, type NodeOf, numberNode, some } from './expression.ts'
import { isPartOf, NO_UNIT, ratioOf, readUnit, sameDimension, UNIT_SCALES, type Unit } from './units.ts'

type Quantity = NodeOf<'quantity'>

const PER_HUNDRED: Node = numberNode({ n: 1n, d: 100n })
const PI: Node = { kind: 'constant', name: 'pi' }
const RADIANS: Node = { kind: 'divide', numerator: PI, denominator: numberNode({ n: 180n, d: 1n }) }

const times = (a: Node, b: Node): Node => ({ kind: 'multiply', factors: [a, b] })
const plus = (a: Node, b: Node): Node => ({ kind: 'add', terms: [a, b] })

/** A value with the words behind it. `million` and `dozen` multiply it; the rest, if there is one, is its unit. */
export const quantity = (value: Node, words: string): Node => {
  const rest: string[] = []
  let product = value
  for (const word of words.split(' ').filter(Boolean)) {
    const scale = UNIT_SCALES[word.toLowerCase()]
    if (scale) product = times(product, numberNode(scale))
    else rest.push(word)
  }
  const unit = rest.join(' ')
  return unit === '' || NO_UNIT.test(unit) ? product : { kind: 'quantity', value: product, unit }
}

/** `2 h` and `30 min`, `5 ft` and `6 in`: one quantity in the smaller unit; null where the second is no part of the first. */
export const mixedQuantity = (a: Node, b: Node): Quantity | null => {
  if (a.kind !== 'quantity' || b.kind !== 'quantity') return null
  const [large, small] = [readUnit(a.unit), readUnit(b.unit)]
  if (!large || !small || !isPartOf(small, large)) return null
  return { kind: 'quantity', value: plus(converted(a.value, large, small), b.value), unit: b.unit }
}

/** A value in one unit as a value in another one of the same dimension. */
const converted = (value: Node, from: Unit, to: Unit): Node => {
  const ratio = ratioOf(from, to)
  if (!ratio) return value
  const shifted = from.offset ? plus(value, numberNode(from.offset)) : value
  const scaled = times(shifted, numberNode(ratio.factor))
  const turned =
    ratio.pi === 0 ? scaled : times(scaled, { kind: 'power', base: PI, exponent: wholeNumber(ratio.pi) })
  return to.offset ? plus(turned, times(numberNode(to.offset), wholeNumber(-1))) : turned
}

const wholeNumber = (value: number): Node => numberNode({ n: BigInt(value), d: 1n })

/** Value and unit of a node; no unit for a bare expression. Beside a unit, the letter of `5000m` is one as well. */
const split = (node: Node, other: Node): { value: Node; unit: string | null } => {
  if (node.kind === 'quantity')
    return { value: node.value, unit: node.unit.startsWith('%') ? '%' : node.unit }
  const guess = other.kind === 'quantity' && !/^[%°]/.test(other.unit) ? withUnitLetter(node) : null
  return guess ?? { value: node, unit: null }
}

/** `5m` as a number and a unit; it may also be five times a variable. */
const withUnitLetter = (node: Node): { value: Node; unit: string } | null => {
  if (node.kind !== 'multiply' || node.factors.length !== 2) return null
  const [value, letter] = node.factors
  if (value.kind !== 'number' || letter.kind !== 'symbol' || !readUnit(letter.name)) return null
  return { value, unit: letter.name }
}

type Equal = (x: Node, y: Node) => boolean | null

/**
 * Equality of scalars with units. A percentage equals its number and its hundredth (28% is 28 and 0.28), an angle in
 * degrees its number and its radians, a unit its conversion; a unit on one side only is no difference. The same number of
 * different things, or of a unit of another dimension, is undecided.
 */
export const quantitiesEqual = (a: Node, b: Node, rules: ScalarRules): boolean | null => {
  const [left, right] = [split(a, b), split(b, a)]
  const equal = (x: Node, y: Node) => scalarsEqual(x, y, rules)
  if (left.unit === null && right.unit === null)
    return based(a, b) || perhapsUnit(a, b, equal) ? null : equal(a, b)
  if (left.unit === null || right.unit === null) {
    const [bare, named] = left.unit === null ? [left, right] : [right, left]
    return bareEqual(bare.value, named.value, named.unit!, equal)
  }
  return withUnitsEqual(left.value, left.unit, right.value, right.unit, equal)
}

const bareEqual = (bare: Node, value: Node, unit: string, equal: Equal): boolean | null => {
  const direct = equal(bare, value)
  if (direct === true) return true
  if (unit === '%') return equal(bare, times(value, PER_HUNDRED))
  if (unit === '°' && some(bare, node => node.kind === 'constant' && node.name === 'pi')) {
    return equal(bare, times(value, RADIANS))
  }
  return direct
}

const withUnitsEqual = (x: Node, unitX: string, y: Node, unitY: string, equal: Equal): boolean | null => {
  const [[nameX, ofX], [nameY, ofY]] = [unitX.split(' of '), unitY.split(' of ')]
  const sameThing = !ofX || !ofY || sameWords(ofX, ofY)
  const [from, to] = sameThing ? [readUnit(nameX), readUnit(nameY)] : [null, null]
  if (from && to && sameDimension(from, to)) {
    const there = equal(converted(x, from, to), y)
    return there === true ? there : equal(x, converted(y, to, from))
  }
  const same = from && to ? isDegree(from, unitY) || isDegree(to, unitX) : sameWords(unitX, unitY)
  const numbers = equal(x, y)
  return same || numbers === false ? numbers : null
}

/** 30° and 30 °C: degrees of something that only one side names. */
const isDegree = (unit: Unit, other: string): boolean => unit.offset !== undefined && other === '°'

const wordsOf = (unit: string): string[] =>
  unit
    .toLowerCase()
    .split(/[\s,]+/)
    .map(word => word.replace(/(?<=..)s$/, ''))
    .filter(word => !/^(?:the|a|an|of|in|total|altogether|each)$/.test(word))

/** `apples` and `red apples`: the words of one are among those of the other, and none says `per`. */
const sameWords = (a: string, b: string): boolean => {
  const [x, y] = [wordsOf(a), wordsOf(b)]
  const [few, many] = x.length < y.length ? [x, y] : [y, x]
  const extra = many.length > few.length
  return few.every(word => many.includes(word)) && !(extra && /\/|\bper\b/.test(`${a} ${b}`))
}

/** 5 against `5m`: metres, or a variable? */
const perhapsUnit = (a: Node, b: Node, equal: Equal): boolean => {
  const [number, product] = a.kind === 'number' ? [a, b] : [b, a]
  const guess = withUnitLetter(product)
  return (
    number.kind === 'number' && /^[a-zL]$/.test(guess?.unit ?? '') && equal(number, guess!.value) === true
  )
}

/** `204_5` against a bare 204: the digits agree, the values do not; nobody can tell what was meant. */
const based = (a: Node, b: Node): boolean => {
  const [number, other] = a.kind === 'based' ? [a, b] : [b, a]
  if (number.kind !== 'based' || other.kind !== 'number') return false
  return other.decimals === undefined && String(other.value.n) === number.digits && other.value.d === 1n
}
