/** @file The tree that an answer is read into: numbers and expressions, and the collections, sets and relations around them. */

import { ONE, type Rational } from '../value/rational.ts'

/** Operators of a relation, in one spelling each. */
export type RelationOperator = '=' | '!=' | '<' | '<=' | '>' | '>=' | '~' | 'in' | '≡' | 'to'

export type Node =
  /** `decimals`: digits after the point, where the number was written with a point. */
  | { kind: 'number'; value: Rational; decimals?: number }
  | { kind: 'symbol'; name: string }
  | { kind: 'constant'; name: 'pi' | 'e' | 'i' | 'infinity' }
  | { kind: 'add'; terms: Node[] }
  | { kind: 'multiply'; factors: Node[] }
  | { kind: 'divide'; numerator: Node; denominator: Node }
  | { kind: 'power'; base: Node; exponent: Node }
  | { kind: 'root'; radicand: Node; index: Node }
  | { kind: 'call'; name: string; args: Node[] }
  /** `left ± right`; `sign` is -1 for ∓. Equal signs go together in one expression. */
  | { kind: 'plusMinus'; left: Node | null; right: Node; sign: 1 | -1 }
  /** A value with what stands behind it: `%`, `°`, or the words of a unit. */
  | { kind: 'quantity'; value: Node; unit: string }
  /** A whole number written in another base: `204_5`. `digits` as they stand there. */
  | { kind: 'based'; value: Node; digits: string }
  | { kind: 'matrix'; rows: Node[][] }
  /** `(a, b)`, `[a, b)`, `\{a, b\}`; a bare list has no brackets, `and` marks one joined by words. */
  | {
      kind: 'group'
      open: '(' | '[' | '{' | ''
      close: ')' | ']' | '}' | ''
      items: Node[]
      joined?: 'and' | 'or'
    }
  | { kind: 'setOperation'; operator: 'union' | 'intersection' | 'difference'; left: Node; right: Node }
  | { kind: 'setName'; name: string }
  /** `a < b <= c`: one operator fewer than operands. */
  | { kind: 'relation'; operators: RelationOperator[]; operands: Node[] }
  | { kind: 'ratio'; parts: Node[] }
  | { kind: 'text'; text: string }

export type NodeOf<K extends Node['kind']> = Extract<Node, { kind: K }>

export const numberNode = (value: Rational, decimals?: number): Node =>
  decimals === undefined ? { kind: 'number', value } : { kind: 'number', value, decimals }

export const MINUS_ONE: Node = numberNode({ n: -1n, d: 1n })
export const ONE_NODE: Node = numberNode(ONE)

/** The opposite; a number stays a number, so that `-0.5` keeps its decimals. */
export const negated = (node: Node): Node =>
  node.kind === 'number'
    ? { ...node, value: { n: -node.value.n, d: node.value.d } }
    : { kind: 'multiply', factors: [MINUS_ONE, node] }

export const difference = (left: Node, right: Node): Node => ({ kind: 'add', terms: [left, negated(right)] })

/** The nodes directly below, in reading order. */
export const childrenOf = (node: Node): Node[] => {
  switch (node.kind) {
    case 'add':
      return node.terms
    case 'multiply':
      return node.factors
    case 'divide':
      return [node.numerator, node.denominator]
    case 'power':
      return [node.base, node.exponent]
    case 'root':
      return [node.radicand, node.index]
    case 'call':
      return node.args
    case 'plusMinus':
      return node.left ? [node.left, node.right] : [node.right]
    case 'quantity':
    case 'based':
      return [node.value]
    case 'matrix':
      return node.rows.flat()
    case 'group':
      return node.items
    case 'setOperation':
      return [node.left, node.right]
    case 'relation':
      return node.operands
    case 'ratio':
      return node.parts
    default:
      return []
  }
}

/** The same node with its children replaced by `change`. */
export const mapChildren = (node: Node, change: (child: Node) => Node): Node => {
  switch (node.kind) {
    case 'add':
      return { ...node, terms: node.terms.map(change) }
    case 'multiply':
      return { ...node, factors: node.factors.map(change) }
    case 'divide':
      return { ...node, numerator: change(node.numerator), denominator: change(node.denominator) }
    case 'power':
      return { ...node, base: change(node.base), exponent: change(node.exponent) }
    case 'root':
      return { ...node, radicand: change(node.radicand), index: change(node.index) }
    case 'call':
      return { ...node, args: node.args.map(change) }
    case 'plusMinus':
      return { ...node, left: node.left && change(node.left), right: change(node.right) }
    case 'quantity':
    case 'based':
      return { ...node, value: change(node.value) }
    case 'matrix':
      return { ...node, rows: node.rows.map(row => row.map(change)) }
    case 'group':
      return { ...node, items: node.items.map(change) }
    case 'setOperation':
      return { ...node, left: change(node.left), right: change(node.right) }
    case 'relation':
      return { ...node, operands: node.operands.map(change) }
    case 'ratio':
      return { ...node, parts: node.parts.map(change) }
    default:
      return node
  }
}

/** Whether `test` holds anywhere in the tree. */
export const some = (node: Node, test: (node: Node) => boolean): boolean =>
  test(node) || childrenOf(node).some(child => some(child, test))

/** Names of the variables, sorted. */
export const symbolsOf = (...nodes: Node[]): string[] => {
  const names = new Set<string>()
  const visit = (node: Node): void => {
    if (node.kind === 'symbol') names.add(node.name)
    for (const child of childrenOf(node)) visit(child)
  }
  for (const node of nodes) visit(node)
  return [...names].sort()
}

/** A text that two trees share exactly if they are the same, node by node; how decimals were written is left out. */
export const serial = (node: Node): string =>
  JSON.stringify(node, (key, value) =>
    key === 'decimals' ? undefined : typeof value === 'bigint' ? String(value) : value,
  )
