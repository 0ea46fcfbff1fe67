/** @file `mathEqual`: whether two answers are the same. */

import { Budget, BudgetSpent } from '../budget.ts'
import { cleaned } from '../read/clean.ts'
import { type ExtractOptions, extractAnswer, isResponse } from '../read/extract.ts'
import { readings } from '../read/read.ts'
import { withoutReason } from '../read/sentences.ts'
import { byLetters, withoutTextCommands } from '../read/words.ts'
import { compareRationals, parseDecimal } from '../value/rational.ts'
import { answersEqual, type CompareRules } from './compare.ts'
import type { ListOrder } from './compare-groups.ts'

export interface MathOptions {
  /** Decimals that must agree. Without it a decimal must be a rounding of the other value, within a millionth of it. */
  precision?: number
  /** Whether `1, 2` and `2, 1` differ; `unclear` (undecided) unless given. */
  listOrder?: ListOrder
  /** Wall-clock limit of one comparison in milliseconds, beside the limit on its work. */
  timeLimitMs?: number
  /** Whether a text that reads like a whole response is searched for its answer; true unless given. */
  extract?: boolean
}

/**
 * Whether the prediction is the gold answer: true, false, or null where it is not decided (not understood, out of time,
 * or truly open). Either may be LaTeX or plain, a bare answer or a whole response. Never throws.
 * @example
 * mathEqual('\\frac{1}{2}', '0.5') // true
 * mathEqual('\\{1, 2\\}', '{2, 1}') // true
 */
export const mathEqual = (gold: string, prediction: string, options: MathOptions = {}): boolean | null => {
  if (isSame(gold, prediction)) return true
  const goldText = answerText(gold, options)
  const text = goldText === null ? null : answerText(prediction, options, expectation(goldText))
  if (goldText === null || goldText === '') return null
  if (text === null || text === '') return false
  if (goldText === text) return true
  const quick = plainNumbersEqual(goldText, text, options) ?? byLetters(goldText, text)
  if (quick !== undefined) return quick
  return withinBudget(options, rules => readAndCompare(goldText, text, rules))
}

/** The same answer letter by letter, also where it is a sentence that gives no value: `all numbers except 2`. */
export const isSame = (gold: string, prediction: string): boolean =>
  gold.trim() === prediction.trim() && cleaned(gold) !== ''

type Expect = NonNullable<ExtractOptions['expect']>

/** What kind of answer the gold answer is. */
export const expectation = (gold: string): Expect => {
  const words = withoutTextCommands(gold)
  if (/^\(?[A-J]\)?$/.test(words)) return 'choice'
  return /^(?:\p{L}[\p{L}\s.'-]{2,}|no)$/iu.test(words) ? 'text' : 'math'
}

const answerText = (
  given: string,
  { extract = true }: MathOptions,
  expect: Expect = 'math',
): string | null => {
  const search = extract && (isResponse(given) || expect === 'choice')
  const answer = search
    ? extractAnswer(given, { expect })
    : expect === 'choice'
      ? given
      : withoutReason(given, expect)
  return answer === null ? null : cleaned(answer)
}

const PLAIN_NUMBER = /^[-+]?(?:\d{1,400}|\d{0,400}\.\d{1,400})$/

/** The quick way for two plain numbers, exact; undefined where they differ but one may be a rounding of the other. */
const plainNumbersEqual = (a: string, b: string, { precision }: MathOptions): boolean | undefined => {
  if (!PLAIN_NUMBER.test(a) || !PLAIN_NUMBER.test(b)) return undefined
  const [x, y] = [a, b].map(text => {
    const value = parseDecimal(text.replace(/^[-+]/, ''))!
    return text[0] === '-' ? { n: -value.n, d: value.d } : value
  })
  if (compareRationals(x, y) === 0) return true
  return precision === undefined && !a.includes('.') && !b.includes('.') ? false : undefined
}

const withinBudget = (
  options: MathOptions,
  decide: (rules: CompareRules) => boolean | null,
): boolean | null => {
  const budget = new Budget({ timeLimitMs: options.timeLimitMs })
  try {
    return decide({ budget, precision: options.precision, listOrder: options.listOrder ?? 'unclear' })
  } catch (error) {
    if (error instanceof BudgetSpent || error instanceof RangeError) return null
    throw error
  }
}

/** The likeliest readings decide; another pair of readings can only make them equal. */
const readAndCompare = (gold: string, prediction: string, rules: CompareRules): boolean | null => {
  const [golds, predictions] = [readings(gold, rules.budget), readings(prediction, rules.budget)]
  if (golds.length === 0 || predictions.length === 0)
    return withoutSpaces(gold) === withoutSpaces(prediction) ? true : null
  let first: boolean | null | undefined
  for (const a of golds) {
    for (const b of predictions) {
      const equal = answersEqual(a, b, rules)
      if (equal === true) return true
      if (first === undefined) first = equal
    }
  }
  return first ?? null
}

const withoutSpaces = (text: string): string => text.replace(/\s+|\\left|\\right/g, '')
