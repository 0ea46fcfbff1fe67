/** @file The grammar of criteria about thinking on the arithmetic task: sentences that are read and executed exactly. */

import { allAre, CriterionGrammar, type Predicate, predicatesAbout } from '../thinking-grammar/grammar.ts'
import {
  type Calculation,
  type ChainOfThought,
  calculationText,
  isRightCalculation,
  placesOf,
  readThinking,
  type Step,
} from './lines.ts'
import { type ArithmeticProblem, answerOf, type Operator } from './problem.ts'

export { isMet } from '../thinking-grammar/grammar.ts'

/** What predicates are decided on. */
export interface Evidence extends ChainOfThought {
  problem: ArithmeticProblem
  /** Steps that calculate. */
  calculations: readonly Step[]
  /** Which operation of the question each step begins at; null where it fits nowhere, and for jumps. */
  places: readonly (number | null)[]
  /** Every check with the step that it is of. */
  checks: readonly { step: Step; check: Calculation }[]
  /** What the response answered; null where it did not, and where the answer is masked. */
  answer: number | null
}

/** What a place in a sentence may hold: numbers, and operations as `* 3`. */
export type Slot = 'count' | 'place' | 'digit' | 'operation'

export type ArithmeticPredicate = Predicate<Evidence>

const planning = predicatesAbout<Evidence>('planning')
const validation = predicatesAbout<Evidence>('validation')
const clarity = predicatesAbout<Evidence>('clarity')
const efficiency = predicatesAbout<Evidence>('efficiency')
const other = predicatesAbout<Evidence>('other')

/** Whether the step at a place of the question is done by itself. */
const doesAlone = ({ steps, places, problem }: Evidence, wanted: string): boolean =>
  steps.some((step, i) => {
    const at = places[i]
    if (at === null || step.operations.length !== 1) return false
    const { operator, operand } = problem.operations[at]
    return `${operator} ${operand}` === wanted
  })

/** How many of the question's operations are shown, each once. */
const shown = ({ steps, places }: Evidence): number =>
  steps.reduce((sum, step, i) => sum + (places[i] === null ? 0 : step.operations.length), 0)

const disagrees = ({ step, check }: { step: Step; check: Calculation }): boolean =>
  step.result !== check.result

const isChecked = (step: Step | undefined): boolean => step !== undefined && step.checks.length > 0

/** Whether step i, from 0, begins with what the step before it came to; the first begins with the question's number. */
const follows = ({ steps, problem }: Evidence, i: number): boolean => {
  const step = steps[i]
  if (step === undefined || step.jump) return false
  return step.left === (i === 0 ? problem.start : steps[i - 1].kept)
}

const calculates = ({ jump }: Step) => !jump

const repeats = ({ calculations }: Evidence): boolean => {
  const texts = calculations.map(calculationText)
  return new Set(texts).size < texts.length
}

/** Steps before the last one: the last result is the answer in all but name. */
const inner = ({ steps }: Evidence): readonly Step[] => steps.slice(0, -1)

const rightOf = (step: Step): boolean => !step.jump && isRightCalculation({ ...step, result: step.kept })

const allRightOf =
  (operator: Operator) =>
  (evidence: Evidence): boolean => {
    const own = inner(evidence).filter(({ operations }) =>
      operations.some(each => each.operator === operator),
    )
    return allAre(own, rightOf)
  }

const operators = ({ problem }: Evidence, operator: Operator): number =>
  problem.operations.filter(each => each.operator === operator).length

/** Numbers that are written before the end: the last result is the answer in all but name. */
const written = (evidence: Evidence): number[] => {
  const last = evidence.steps.at(-1)
  const before = inner(evidence).flatMap(({ left, operations, result }) => [
    left,
    ...operations.map(({ operand }) => operand),
    result,
  ])
  return last && !last.jump
    ? [...before, last.left, ...last.operations.map(({ operand }) => operand)]
    : before
}

