/** @file Predicates about planning and taking the problem apart. */

import { fixed, numbered } from '../../thinking-grammar/predicate.ts'
import type { ArithmeticPredicate, Evidence } from './predicate.ts'

/** Whether the step at a place of the question is done by itself. */
const doesAlone = ({ thinking, places, problem }: Evidence, wanted: string): boolean =>
  thinking.steps.some((step, i) => {
    const at = places[i]
    if (at === null || step.operations.length !== 1) return false
    const { operator, operand } = problem.operations[at]
    return `${operator} ${operand}` === wanted
  })

/** How many of the question's operations are shown, each once. */
const shown = ({ thinking, places }: Evidence): number =>
  thinking.steps.reduce((sum, step, i) => sum + (places[i] === null ? 0 : step.operations.length), 0)

export const ARITHMETIC_PLANNING: readonly ArithmeticPredicate[] = [
  fixed('planning', 'neutral', 'says how many steps it takes', ({ thinking }) => thinking.plans.length > 0),
  numbered('planning', 'neutral', 'plans {count} steps', ({ thinking }, n) => thinking.plans.includes(n)),
  fixed('planning', 'neutral', 'plans as many steps as there are operations', ({ thinking, problem }) =>
    thinking.plans.includes(problem.operations.length),
  ),
  fixed('planning', 'bad', 'plans more steps than there are operations', ({ thinking, problem }) =>
    thinking.plans.some(n => n > problem.operations.length),
  ),
  fixed('planning', 'bad', 'plans fewer steps than there are operations', ({ thinking, problem }) =>
    thinking.plans.some(n => n < problem.operations.length),
  ),
  fixed(
    'planning',
    'good',
    'does one operation a step',
    ({ thinking }) =>
      thinking.steps.length > 0 && thinking.steps.every(({ operations }) => operations.length === 1),
  ),
  fixed('planning', 'bad', 'does two operations in one step', ({ calculations }) =>
    calculations.some(({ operations }) => operations.length === 2),
  ),
  fixed('planning', 'bad', 'does three operations in one step', ({ calculations }) =>
    calculations.some(({ operations }) => operations.length >= 3),
  ),
  fixed(
    'planning',
    'good',
    'shows every operation',
    evidence => shown(evidence) === evidence.problem.operations.length,
  ),
  fixed(
    'planning',
    'bad',
    'leaves an operation out',
    evidence => shown(evidence) < evidence.problem.operations.length,
  ),
  fixed(
    'planning',
    'good',
    'has as many steps as there are operations',
    ({ thinking, problem }) => thinking.steps.length === problem.operations.length,
  ),
  numbered('planning', 'good', 'has at least {count} steps', ({ thinking }, n) => thinking.steps.length >= n),
  fixed('planning', 'neutral', 'restates the question', ({ thinking }) => thinking.restates),
  fixed(
    'planning',
    'good',
    'begins with the first number',
    ({ thinking, problem }) => thinking.steps[0]?.left === problem.start && !thinking.steps[0].jump,
  ),
  {
    category: 'planning',
    expected: 'good',
    sentence: 'shows the operation {operation} by itself',
    test: (evidence, [wanted]) => doesAlone(evidence, wanted),
  },
  fixed(
    'planning',
    'good',
    'takes the operations in order',
    ({ thinking, places }) =>
      thinking.steps.length > 0 && thinking.steps.every((step, i) => step.jump || places[i] !== null),
  ),
]
