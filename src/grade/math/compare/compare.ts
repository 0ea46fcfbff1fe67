/** @file Whether two answers that were read are the same: what kind each is, and how kinds are compared. */

import { childrenOf, type Node, type NodeOf, ONE_NODE, serial, some } from '../read/expression.ts'
import { type Assignment, assignmentOf, isLabel } from '../read/labels.ts'
import { quantitiesEqual } from '../read/quantities.ts'
import { textsEqual } from '../read/words.ts'
import { matrixOf, vectorOf } from '../value/matrices.ts'
import { NoOrder, realSetsEqual } from '../value/real-set.ts'
import { isScalar, reduced } from '../value/reduce.ts'
import type { ScalarRules } from '../value/scalars.ts'
import { asRealSet } from '../value/solve-set.ts'
import { anyOrder, groupsEqual, inOrder, type ListOrder, singletonEqual } from './compare-groups.ts'
import { equationsEqual } from './equations.ts'

export interface CompareRules extends ScalarRules {
  readonly listOrder: ListOrder
}

/** True, false, or null for undecided. Symmetric. @throws BudgetSpent */
export const answersEqual = (a: Node, b: Node, rules: CompareRules): boolean | null =>
  new Comparison(rules).compare(reduced(a, rules.budget), reduced(b, rules.budget))

/** Result of a way of comparing that may not apply to the pair at hand. */
type Maybe = boolean | null | undefined

class Comparison {
  constructor(private readonly rules: CompareRules) {}

  readonly compare = (a: Node, b: Node): boolean | null => {
    this.rules.budget.spend()
    if (sameTree(a, b)) return true
    if (a.kind === 'text' || b.kind === 'text') return withText(a, b)
    for (const way of [this.named, this.realSets, this.matrices]) {
      const result = way(a, b)
      if (result !== undefined) return result
    }
    return this.byKind(a, b)
  }

  private byKind(a: Node, b: Node): boolean | null {
    if (a.kind === 'group' && b.kind === 'group') return groupsEqual(a, b, this.compare, this.rules.listOrder)
    if (a.kind === 'group') return singletonEqual(a, b, this.compare)
    if (b.kind === 'group') return singletonEqual(b, a, this.compare)
    if (a.kind === 'relation' && b.kind === 'relation') return this.relations(a, b)
    if (a.kind === 'ratio' || b.kind === 'ratio') return this.ratios(a, b)
    if (isScalar(a) && isScalar(b)) return this.scalars(a, b)
    if (a.kind === 'setOperation' && b.kind === 'setOperation') return this.setOperations(a, b)
    return false
  }

  /** A formula of sets or tuples, such as `-[0, 1)`, is no number; what it is stays open. */
  private scalars(a: Node, b: Node): boolean | null {
    const [pureA, pureB] = [isFormula(a), isFormula(b)]
    return pureA && pureB ? quantitiesEqual(a, b, this.rules) : pureA === pureB ? null : false
  }

  /** Named answers go by value; where the value is a formula and both have names, the names count too. */
  private readonly named = (a: Node, b: Node): Maybe => {
    const [x, y] = [assignmentIn(a), assignmentIn(b)]
    if (x && y) return this.bothNamed(x, y, a, b)
    const [assignment, other] = x ? [x, b] : [y, a]
    if (!assignment || other.kind === 'relation') return undefined
    if (isLabel(assignment.value) && sameTree(assignment.label, other)) return null
    return this.compare(assignment.value, other)
  }

  private bothNamed(x: Assignment, y: Assignment, a: Node, b: Node): boolean | null {
    const equal = this.compare(x.value, y.value)
    const isSymbolic = some(x.value, node => node.kind === 'symbol')
    if (equal !== false && (!isSymbolic || sameTree(x.label, y.label))) return equal
    const sides = isScalar(x.value) && isScalar(y.value) && a.kind === 'relation' && b.kind === 'relation'
    return sides && isSymbolic ? equationsEqual(a, b, this.rules) : false
  }

  /** Applies where one side is written as a set of real numbers and both can be read as one. */
  private readonly realSets = (a: Node, b: Node): Maybe => {
    if (!isSetLike(a) && !isSetLike(b)) return undefined
    try {
      const [x, y] = [asRealSet(a, this.rules), asRealSet(b, this.rules)]
      if (x && y) return realSetsEqual(x, y, this.rules)
      return (x && isScalar(b)) || (y && isScalar(a)) ? false : undefined
    } catch (error) {
      if (error instanceof NoOrder) return undefined
      throw error
    }
  }

