/** @file Thinking on the arithmetic task, line by line: what each line does, and how it goes with the lines before it. */

import {
  type ArithmeticProblem,
  apply,
  chainText,
  MODULUS,
  type Operation,
  type Operator,
} from './problem.ts'

/** A calculation of one operation or of several at once. */
export interface Calculation {
  left: number
  operations: readonly Operation[]
  result: number
}

/** A step of the solution: a calculation, or a result without one. */
export interface Step extends Calculation {
  /** Whether it states a result without a calculation; it has no operations then. */
  jump: boolean
  /** Checks of it that follow, in order. */
  checks: readonly Calculation[]
  /** The result that the next step should begin with: that of the last check, where there is one. */
  kept: number
}

/** What a chain of thought consists of. */
export interface ChainOfThought {
  steps: readonly Step[]
  /** Steps that it says it takes, by line. */
  plans: readonly number[]
  /** Whether it repeats the whole question. */
  restates: boolean
  /** Words that do nothing, in order. */
  fillers: readonly string[]
  /** Lines that are none of these. */
  others: number
  lines: number
}

export const ARITHMETIC_FILLERS = ['well', 'hmm', 'clearly', 'easy'] as const

const CALCULATION = /^(\d)((?: [+*-] \d)+) = (\d)$/
const PLAN = /^plan (\d) steps$/
const JUMP = /^so (\d)$/
const CHECK = 'check '
const GIVEN = 'given '

const calculationOf = (text: string): Calculation | null => {
  const found = CALCULATION.exec(text)
  if (!found) return null
  const words = found[2].trim().split(' ')
  const operations = Array.from({ length: words.length / 2 }, (_, i) => ({
    operator: words[2 * i] as Operator,
    operand: Number(words[2 * i + 1]),
  }))
  return { left: Number(found[1]), operations, result: Number(found[3]) }
}

/** Whether a calculation's result is what it comes to. */
export const isRightCalculation = ({ left, operations, result }: Calculation): boolean =>
  operations.reduce((value, operation) => apply(value, operation), left) === result

/** Longest thinking that is read, characters: a line has about a dozen. */
const MOST_CHARACTERS = 20_000

/** Reads thinking. What is no line of the task counts as an other line; nothing throws. */
export const readThinking = (problem: ArithmeticProblem, text: string): ChainOfThought => {
  const lines = text
    .slice(0, MOST_CHARACTERS)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
  const steps: (Step & { checks: Calculation[] })[] = []
  const plans: number[] = []
  const fillers: string[] = []
  let restates = false
  let others = 0
  for (const line of lines) {
    const check = line.startsWith(CHECK) ? calculationOf(line.slice(CHECK.length)) : null
    const calculation = calculationOf(line)
    const jump = JUMP.exec(line)
    const plan = PLAN.exec(line)
    if (check && steps.length > 0) {
      const step = steps.at(-1)!
      step.checks.push(check)
      step.kept = check.result
    } else if (calculation) steps.push({ ...calculation, jump: false, checks: [], kept: calculation.result })
    else if (jump) {
      const result = Number(jump[1])
      steps.push({ left: result, operations: [], result, jump: true, checks: [], kept: result })
    } else if (plan) plans.push(Number(plan[1]))
    else if ((ARITHMETIC_FILLERS as readonly string[]).includes(line)) fillers.push(line)
    else if (line.startsWith(GIVEN) && line.slice(GIVEN.length) === chainText(problem)) restates = true
    else others++
  }
  return { steps, plans, restates, fillers, others, lines: lines.length }
}

/**
 * Which operation of the question each step begins at, and whether its operations are the question's in order; a jump covers
 * what lies before the next step that fits. Null for a step that fits nowhere.
 */
export const placesOf = ({ operations }: ArithmeticProblem, steps: readonly Step[]): (number | null)[] => {
  let next = 0
  return steps.map(step => {
    if (step.jump) return null
    const fits = (at: number) =>
      step.operations.every((operation, i) => {
        const own = operations[at + i]
        return own && own.operator === operation.operator && own.operand === operation.operand
      })
    for (let at = next; at + step.operations.length <= operations.length; at++)
      if (fits(at)) {
        next = at + step.operations.length
        return at
      }
    return null
  })
}

/** Whether every step is right, begins where the one before it ended, and all operations of the question are done in order. */
export const isSound = (problem: ArithmeticProblem, { steps }: ChainOfThought): boolean => {
  const places = placesOf(problem, steps)
  let value = problem.start
  let next = 0
  for (const [i, step] of steps.entries()) {
    if (step.jump || places[i] !== next || step.left !== value) return false
    if (!isRightCalculation({ ...step, result: step.kept })) return false
    value = step.kept
    next += step.operations.length
  }
  return next === problem.operations.length
}

/** Text of a calculation, `7 + 5 = 2`. */
export const calculationText = ({ left, operations, result }: Calculation): string =>
  `${left}${operations.map(({ operator, operand }) => ` ${operator} ${operand}`).join('')} = ${result % MODULUS}`