/** All predicates but those that stand in for the outcome. */
export const PREDICATES: readonly ArithmeticPredicate[] = [
  planning.neutral('says how many steps it takes', ({ plans }) => plans.length > 0),
  planning.neutral('plans {count} steps', ({ plans }, n) => plans.includes(n)),
  planning.neutral('plans as many steps as there are operations', ({ plans, problem }) =>
    plans.includes(problem.operations.length),
  ),
  planning.bad('plans more steps than there are operations', ({ plans, problem }) =>
    plans.some(n => n > problem.operations.length),
  ),
  planning.bad('plans fewer steps than there are operations', ({ plans, problem }) =>
    plans.some(n => n < problem.operations.length),
  ),
  planning.good('does one operation a step', ({ steps }) =>
    allAre(steps, ({ operations }) => operations.length === 1),
  ),
  planning.bad('does two operations in one step', ({ calculations }) =>
    calculations.some(({ operations }) => operations.length === 2),
  ),
  planning.bad('does three operations in one step', ({ calculations }) =>
    calculations.some(({ operations }) => operations.length >= 3),
  ),
  planning.good('shows every operation', evidence => shown(evidence) === evidence.problem.operations.length),
  planning.bad('leaves an operation out', evidence => shown(evidence) < evidence.problem.operations.length),
  planning.good(
    'has as many steps as there are operations',
    ({ steps, problem }) => steps.length === problem.operations.length,
  ),
  planning.good('has at least {count} steps', ({ steps }, n) => steps.length >= n),
  planning.neutral('restates the question', ({ restates }) => restates),
  planning.good(
    'begins with the first number',
    ({ steps, problem }) => steps[0]?.left === problem.start && !steps[0].jump,
  ),
  planning.good('shows the operation {operation} by itself', (evidence, _, wanted) =>
    doesAlone(evidence, wanted),
  ),
  planning.good('takes the operations in order', ({ steps, places }) =>
    allAre(steps, (step, i) => step.jump || places[i] !== null),
  ),
  validation.good('checks a step', ({ checks }) => checks.length > 0),
  validation.good('checks at least {count} steps', ({ steps }, n) => steps.filter(isChecked).length >= n),
  validation.good('checks every step', ({ steps }) => allAre(steps, isChecked)),
  validation.good('checks every multiplication', ({ calculations }) => {
    const own = calculations.filter(({ operations }) => operations.some(({ operator }) => operator === '*'))
    return allAre(own, isChecked)
  }),
  validation.good('checks the first step', ({ steps }) => isChecked(steps[0])),
  validation.good('checks the last step', ({ steps }) => isChecked(steps.at(-1))),
  validation.good('checks step {place}', ({ steps }, n) => isChecked(steps[n - 1])),
  validation.neutral('checks a step twice', ({ steps }) => steps.some(({ checks }) => checks.length > 1)),
  validation.neutral('a check finds an error', ({ checks }) => checks.some(disagrees)),
  validation.good('goes on from a corrected result', ({ steps }) =>
    steps.some(
      (step, i) => step.kept !== step.result && step.checks.length > 0 && steps[i + 1]?.left === step.kept,
    ),
  ),
  validation.bad('finds an error and goes on from the wrong result', ({ steps }) =>
    steps.some(
      (step, i) =>
        step.checks.some(check => disagrees({ step, check })) && steps[i + 1]?.left === step.result,
    ),
  ),
  validation.bad('never checks anything', ({ checks }) => checks.length === 0),
  validation.bad('a check changes the calculation', ({ checks }) =>
    checks.some(
      ({ step, check }) => step.left !== check.left || step.operations.length !== check.operations.length,
    ),
  ),
  clarity.good('each step begins with the result before it', evidence =>
    allAre(evidence.steps, (step, i) => step.jump || follows(evidence, i)),
  ),
  clarity.bad('a step begins with another number than the result before it', evidence =>
    evidence.steps.some((step, i) => calculates(step) && !follows(evidence, i)),
  ),
  clarity.good('step {place} begins with the result before it', (evidence, n) => follows(evidence, n - 1)),
  clarity.good('gives every result by a calculation', ({ steps }) => allAre(steps, calculates)),
  clarity.bad('states a result without a calculation', ({ steps }) => steps.some(({ jump }) => jump)),
  clarity.good(
    'every line is a calculation',
    ({ steps, fillers, plans, others, restates }) =>
      steps.every(calculates) && fillers.length + plans.length + others === 0 && !restates,
  ),
  clarity.neutral('says clearly', ({ fillers }) => fillers.includes('clearly')),
  clarity.neutral('says easy', ({ fillers }) => fillers.includes('easy')),
  clarity.neutral('says well', ({ fillers }) => fillers.includes('well')),
  clarity.neutral('shows doubt', ({ fillers }) => fillers.includes('hmm')),
  clarity.bad('has a line that makes no sense', ({ others }) => others > 0),
  clarity.neutral('writes single digits', ({ others }) => others === 0),
  efficiency.bad('has at most {count} steps', ({ steps }, n) => steps.length <= n),
  efficiency.neutral('has at most {count} lines', ({ lines }, n) => lines <= n),
  efficiency.neutral('has at least {count} lines', ({ lines }, n) => lines >= n),
  efficiency.bad('repeats a step', repeats),
  efficiency.neutral('repeats nothing', evidence => !repeats(evidence)),
  efficiency.neutral('has no idle words', ({ fillers }) => fillers.length === 0),
  efficiency.neutral('has idle words', ({ fillers }) => fillers.length > 0),
  efficiency.neutral('has several idle words', ({ fillers }) => fillers.length > 1),
  efficiency.bad(
    'takes fewer steps than there are operations',
    ({ steps, problem }) => steps.length < problem.operations.length,
  ),
  efficiency.bad(
    'takes more steps than there are operations',
    ({ steps, problem }) => steps.length > problem.operations.length,
  ),
  efficiency.bad('jumps to the end at once', ({ steps }) => steps.length === 1 && steps[0].jump),
  other.good('step {place} is right', (evidence, n) => {
    const step = inner(evidence)[n - 1]
    return step !== undefined && rightOf(step)
  }),
  other.bad('step {place} is wrong', (evidence, n) => {
    const step = inner(evidence)[n - 1]
    return step !== undefined && !rightOf(step)
  }),
  other.good('every multiplication before the end is right', allRightOf('*')),
  other.good('every addition before the end is right', allRightOf('+')),
  other.good('every subtraction before the end is right', allRightOf('-')),
  other.neutral(
    'the result of step {place} is even',
    (evidence, n) => inner(evidence)[n - 1]?.result % 2 === 0,
  ),
  other.neutral(
    'the result of step {place} is odd',
    (evidence, n) => inner(evidence)[n - 1]?.result % 2 === 1,
  ),
  other.neutral('passes through {digit}', (evidence, n) => inner(evidence).some(({ kept }) => kept === n)),
  other.neutral('uses the digit {digit}', (evidence, n) => written(evidence).includes(n)),
  other.neutral('never uses the digit {digit}', (evidence, n) => !written(evidence).includes(n)),
  other.neutral('has an even number of steps', ({ steps }) => steps.length % 2 === 0),
  other.neutral('has an odd number of lines', ({ lines }) => lines % 2 === 1),
  other.neutral(
    'has more additions than multiplications',
    evidence => operators(evidence, '+') > operators(evidence, '*'),
  ),
  other.neutral('a result comes twice', evidence => {
    const all = inner(evidence).map(({ result }) => result)
    return new Set(all).size < all.length
  }),
]