  /** Matrices entry by entry; a row or column may stand for a tuple. */
  private readonly matrices = (a: Node, b: Node): Maybe => {
    const [x, y] = [matrixOf(a, this.rules), matrixOf(b, this.rules)]
    if (x && y) {
      const sameShape = x.rows.length === y.rows.length && x.rows[0].length === y.rows[0].length
      return sameShape && inOrder(x.rows.flat(), y.rows.flat(), this.compare)
    }
    const [matrix, other] = x ? [x, b] : [y, a]
    if (!matrix) return undefined
    const vector = vectorOf(matrix)
    if (vector && other.kind === 'group' && other.open !== '{')
      return inOrder(vector, other.items, this.compare)
    return vector?.length === 1 ? this.compare(vector[0], other) : false
  }

  private relations(a: NodeOf<'relation'>, b: NodeOf<'relation'>): boolean | null {
    if (a.operators.length === 1 && b.operators.length === 1) return equationsEqual(a, b, this.rules)
    if (a.operators.length !== b.operators.length) return null
    const [x, y] = [ascending(a), ascending(b)]
    return x.operators.join() === y.operators.join() && inOrder(x.operands, y.operands, this.compare)
  }

  /** Ratios of one proportion are equal: 2:3 and 4:6, 2:3 and 2/3. */
  private ratios(a: Node, b: Node): boolean | null {
    const [left, right] = [ratioParts(a), ratioParts(b)]
    const scaled = (parts: Node[], by: Node) => parts.slice(1).map(part => product(part, by))
    return inOrder(scaled(left, right[0]), scaled(right, left[0]), this.compare)
  }

  private setOperations(a: NodeOf<'setOperation'>, b: NodeOf<'setOperation'>): boolean | null {
    if (a.operator !== b.operator) return null
    const pair = a.operator === 'difference' ? inOrder : anyOrder
    return pair([a.left, a.right], [b.left, b.right], this.compare) || null
  }
}

/** A scalar all the way down; the bounds of a sum are written as relations and belong to it. */
const isFormula = (node: Node): boolean =>
  isScalar(node) && (node.kind === 'call' || childrenOf(node).every(isFormula))

const product = (a: Node, b: Node): Node => ({ kind: 'multiply', factors: [a, b] })

const assignmentIn = (node: Node): Assignment | null => (node.kind === 'relation' ? assignmentOf(node) : null)

/** Needs no value, so it also holds for what cannot be computed. */
const sameTree = (a: Node, b: Node): boolean => a.kind === b.kind && serial(a) === serial(b)

const withText = (a: Node, b: Node): boolean => {
  const [x, y] = [wordsOf(a), wordsOf(b)]
  return x !== null && y !== null && textsEqual(x, y)
}

const wordsOf = (node: Node): string | null => {
  if (node.kind === 'text') return node.text
  if (node.kind === 'symbol' || node.kind === 'constant') return node.name
  if (node.kind === 'number' && node.value.d === 1n) return String(node.value.n)
  return node.kind === 'quantity' ? wordsOf(node.value) : null
}

const isHalfOpen = ({ open, close }: NodeOf<'group'>): boolean => ['[)', '(]'].includes(open + close)

/** Written as a set of real numbers: intervals, their unions, inequalities. A pair `(a, b)` alone may be a point. */
const isSetLike = (node: Node): boolean => {
  if (node.kind === 'setOperation' || node.kind === 'setName') return true
  if (node.kind === 'relation') return !node.operators.includes('=')
  return node.kind === 'group' && (isHalfOpen(node) || (node.open === '' && node.items.some(isSetLike)))
}

/** `c > b > a` as `a < b < c`. */
const ascending = (node: NodeOf<'relation'>): NodeOf<'relation'> => {
  if (!node.operators.every(operator => operator === '>' || operator === '>=')) return node
  const operators = node.operators.map(operator => (operator === '>' ? '<' : '<=')).reverse()
  return { kind: 'relation', operators, operands: [...node.operands].reverse() } as NodeOf<'relation'>
}

const ratioParts = (node: Node): Node[] => {
  if (node.kind === 'ratio') return node.parts
  return node.kind === 'divide' ? [node.numerator, node.denominator] : [node, ONE_NODE]
}
