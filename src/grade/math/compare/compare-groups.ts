/** @file Tuples, lists and sets of answers. */

import { type Node, type NodeOf, serial } from '../read/expression.ts'
import { type Assignment, assignmentOf } from '../read/labels.ts'

type Group = NodeOf<'group'>
export type Compare = (a: Node, b: Node) => boolean | null
/** What a bare list says by its order: `1, 2` against `2, 1`. */
export type ListOrder = 'matters' | 'free' | 'unclear'

const MAX_MEMBERS = 500

/** Pairs in order: false if any pair differs, null if none does but some are undecided. */
export const inOrder = (left: readonly Node[], right: readonly Node[], compare: Compare): boolean | null => {
  if (left.length !== right.length) return false
  let result: boolean | null = true
  for (const [i, node] of left.entries()) {
    const equal = compare(node, right[i])
    if (equal === false) return false
    if (equal === null) result = null
  }
  return result
}

/** Pairs in any order, each used once. */
export const anyOrder = (left: readonly Node[], right: readonly Node[], compare: Compare): boolean | null => {
  if (left.length !== right.length) return false
  if (left.length > MAX_MEMBERS) return null
  const rest = [...right]
  let result: boolean | null = true
  for (const node of left) {
    const results = rest.map(other => compare(node, other))
    const found = results.includes(true) ? results.indexOf(true) : results.indexOf(null)
    if (found < 0) return false
    if (results[found] === null) result = null
    rest.splice(found, 1)
  }
  return result
}

const unique = (items: readonly Node[], compare: Compare): Node[] => {
  const kept: Node[] = []
  for (const item of items) if (!kept.some(other => compare(item, other) === true)) kept.push(item)
  return kept
}

const isUnordered = (group: Group): boolean => group.open === '{' || group.joined !== undefined

/** A set or list of one value is that value (hundreds of members are no one value that anybody wrote). */
export const singletonEqual = (group: Group, other: Node, compare: Compare): boolean | null => {
  if (group.items.length > MAX_MEMBERS) return false
  const distinct = isUnordered(group) ? unique(group.items, compare) : group.items
  return distinct.length === 1 ? compare(distinct[0], other) : false
}

/**
 * Sets and lists joined by words in any order, tuples in theirs. A set against a tuple goes by order, because people
 * write `{1, 2}` for a pair. Two bare lists of the same values in another order are what `order` says.
 */
export const groupsEqual = (a: Group, b: Group, compare: Compare, order: ListOrder): boolean | null => {
  const [namedA, namedB] = [namedValues(a), namedValues(b)]
  if (namedA && namedB) return namedEqual(namedA, namedB, compare)
  const left = namedA ? namedA.map(({ value }) => value) : a.items
  const right = namedB ? namedB.map(({ value }) => value) : b.items
  if (isUnordered(a) || isUnordered(b)) return setsEqual(a, b, left, right, compare)
  const ordered = inOrder(left, right, compare)
  if (a.open !== '' && b.open !== '') return ordered && sameBrackets(a, b)
  if (ordered !== false || a.open !== b.open || order === 'matters') return ordered
  const free = anyOrder(left, right, compare)
  return free === true && order === 'unclear' ? null : free
}

/** Two ends in brackets of different kinds are different intervals; longer tuples are vectors either way. */
const sameBrackets = (a: Group, b: Group): boolean =>
  (a.open === b.open && a.close === b.close) || a.items.length !== 2

const setsEqual = (
  a: Group,
  b: Group,
  left: readonly Node[],
  right: readonly Node[],
  compare: Compare,
): boolean | null => {
  if (Math.max(left.length, right.length) > MAX_MEMBERS) return null
  const isTuple = [a, b].some(({ open }) => open === '(' || open === '[')
  if (isTuple) return inOrder(left, right, compare)
  const isSets = a.open === '{' && b.open === '{'
  return isSets
    ? anyOrder(unique(left, compare), unique(right, compare), compare)
    : anyOrder(left, right, compare)
}

const namedValues = (group: Group): Assignment[] | null => {
  const values = group.items.map(item => (item.kind === 'relation' ? assignmentOf(item) : null))
  const named = values.filter(value => value !== null)
  return named.length > 0 && named.length === values.length ? named : null
}

/** `a = 1, b = 2` against `b = 2, a = 1`: each name with its own value; one name several times is a list of values. */
const namedEqual = (left: Assignment[], right: Assignment[], compare: Compare): boolean | null => {
  const names = new Set(left.map(({ label }) => serial(label)))
  const values = (named: Assignment[]) => named.map(({ value }) => value)
  if (names.size === 1) return anyOrder(values(left), values(right), compare)
  const pairs = (named: Assignment[]) => named.map(asPair)
  return anyOrder(pairs(left), pairs(right), compare)
}

const asPair = ({ label, value }: Assignment): Node => ({
  kind: 'group',
  open: '(',
  close: ')',
  items: [{ kind: 'text', text: serial(label) }, value],
})
