/** @file The set of real numbers that an answer describes: interval notation, set notation, inequalities in one variable. */

import {
  difference,
  mapChildren,
  type Node,
  type NodeOf,
  negated,
  numberNode,
  type RelationOperator,
  symbolsOf,
} from '../read/expression.ts'
import { exactValue } from './exact.ts'
import { divideRationals, isInteger, negateRational, type Rational, subtractRationals } from './rational.ts'
import {
  complement,
  INFINITY,
  intersection,
  MINUS_INFINITY,
  point,
  type Range,
  REALS,
  type RealSet,
  union,
} from './real-set.ts'
import { orderOf, type ScalarRules } from './scalars.ts'

/**
 * The set, or null where the node is no set of real numbers in closed form.
 * @throws NoOrder for symbolic ends
 */
const realSetOf = (node: Node, rules: ScalarRules): RealSet | null => {
  rules.budget.spend()
  switch (node.kind) {
    case 'setName':
      return node.name === 'reals' ? REALS : node.name === 'empty' ? [] : null
    case 'setOperation':
      return operation(node, rules)
    case 'group':
      return group(node, rules)
    case 'relation':
      return relation(node, rules)
    default:
      return null
  }
}

/** The same where a set is expected: a value is the set of itself, and so is a list (`{1, 3} \\cup {2, 4}`). */
export const asRealSet = (node: Node, rules: ScalarRules): RealSet | null => {
  if (isPlain(node)) return [point(node)]
  const isList = node.kind === 'group' && node.open === '' && node.items.every(isPlain)
  return isList ? node.items.map(point) : realSetOf(node, rules)
}

const operation = ({ operator, left, right }: NodeOf<'setOperation'>, rules: ScalarRules): RealSet | null => {
  const [a, b] = [asRealSet(left, rules), asRealSet(right, rules)]
  if (!a || !b) return null
  if (operator === 'union') return union(a, b, rules)
  return intersection(a, operator === 'difference' ? complement(b, rules) : b, rules)
}

const group = ({ open, close, items, joined }: NodeOf<'group'>, rules: ScalarRules): RealSet | null => {
  if (open === '') return conditions(items, joined, rules)
  if (open === '{') return items.every(isPlain) ? items.map(point) : null
  if (items.length !== 2 || !items.every(isPlain)) return null
  const [low, high] = items
  const rising = orderOf(high, low, rules) ?? 1
  // `(8, -2)` and `(1, 1)` are points of the plane, and no interval.
  if (rising < 0 || (rising === 0 && open + close !== '[]')) return null
  return [{ low, high, lowOpen: open === '(', highOpen: close === ')' }]
}

const isPlain = (node: Node): boolean =>
  !['relation', 'group', 'text', 'setOperation', 'setName', 'matrix'].includes(node.kind)

/** Several conditions on one variable: all of them, or any where the word `or` or their contradiction says so. */
const conditions = (
  items: readonly Node[],
  joined: 'and' | 'or' | undefined,
  rules: ScalarRules,
): RealSet | null => {
  const sets: RealSet[] = []
  for (const item of items) {
    const isSet =
      item.kind === 'relation' || item.kind === 'setOperation' || (item.kind === 'group' && joined === 'or')
    const set = isSet ? realSetOf(item, rules) : null
    if (!set) return null
    sets.push(set)
  }
  const any = () => sets.reduce((a, b) => union(a, b, rules), [])
  if (joined === 'or') return any()
  const all = sets.reduce((a, b) => intersection(a, b, rules), REALS)
  return all.length === 0 ? any() : all
}

const relation = (node: NodeOf<'relation'>, rules: ScalarRules): RealSet | null => {
  const variables = symbolsOf(node)
  if (node.operators.at(-1) === 'in') return realSetOf(node.operands.at(-1)!, rules)
  if (variables.length !== 1) return null
  let result: RealSet = REALS
  for (const [i, operator] of node.operators.entries()) {
    const set = comparison(node.operands[i], operator, node.operands[i + 1], variables[0], rules)
    if (!set) return null
    result = intersection(result, set, rules)
  }
  return result
}

const MIRRORED: Partial<Record<RelationOperator, RelationOperator>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  '=': '=',
  '!=': '!=',
} // prettier-ignore

/** `left operator right` solved for the variable, where both sides are linear or one is a distance `|x - a|`. */
const comparison = (
  left: Node,
  operator: RelationOperator,
  right: Node,
  name: string,
  rules: ScalarRules,
): RealSet | null => {
  const mirrored = MIRRORED[operator]
  if (!mirrored) return null
  const isVariable = (node: Node) => node.kind === 'symbol' && node.name === name
  const constant = (node: Node) => symbolsOf(node).length === 0
  if (isVariable(left) && constant(right)) return halfLine(operator, right, rules)
  if (isVariable(right) && constant(left)) return halfLine(mirrored, left, rules)
  if (left.kind === 'call' && left.name === 'abs' && constant(right))
    return distance(left.args[0], operator, right, name, rules)
  const line = linear(difference(left, right), name, rules)
  if (!line) return null
  return halfLine(line.slope.n > 0n ? operator : mirrored, numberNode(line.zero), rules)
}

const halfLine = (operator: RelationOperator, end: Node, rules: ScalarRules): RealSet => {
  if (operator === '=') return [point(end)]
  if (operator === '!=') return complement([point(end)], rules)
  const open = operator === '<' || operator === '>'
  const below: Range = { low: MINUS_INFINITY, high: end, lowOpen: true, highOpen: open }
  const above: Range = { low: end, high: INFINITY, lowOpen: open, highOpen: true }
  return operator === '<' || operator === '<=' ? [below] : [above]
}

const distance = (
  inside: Node,
  operator: RelationOperator,
  end: Node,
  name: string,
  rules: ScalarRules,
): RealSet | null => {
  const upper = comparison(inside, operator, end, name, rules)
  const lower = comparison(inside, MIRRORED[operator]!, negated(end), name, rules)
  if (!upper || !lower) return null
  const within = operator === '<' || operator === '<=' || operator === '!='
  return within ? intersection(upper, lower, rules) : union(upper, lower, rules)
}

/** Slope and zero of a rational linear function of the variable. */
const linear = (node: Node, name: string, rules: ScalarRules): { slope: Rational; zero: Rational } | null => {
  const at = (x: bigint) => exactValue(substituted(node, name, numberNode({ n: x, d: 1n })), rules.budget)
  const [zero, one, three, seven] = [at(0n), at(1n), at(3n), at(7n)]
  const slope = zero && one && subtractRationals(one, zero)
  if (!slope || !three || !seven || slope.n === 0n) return null
  const straight = [three, seven].every((value, i) => {
    const rise = divideRationals(subtractRationals(value, zero)!, slope)
    return rise && isInteger(rise) && rise.n === [3n, 7n][i]
  })
  const root = straight && divideRationals(negateRational(zero), slope)
  return root ? { slope, zero: root } : null
}

const substituted = (node: Node, name: string, value: Node): Node =>
  node.kind === 'symbol' && node.name === name
    ? value
    : mapChildren(node, child => substituted(child, name, value))
