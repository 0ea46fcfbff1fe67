/** @file Numbers as they are written: decimals, repeating decimals, other bases. */

import { addRationals, divideRationals, parseDecimal, rational } from '../value/rational.ts'
import { type Node, type NodeOf, numberNode } from './expression.ts'

/** `12`, `1.50`, `1e-3`, and `0.1r36` for 0.1363636...; null for absurd sizes. */
export const readNumber = (text: string): Node | null => {
  const [head, period] = text.split('r')
  if (period !== undefined) return repeating(head, period)
  const value = parseDecimal(text)
  if (!value) return null
  const point = /\.(\d*)(?:[eE]([+-]?\d+))?$/.exec(text)
  return numberNode(value, point ? Math.max(0, point[1].length - Number(point[2] ?? 0)) : undefined)
}

const repeating = (head: string, period: string): Node | null => {
  const places = BigInt(head.length - head.indexOf('.') - 1)
  const start = parseDecimal(head) ?? rational(0n)
  const nines = 10n ** BigInt(period.length) - 1n
  const tail = divideRationals({ n: BigInt(period), d: 1n }, { n: nines * 10n ** places, d: 1n })
  const value = start && tail && addRationals(start, tail)
  return value && numberNode(value)
}

/** Whether a subscript names a base that all digits belong to. */
export const isBased = (node: NodeOf<'number'>, base: string): boolean => {
  if (!/^\d{1,2}$/.test(base) || node.decimals !== undefined || node.value.d !== 1n || node.value.n < 0n)
    return false
  const radix = Number(base)
  return radix >= 2 && radix <= 36 && [...String(node.value.n)].every(digit => Number(digit) < radix)
}

/** The value of a whole number in another base. */
export const readBased = (node: NodeOf<'number'>, base: string): Node | null => {
  const digits = String(node.value.n)
  const value = rational([...digits].reduce((sum, digit) => sum * BigInt(base) + BigInt(digit), 0n))
  return value && { kind: 'based', value: numberNode(value), digits }
}
