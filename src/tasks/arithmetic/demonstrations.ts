/** @file A scripted reasoner: how the small model is shown to think, well and badly, with facts that it half remembers. */

import { z } from 'zod'
import { hashLabel, type Rng } from '../../util/rng.ts'
import { fraction } from '../../util/setting-shapes.ts'
import { ARITHMETIC_FILLERS, type Calculation, calculationText } from './lines.ts'
import { type ArithmeticProblem, answerOf, apply, chainText, MODULUS, type Operation } from './problem.ts'

/** Habits of a chain of thought. */
export interface Habits {
  /** One operation a step, some merged into one, or results without a calculation. */
  style: 'careful' | 'merging' | 'jumping'
  /** Chance that a step is checked. */
  checks: number
  plans: boolean
  restates: boolean
  /** Chance of an idle word before a step. */
  idle: number
  /** Chance that a step is written twice. */
  repeats: number
}

/**
 * How often the teacher errs: in the share of facts `a * b` that it half remembers, and in the others; in two or three operations in
 * one step, and in a result without a calculation; in a check.
 */
export const errorsSchema = z.strictObject({
  shaky: fraction.default(0.4).describe('Share of the operations that the reasoner is unsure of.'),
  shakyError: fraction.default(0.4).describe('Error rate in operations that it is unsure of.'),
  knownError: fraction.default(0.04).describe('Error rate in the other operations.'),
  mergedError: fraction.default(0.35).describe('Error rate in steps that merge operations.'),
  jumpError: fraction.default(0.65).describe('Error rate in results without a calculation.'),
  checkError: fraction.default(0.1).describe('Error rate in checks.'),
})
export type Errors = z.output<typeof errorsSchema>

export const DEFAULT_ERRORS = errorsSchema.parse({})

/** In proportion to the others'; a sum of some must be a number. */
const chance = z.number().min(0).max(1e6)

/** Chances of the styles. */
export const stylesSchema = z.strictObject({
  careful: chance.default(0.4).describe('Frequency of the careful style: one operation a step.'),
  merging: chance
    .default(0.35)
    .describe('Frequency of the style that merges several operations into one step.'),
  jumping: chance.default(0.25).describe('Frequency of the style that gives results without a calculation.'),
})
export type StyleShares = z.output<typeof stylesSchema>

const DEFAULT_STYLES: StyleShares = { careful: 0.3, merging: 0.4, jumping: 0.3 }

export const drawHabits = (rng: Rng, shares: StyleShares = DEFAULT_STYLES): Habits => {
  const { careful, merging, jumping } = shares
  const place = rng.next() * (careful + merging + jumping)
  return {
    style: place < careful ? 'careful' : place < careful + merging ? 'merging' : 'jumping',
    checks: rng.pick([0, 0, 0.3, 0.8]),
    plans: rng.next() < 0.4,
    restates: rng.next() < 0.2,
    idle: rng.pick([0, 0, 0.2, 0.5]),
    repeats: rng.pick([0, 0, 0, 0.3]),
  }
}

/** Facts are shaky or not for good: what is half remembered is the same in every demonstration. */
const isShaky = (left: number, { operator, operand }: Operation, share: number): boolean =>
  (hashLabel(`arithmetic fact/${left} ${operator} ${operand}`) % 1000) / 1000 < share

const wrong = (right: number, rng: Rng): number => (right + 1 + rng.int(MODULUS - 1)) % MODULUS

const resultOf = (left: number, operations: readonly Operation[], errors: Errors, rng: Rng): number => {
  const right = operations.reduce((value, operation) => apply(value, operation), left)
  const chance =
    operations.length > 1
      ? errors.mergedError
      : isShaky(left, operations[0], errors.shaky)
        ? errors.shakyError
        : errors.knownError
  return rng.next() < chance ? wrong(right, rng) : right
}

/** How many operations a step takes. */
const stride = (style: Habits['style'], left: number, rng: Rng): number => {
  if (style === 'careful') return 1
  if (style === 'merging') return Math.min(left, rng.next() < 0.65 ? 2 + Number(rng.next() < 0.25) : 1)
  return 1 + rng.int(Math.min(left, 5))
}

/**
 * A chain of thought with the answer that it leads to, as text.
 * @returns what follows the tag that opens thinking
 */
export const demonstrate = (
  problem: ArithmeticProblem,
  habits: Habits,
  errors: Errors,
  rng: Rng,
): { text: string; right: boolean } => {
  const { operations, start } = problem
  const lines: string[] = []
  if (habits.restates) lines.push(`given ${chainText(problem)}`)
  if (habits.plans) lines.push(`plan ${rng.next() < 0.85 ? operations.length : 2 + rng.int(7)} steps`)
  let value = start
  for (let at = 0; at < operations.length; ) {
    if (rng.next() < habits.idle) lines.push(rng.pick(ARITHMETIC_FILLERS))
    const taken = operations.slice(at, at + stride(habits.style, operations.length - at, rng))
    at += taken.length
    const right = taken.reduce((current, operation) => apply(current, operation), value)
    if (habits.style === 'jumping' && (taken.length > 1 || rng.next() < 0.5)) {
      value =
        rng.next() < (taken.length > 1 ? errors.jumpError : errors.mergedError) ? wrong(right, rng) : right
      lines.push(`so ${value}`)
      continue
    }
    const step: Calculation = { left: value, operations: taken, result: resultOf(value, taken, errors, rng) }
    lines.push(calculationText(step))
    if (rng.next() < habits.repeats) lines.push(calculationText(step))
    value = step.result
    if (rng.next() < habits.checks) {
      value = rng.next() < errors.checkError ? step.result : right
      lines.push(`check ${calculationText({ ...step, result: value })}`)
    }
  }
  const body = lines.map(line => (/^\d/.test(line) ? `\n ${line}` : `\n${line}`)).join('')
  return { text: `${body}\n</think>\nanswer ${value}`, right: value === answerOf(problem) }
}

/** A demonstration that is drawn again, up to `tries` times in all, while its answer is wrong: rejection sampling. */
export const demonstrateWell = (
  problem: ArithmeticProblem,
  draw: (rng: Rng) => Habits,
  errors: Errors,
  tries: number,
  rng: Rng,
): { text: string; right: boolean; tries: number } => {
  for (let i = 1; ; i++) {
    const own = rng.fork(i)
    const shown = demonstrate(problem, draw(own), errors, own)
    if (shown.right || i >= tries) return { ...shown, tries: i }
  }
}
