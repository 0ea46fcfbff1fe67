/** @file Predicates about focus and length. */

import { fixed, numbered } from '../../thinking-grammar/predicate.ts'
import { calculationText } from '../lines.ts'
import type { ArithmeticPredicate, Evidence } from './predicate.ts'

const repeats = ({ calculations }: Evidence): boolean => {
  const texts = calculations.map(calculationText)
  return new Set(texts).size < texts.length
}

export const ARITHMETIC_EFFICIENCY: readonly ArithmeticPredicate[] = [
  numbered('efficiency', 'bad', 'has at most {count} steps', ({ thinking }, n) => thinking.steps.length <= n),
  numbered('efficiency', 'neutral', 'has at most {count} lines', ({ thinking }, n) => thinking.lines <= n),
  numbered('efficiency', 'neutral', 'has at least {count} lines', ({ thinking }, n) => thinking.lines >= n),
  fixed('efficiency', 'bad', 'repeats a step', repeats),
  fixed('efficiency', 'neutral', 'repeats nothing', evidence => !repeats(evidence)),
  fixed('efficiency', 'neutral', 'has no idle words', ({ thinking }) => thinking.fillers.length === 0),
  fixed('efficiency', 'neutral', 'has idle words', ({ thinking }) => thinking.fillers.length > 0),
  fixed('efficiency', 'neutral', 'has several idle words', ({ thinking }) => thinking.fillers.length > 1),
  fixed(
    'efficiency',
    'bad',
    'takes fewer steps than there are operations',
    ({ thinking, problem }) => thinking.steps.length < problem.operations.length,
  ),
  fixed(
    'efficiency',
    'bad',
    'takes more steps than there are operations',
    ({ thinking, problem }) => thinking.steps.length > problem.operations.length,
  ),
  fixed(
    'efficiency',
    'bad',
    'jumps to the end at once',
    ({ thinking }) => thinking.steps.length === 1 && thinking.steps[0].jump,
  ),
]
