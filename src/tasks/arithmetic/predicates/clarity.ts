/** @file Predicates about clarity and flow. */

import { fixed, numbered } from '../../thinking-grammar/predicate.ts'
import type { Step } from '../lines.ts'
import type { ArithmeticPredicate, Evidence } from './predicate.ts'

/** Whether step i, from 0, begins with what the step before it came to; the first begins with the question's number. */
const follows = ({ thinking: { steps }, problem }: Evidence, i: number): boolean => {
  const step = steps[i]
  if (step === undefined || step.jump) return false
  return step.left === (i === 0 ? problem.start : steps[i - 1].kept)
}

const calculates = ({ jump }: Step) => !jump

export const ARITHMETIC_CLARITY: readonly ArithmeticPredicate[] = [
  fixed(
    'clarity',
    'good',
    'each step begins with the result before it',
    evidence =>
      evidence.thinking.steps.length > 0 &&
      evidence.thinking.steps.every((step, i) => step.jump || follows(evidence, i)),
  ),
  fixed('clarity', 'bad', 'a step begins with another number than the result before it', evidence =>
    evidence.thinking.steps.some((step, i) => calculates(step) && !follows(evidence, i)),
  ),
  numbered('clarity', 'good', 'step {place} begins with the result before it', (evidence, n) =>
    follows(evidence, n - 1),
  ),
  fixed(
    'clarity',
    'good',
    'gives every result by a calculation',
    ({ thinking }) => thinking.steps.length > 0 && thinking.steps.every(calculates),
  ),
  fixed('clarity', 'bad', 'states a result without a calculation', ({ thinking }) =>
    thinking.steps.some(({ jump }) => jump),
  ),
  fixed(
    'clarity',
    'good',
    'every line is a calculation',
    ({ thinking }) =>
      thinking.steps.every(calculates) &&
      thinking.fillers.length + thinking.plans.length + thinking.others === 0 &&
      !thinking.restates,
  ),
  fixed('clarity', 'neutral', 'says clearly', ({ thinking }) => thinking.fillers.includes('clearly')),
  fixed('clarity', 'neutral', 'says easy', ({ thinking }) => thinking.fillers.includes('easy')),
  fixed('clarity', 'neutral', 'says well', ({ thinking }) => thinking.fillers.includes('well')),
  fixed('clarity', 'neutral', 'shows doubt', ({ thinking }) => thinking.fillers.includes('hmm')),
  fixed('clarity', 'bad', 'has a line that makes no sense', ({ thinking }) => thinking.others > 0),
  fixed('clarity', 'neutral', 'writes single digits', ({ thinking }) => thinking.others === 0),
]
