/** @file Predicates about checking oneself. */

import { fixed, numbered } from '../../thinking-grammar/predicate.ts'
import type { Calculation, Step } from '../lines.ts'
import type { ArithmeticPredicate } from './predicate.ts'

const disagrees = ({ step, check }: { step: Step; check: Calculation }): boolean =>
  step.result !== check.result

const isChecked = (step: Step | undefined): boolean => step !== undefined && step.checks.length > 0

export const ARITHMETIC_VALIDATION: readonly ArithmeticPredicate[] = [
  fixed('validation', 'good', 'checks a step', ({ checks }) => checks.length > 0),
  numbered(
    'validation',
    'good',
    'checks at least {count} steps',
    ({ thinking }, n) => thinking.steps.filter(isChecked).length >= n,
  ),
  fixed(
    'validation',
    'good',
    'checks every step',
    ({ thinking }) => thinking.steps.length > 0 && thinking.steps.every(isChecked),
  ),
  fixed('validation', 'good', 'checks every multiplication', ({ calculations }) => {
    const own = calculations.filter(({ operations }) => operations.some(({ operator }) => operator === '*'))
    return own.length > 0 && own.every(isChecked)
  }),
  fixed('validation', 'good', 'checks the first step', ({ thinking }) => isChecked(thinking.steps[0])),
  fixed('validation', 'good', 'checks the last step', ({ thinking }) => isChecked(thinking.steps.at(-1))),
  numbered('validation', 'good', 'checks step {place}', ({ thinking }, n) =>
    isChecked(thinking.steps[n - 1]),
  ),
  fixed('validation', 'neutral', 'checks a step twice', ({ thinking }) =>
    thinking.steps.some(({ checks }) => checks.length > 1),
  ),
  fixed('validation', 'neutral', 'a check finds an error', ({ checks }) => checks.some(disagrees)),
  fixed('validation', 'good', 'goes on from a corrected result', ({ thinking }) =>
    thinking.steps.some(
      (step, i) =>
        step.kept !== step.result && step.checks.length > 0 && thinking.steps[i + 1]?.left === step.kept,
    ),
  ),
  fixed('validation', 'bad', 'finds an error and goes on from the wrong result', ({ thinking }) =>
    thinking.steps.some(
      (step, i) =>
        step.checks.some(check => disagrees({ step, check })) && thinking.steps[i + 1]?.left === step.result,
    ),
  ),
  fixed('validation', 'bad', 'never checks anything', ({ checks }) => checks.length === 0),
  fixed('validation', 'bad', 'a check changes the calculation', ({ checks }) =>
    checks.some(
      ({ step, check }) => step.left !== check.left || step.operations.length !== check.operations.length,
    ),
  ),
]
