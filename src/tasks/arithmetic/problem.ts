/** @file Problems of the arithmetic task: a chain of operations on single digits, of which only the last digit is kept. */

import { z } from 'zod'
import { Rng } from '../../util/rng.ts'
import { leastAndMost } from '../../util/setting-shapes.ts'

const OPERATORS = ['+', '-', '*'] as const
export type Operator = (typeof OPERATORS)[number]

/** One operation of a chain: what is done to the result so far. Those of a problem differ, so that each has its place. */
export interface Operation {
  operator: Operator
  /** 1..9; of a multiplication 2..9. */
  operand: number
}

const operandsOf = (operator: Operator): number[] =>
  operator === '*' ? [2, 3, 4, 5, 6, 7, 8, 9] : [1, 2, 3, 4, 5, 6, 7, 8, 9]

/** All that there are. */
export const OPERATIONS: readonly Operation[] = OPERATORS.flatMap(operator =>
  operandsOf(operator).map(operand => ({ operator, operand })),
)

/** Worked from left to right; every result is reduced to its last digit. */
export interface ArithmeticProblem {
  id: string
  /** 0..9 */
  start: number
  operations: readonly Operation[]
}

/** Results are kept modulo this. */
export const MODULUS = 10

/** The last digit of `left operator right`, 0..9. */
export const apply = (left: number, { operator, operand }: Operation): number => {
  const value = operator === '+' ? left + operand : operator === '-' ? left - operand : left * operand
  return ((value % MODULUS) + MODULUS) % MODULUS
}

/** The result after each operation. */
export const results = ({ start, operations }: ArithmeticProblem): number[] => {
  let current = start
  return operations.map(operation => {
    current = apply(current, operation)
    return current
  })
}

/** The right answer. */
export const answerOf = (problem: ArithmeticProblem): number => results(problem).at(-1)!

/** `7 + 5 * 3 - 4` */
export const chainText = ({ start, operations }: ArithmeticProblem): string =>
  [String(start), ...operations.map(({ operator, operand }) => `${operator} ${operand}`)].join(' ')

/** The question as judges are told it. */
export const arithmeticQuestionText = (problem: ArithmeticProblem): string =>
  `Work from left to right and keep only the last digit of every result: ${chainText(problem)}`

const operations = z.int().min(2).max(9)
/** Fewest and most operations of a problem. */
export const operationsSchema = leastAndMost(operations.default(4), operations.default(6))

export interface ArithmeticOptions {
  /** Fewest and most operations. Default 4 to 6. */
  operations?: { min: number; max: number }
}

/** What training seeds may not begin with: these name test problems. */
export const ARITHMETIC_TEST_SEED = 'held-out:arithmetic'

/**
 * Problem `index` of a seed. It depends on seed, index and options alone.
 * @example
 * const [first, again] = [0, 0].map(i => arithmetic.arithmeticProblem('mine', i, { operations: { min: 2, max: 2 } }))
 * first.operations.length // 2
 * first.id === again.id // true
 */
export const arithmeticProblem = (
  seed: number | string,
  index: number,
  { operations: { min, max } = { min: 4, max: 6 } }: ArithmeticOptions = {},
): ArithmeticProblem => {
  const rng = new Rng(`arithmetic/${seed}/${index}`)
  const count = min + rng.int(max - min + 1)
  const start = rng.int(MODULUS)
  const operations = rng.sample(OPERATIONS, count)
  const id = [start, ...operations.map(({ operator, operand }) => `${operator}${operand}`)].join('')
  return { id, start, operations }
}
