/** @file Sets of real numbers as sorted, disjoint segments: intervals, unions, finite sets. */

import type { Node } from '../read/expression.ts'
import { quantitiesEqual } from '../read/quantities.ts'
import { infinityOf, orderOf, type ScalarRules } from './scalars.ts'

/** From `low` to `high`; a point has equal ends, both closed. */
export interface Range {
  low: Node
  high: Node
  lowOpen: boolean
  highOpen: boolean
}

export type RealSet = Range[]

export const INFINITY: Node = { kind: 'constant', name: 'infinity' }
export const MINUS_INFINITY: Node = {
  kind: 'multiply',
  factors: [{ kind: 'number', value: { n: -1n, d: 1n } }, INFINITY],
}
export const REALS: RealSet = [{ low: MINUS_INFINITY, high: INFINITY, lowOpen: true, highOpen: true }]

export const point = (node: Node): Range => ({ low: node, high: node, lowOpen: false, highOpen: false })

/** Thrown where two ends cannot be ordered, for example because they are symbols. */
export class NoOrder extends Error {}

const order = (a: Node, b: Node, rules: ScalarRules): number => {
  const result = orderOf(a, b, rules)
  if (result === null) throw new NoOrder('ends of a segment that have no order')
  return result
}

const isEmpty = ({ low, high, lowOpen, highOpen }: Range, rules: ScalarRules): boolean => {
  const sign = order(low, high, rules)
  return sign > 0 || (sign === 0 && (lowOpen || highOpen))
}

/** Sorts, drops empty segments, joins those that touch or overlap; an end at infinity is open. */
const normalised = (set: RealSet, rules: ScalarRules): RealSet => {
  const closedEnds = set.map(segment => ({
    ...segment,
    lowOpen: segment.lowOpen || infinityOf(segment.low) !== 0,
    highOpen: segment.highOpen || infinityOf(segment.high) !== 0,
  }))
  const sorted = closedEnds.filter(segment => !isEmpty(segment, rules))
  sorted.sort((a, b) => order(a.low, b.low, rules) || Number(a.lowOpen) - Number(b.lowOpen))
  const joined: RealSet = []
  for (const segment of sorted) {
    const last = joined.at(-1)
    if (last && touches(last, segment, rules)) joined[joined.length - 1] = hull(last, segment, rules)
    else joined.push(segment)
  }
  return joined
}

const touches = (a: Range, b: Range, rules: ScalarRules): boolean => {
  const sign = order(b.low, a.high, rules)
  return sign < 0 || (sign === 0 && !(a.highOpen && b.lowOpen))
}

const hull = (a: Range, b: Range, rules: ScalarRules): Range => {
  const sign = order(a.high, b.high, rules)
  const highOpen = sign > 0 ? a.highOpen : sign < 0 ? b.highOpen : a.highOpen && b.highOpen
  return { ...a, high: sign > 0 ? a.high : b.high, highOpen }
}

export const union = (a: RealSet, b: RealSet, rules: ScalarRules): RealSet => normalised([...a, ...b], rules)

export const intersection = (a: RealSet, b: RealSet, rules: ScalarRules): RealSet =>
  normalised(
    a.flatMap(x => b.map(y => overlap(x, y, rules))),
    rules,
  )

const overlap = (a: Range, b: Range, rules: ScalarRules): Range => {
  const low = order(a.low, b.low, rules)
  const high = order(a.high, b.high, rules)
  return {
    low: low >= 0 ? a.low : b.low,
    lowOpen: low > 0 ? a.lowOpen : low < 0 ? b.lowOpen : a.lowOpen || b.lowOpen,
    high: high <= 0 ? a.high : b.high,
    highOpen: high < 0 ? a.highOpen : high > 0 ? b.highOpen : a.highOpen || b.highOpen,
  }
}

export const complement = (set: RealSet, rules: ScalarRules): RealSet => {
  let rest = REALS
  for (const { low, high, lowOpen, highOpen } of set) {
    const outside = [
      { low: MINUS_INFINITY, high: low, lowOpen: true, highOpen: !lowOpen },
      { low: high, high: INFINITY, lowOpen: !highOpen, highOpen: true },
    ].filter(segment => infinityOf(segment.low) !== 1 && infinityOf(segment.high) !== -1)
    rest = intersection(rest, outside, rules)
  }
  return rest
}

/** Segment by segment, after normalisation of both. */
export const realSetsEqual = (a: RealSet, b: RealSet, rules: ScalarRules): boolean | null => {
  const [left, right] = [normalised(a, rules), normalised(b, rules)]
  if (left.length !== right.length) return false
  let result: boolean | null = true
  for (const [i, x] of left.entries()) {
    const y = right[i]
    if (x.lowOpen !== y.lowOpen || x.highOpen !== y.highOpen) return false
    for (const equal of [quantitiesEqual(x.low, y.low, rules), quantitiesEqual(x.high, y.high, rules)]) {
      if (equal === false) return false
      if (equal === null) result = null
    }
  }
  return result
}
