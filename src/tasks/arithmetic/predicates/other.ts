/** @file Predicates about the question's own content: which results are right, and what numbers occur. */

import { fixed, numbered } from '../../thinking-grammar/predicate.ts'
import { isRightCalculation, type Step } from '../lines.ts'
import { answerOf, type Operator } from '../problem.ts'
import type { ArithmeticPredicate, Evidence } from './predicate.ts'

/** Steps before the last one: the last result is the answer in all but name. */
const inner = ({ thinking: { steps } }: Evidence): readonly Step[] => steps.slice(0, -1)

const rightOf = (step: Step): boolean => !step.jump && isRightCalculation({ ...step, result: step.kept })

const allRightOf =
  (operator: Operator) =>
  (evidence: Evidence): boolean => {
    const own = inner(evidence).filter(({ operations }) =>
      operations.some(each => each.operator === operator),
    )
    return own.length > 0 && own.every(rightOf)
  }

const operators = ({ problem }: Evidence, operator: Operator): number =>
  problem.operations.filter(each => each.operator === operator).length

/** Numbers that are written before the end: the last result is the answer in all but name. */
const written = (evidence: Evidence): number[] => {
  const last = evidence.thinking.steps.at(-1)
  const before = inner(evidence).flatMap(({ left, operations, result }) => [
    left,
    ...operations.map(({ operand }) => operand),
    result,
  ])
  return last && !last.jump
    ? [...before, last.left, ...last.operations.map(({ operand }) => operand)]
    : before
}

export const ARITHMETIC_OTHER: readonly ArithmeticPredicate[] = [
  numbered('other', 'good', 'step {place} is right', (evidence, n) => {
    const step = inner(evidence)[n - 1]
    return step !== undefined && rightOf(step)
  }),
  numbered('other', 'bad', 'step {place} is wrong', (evidence, n) => {
    const step = inner(evidence)[n - 1]
    return step !== undefined && !rightOf(step)
  }),
  fixed('other', 'good', 'every multiplication before the end is right', allRightOf('*')),
  fixed('other', 'good', 'every addition before the end is right', allRightOf('+')),
  fixed('other', 'good', 'every subtraction before the end is right', allRightOf('-')),
  numbered(
    'other',
    'neutral',
    'the result of step {place} is even',
    (evidence, n) => inner(evidence)[n - 1]?.result % 2 === 0,
  ),
  numbered(
    'other',
    'neutral',
    'the result of step {place} is odd',
    (evidence, n) => inner(evidence)[n - 1]?.result % 2 === 1,
  ),
  numbered('other', 'neutral', 'passes through {digit}', (evidence, n) =>
    inner(evidence).some(({ kept }) => kept === n),
  ),
  numbered('other', 'neutral', 'uses the digit {digit}', (evidence, n) => written(evidence).includes(n)),
  numbered(
    'other',
    'neutral',
    'never uses the digit {digit}',
    (evidence, n) => !written(evidence).includes(n),
  ),
  fixed('other', 'neutral', 'has an even number of steps', ({ thinking }) => thinking.steps.length % 2 === 0),
  fixed('other', 'neutral', 'has an odd number of lines', ({ thinking }) => thinking.lines % 2 === 1),
  fixed(
    'other',
    'neutral',
    'has more additions than multiplications',
    evidence => operators(evidence, '+') > operators(evidence, '*'),
  ),
  fixed('other', 'neutral', 'a result comes twice', evidence => {
    const all = inner(evidence).map(({ result }) => result)
    return new Set(all).size < all.length
  }),
]

/** Predicates that read the end of the thinking or the answer: the outcome under another name. Off unless asked for. */
export const ARITHMETIC_OUTCOME: readonly ArithmeticPredicate[] = [
  {
    ...numbered(
      'other',
      'neutral',
      'the last step gives {digit}',
      ({ thinking }, n) => thinking.steps.at(-1)?.kept === n,
    ),
    outcome: true,
  },
  {
    ...numbered('other', 'neutral', 'the answer is {digit}', ({ answer }, n) => answer === n),
    outcome: true,
  },
  {
    ...fixed(
      'other',
      'good',
      'every step is right',
      ({ thinking: { steps } }) => steps.length > 0 && steps.every(rightOf),
    ),
    outcome: true,
  },
  {
    ...fixed(
      'other',
      'good',
      'reaches the right value',
      ({ thinking, problem }) => thinking.steps.at(-1)?.kept === answerOf(problem),
    ),
    outcome: true,
  },
]
