/** @file Brings an answer to the form in which its kind is clear: memberships, names, side conditions, both signs of ±. */

import type { Budget } from '../budget.ts'
import { mapChildren, type Node, type NodeOf, numberNode, some } from '../read/expression.ts'
import { assignmentOf } from '../read/labels.ts'
import { determinant } from './matrices.ts'

const STRUCTURES = new Set<Node['kind']>([
  'relation',
  'group',
  'text',
  'setOperation',
  'setName',
  'matrix',
  'ratio',
])

/** Whether the node itself is a number or formula, not a structure around some. */
export const isScalar = (node: Node): boolean => !STRUCTURES.has(node.kind)

/** @throws BudgetSpent */
export const reduced = (node: Node, budget: Budget): Node => {
  budget.spend()
  if (node.kind === 'relation') return reducedRelation(node, budget)
  if (node.kind === 'group') return reducedGroup(node, budget)
  if (node.kind === 'call' && node.name === 'det' && node.args[0].kind === 'matrix') {
    return determinant(node.args[0]) ?? node
  }
  if (isScalar(node) && some(node, child => child.kind === 'plusMinus')) return bothSigns(node)
  return node
}

const reducedRelation = (node: NodeOf<'relation'>, budget: Budget): Node => {
  if (node.operators.every(operator => operator === 'in')) return reduced(node.operands.at(-1)!, budget)
  const assignment = assignmentOf(node)
  if (!assignment) return node
  return {
    kind: 'relation',
    operators: ['='],
    operands: [assignment.label, reduced(assignment.value, budget)],
  }
}

/** `k \in \mathbb{Z}` beside an answer says what its letters are. */
const isSideCondition = (node: Node): boolean =>
  node.kind === 'relation' && node.operators.at(-1) === 'in' && node.operands.at(-1)!.kind === 'setName'

const reducedGroup = (node: NodeOf<'group'>, budget: Budget): Node => {
  const bare = node.open === ''
  const stated = bare ? node.items.filter(item => !isSideCondition(item)) : node.items
  const chosen = stated.length > 0 ? stated : node.items
  const items = labelledList(chosen.map(item => reduced(item, budget)))
  if (bare && items.length === 1) return items[0]
  return { ...node, items: bare || node.open === '{' ? items.flatMap(expanded) : items }
}

/** `n = 1, 2, 3`: the name of the first value is the name of all. */
const labelledList = (items: Node[]): Node[] => {
  const [first, ...rest] = items
  const assignment = first?.kind === 'relation' ? assignmentOf(first) : null
  return assignment && rest.length > 0 && rest.every(isScalar) ? [assignment.value, ...rest] : items
}

/** `\{-2, 1 \pm \sqrt 5\}` has three members. */
const expanded = (item: Node): Node[] =>
  item.kind === 'group' && item.open === '' && item.joined === 'or' ? item.items : [item]

const bothSigns = (node: Node): Node => {
  const items = ([1, -1] as const).map(sign => withSign(node, sign))
  return { kind: 'group', open: '', close: '', items, joined: 'or' }
}

const withSign = (node: Node, sign: 1 | -1): Node => {
  const changed = mapChildren(node, child => withSign(child, sign))
  if (changed.kind !== 'plusMinus') return changed
  const factor = numberNode({ n: BigInt(sign * changed.sign), d: 1n })
  const right: Node = { kind: 'multiply', factors: [factor, changed.right] }
  return changed.left ? { kind: 'add', terms: [changed.left, right] } : right
}
