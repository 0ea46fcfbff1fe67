/** @file Functions of several arguments, and the names that Python and SymPy print: what a call of them stands for. */

import { type Node, numberNode } from './expression.ts'
import { table } from './vocabulary.ts'

/** Null where the arguments do not fit. */
type Build = (args: readonly Node[]) => Node | null

const call =
  (name: string): Build =>
  args => ({ kind: 'call', name, args: [...args] })

const whole = (value: bigint): Node => numberNode({ n: value, d: 1n })
const group = (open: '(' | '[' | '{', close: ')' | ']' | '}', items: readonly Node[]): Node => ({
  kind: 'group',
  open,
  close,
  items: [...items],
})

const one: Build = args => (args.length === 1 ? args[0] : null)
const two =
  (build: (a: Node, b: Node) => Node): Build =>
  args =>
    args.length === 2 ? build(args[0], args[1]) : null

const fraction: Build = args =>
  one(args) ?? two((numerator, denominator) => ({ kind: 'divide', numerator, denominator }))(args)
const root = two((radicand, index) => ({ kind: 'root', radicand, index }))
const interval = (open: '(' | '[', close: ')' | ']'): Build => two((a, b) => group(open, close, [a, b]))

/** `Matrix([[1, 2], [3, 4]])`, or a column of numbers. */
const matrix: Build = args => {
  const [list] = args
  if (args.length !== 1 || list.kind !== 'group' || list.items.length === 0) return null
  const rows = list.items.map(item => (item.kind === 'group' ? item.items : [item]))
  return rows.every(row => row.length === rows[0].length) ? { kind: 'matrix', rows } : null
}

const union: Build = args =>
  args.length === 0
    ? null
    : args.reduce((left, right) => ({ kind: 'setOperation', operator: 'union', left, right }))

const binomial = two((n, k) => call('binomial')([n, k])!)

/** By name, as it is written. Source of the names: Python's math, cmath and fractions, NumPy, SymPy 1.14's printer. */
export const CALLS = table<Build>({
  max: call('max'),
  min: call('min'),
  Max: call('max'),
  Min: call('min'),
  gcd: call('gcd'),
  lcm: call('lcm'),
  log: call('log'),
  log2: args => one(args) && call('log')([args[0], whole(2n)]),
  log10: args => one(args) && call('log')([args[0], whole(10n)]),
  cbrt: args => one(args) && root([args[0], whole(3n)]),
  root,
  Pow: two((base, exponent) => ({ kind: 'power', base, exponent })),
  pow: two((base, exponent) => ({ kind: 'power', base, exponent })),
  factorial: args => one(args) && call('factorial')(args),
  ceiling: args => one(args) && call('ceil')(args),
  Abs: args => one(args) && call('abs')(args),
  binomial,
  comb: binomial,
  nCr: binomial,
  Rational: fraction,
  Fraction: fraction,
  Integer: one,
  Float: one,
  Decimal: one,
  array: one,
  Tuple: args => group('(', ')', args),
  FiniteSet: args => group('{', '}', args),
  Interval: interval('[', ']'),
  'Interval.open': interval('(', ')'),
  'Interval.Lopen': interval('(', ']'),
  'Interval.Ropen': interval('[', ')'),
  Union: union,
  Matrix: matrix,
  Eq: two((a, b) => ({ kind: 'relation', operators: ['='], operands: [a, b] })),
})
