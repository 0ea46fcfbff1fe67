/** @file What an answer is called (`x =`, `f(x) =`, `AB =`) and what it is. */

import { type Node, type NodeOf, some, symbolsOf } from './expression.ts'

export interface Assignment {
  label: Node
  value: Node
}

const isNamed = (node: Node, pattern: RegExp): boolean => node.kind === 'symbol' && pattern.test(node.name)

const POINTS = /^[A-Z]'*(_\w+)?$/
const FUNCTION_NAMES = /^[fghA-Z]'*(_\w+)?$/

/** A name: a variable, points side by side (`AB`), a quotient of those, a function of something (`f(x)`), a tuple of names, words. */
export const isLabel = (node: Node): boolean => {
  if (node.kind === 'symbol' || node.kind === 'text') return true
  if (node.kind === 'group') return node.items.length > 0 && node.items.every(isLabel)
  if (node.kind === 'call') return node.args.every(arg => isNamed(arg, POINTS) || isPointProduct(arg))
  if (node.kind === 'divide')
    return [node.numerator, node.denominator].every(part => part.kind === 'symbol' || isPointProduct(part))
  if (node.kind !== 'multiply') return false
  return isPointProduct(node) || isApplied(node)
}

const isPointProduct = (node: Node): boolean =>
  node.kind === 'multiply' && node.factors.every(factor => isNamed(factor, POINTS))

/** `f(x)`, `f^{-1}(x)`, `f(2)`: the grammar reads them as products. */
const isApplied = ({ factors: [first, second, ...rest] }: NodeOf<'multiply'>): boolean => {
  if (rest.length > 0 || !second) return false
  const name = first.kind === 'power' ? first.base : first
  return (
    isNamed(name, FUNCTION_NAMES) &&
    (second.kind === 'symbol' || second.kind === 'number' || second.kind === 'group')
  )
}

/**
 * `x = 5`, `5 = x`, `x = 2 + 3 = 5`, `100 - 30 = 70`, `x = 1/3 ≈ 0.33`: the name and the value that counts.
 * Null for an equation that says more, such as `2x + y = 3`. What follows an `≈` is only a rounding.
 */
export const assignmentOf = (node: Node): Assignment | null => {
  if (node.kind !== 'relation') return null
  const chain = beforeRounding(node)
  if (!chain) return null
  const [first, last] = [chain[0], chain[chain.length - 1]]
  const beforeLast = chain[chain.length - 2]
  if (isLabel(first)) return { label: first, value: last }
  if (isLabel(beforeLast)) return { label: beforeLast, value: last }
  if (chain.length === 2 && last.kind === 'symbol' && symbolsOf(first).length === 0)
    return { label: last, value: first }
  const numeric = chain.every(operand => !some(operand, child => child.kind === 'symbol'))
  return numeric ? { label: first, value: last } : null
}

/** The operands up to the first `≈` that has a value before it; null where other signs than `=` and `≈` occur. */
const beforeRounding = ({ operators, operands }: NodeOf<'relation'>): Node[] | null => {
  if (operators.some(operator => operator !== '=' && operator !== '~')) return null
  const cut = operators.findIndex((operator, i) => operator === '~' && !(i === 0 && isLabel(operands[0])))
  const chain = cut < 0 ? operands : operands.slice(0, cut + 1)
  return chain.length < 2 ? [chain[0], chain[0]] : chain
}