/** Those that read the end of the thinking, or the answer: the outcome under another name. Off unless asked for. */
export const OUTCOME_PREDICATES: readonly ArithmeticPredicate[] = [
  other.neutral('the last step gives {digit}', ({ steps }, n) => steps.at(-1)?.kept === n),
  other.neutral('the answer is {digit}', ({ answer }, n) => answer === n),
  other.good('every step is right', ({ steps }) => allAre(steps, rightOf)),
  other.good('reaches the right value', ({ steps, problem }) => steps.at(-1)?.kept === answerOf(problem)),
].map(predicate => ({ ...predicate, outcome: true }))

export const ARITHMETIC_GRAMMAR = new CriterionGrammar<Evidence, Slot>({
  predicates: PREDICATES,
  outcomes: OUTCOME_PREDICATES,
  slots: { count: '[0-9]', place: '[1-9]', digit: '[0-9]', operation: '[+-] [1-9]|\\* [2-9]' },
})

/** What predicates are decided on, made once for a response. @param answer null where it is masked */
export const evidenceOf = (problem: ArithmeticProblem, text: string, answer: number | null): Evidence => {
  const thinking = readThinking(problem, text)
  return {
    ...thinking,
    problem,
    calculations: thinking.steps.filter(calculates),
    places: placesOf(problem, thinking.steps),
    checks: thinking.steps.flatMap(step => step.checks.map(check => ({ step, check }))),
    answer,
  }
}
