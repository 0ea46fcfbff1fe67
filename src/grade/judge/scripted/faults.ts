/** @file How a scripted judge misbehaves: which fault an attempt meets, and what each looks like. */

import { z } from 'zod'
import { chanceOf } from './truth.ts'

const share = z.number().min(0).max(1).default(0)

export const faultRatesSchema = z.strictObject({
  serverError: share.describe('HTTP 500.'),
  rateLimit: share.describe('HTTP 429 with `retry-after: 0`.'),
  malformed: share.describe(
    'Half of them a body that is no completion, half a completion whose verdict cannot be read.',
  ),
  hang: share.describe('No answer, ever.'),
  cut: share.describe('The connection is cut, before the answer or in the middle of it.'),
  unusableEvery: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Each so manyth case never gets a verdict that can be read; 0 for none.'),
})
export type FaultRates = z.output<typeof faultRatesSchema>

export type FaultOutcome =
  | 'ok'
  | 'server-error'
  | 'rate-limit'
  | 'malformed-body'
  | 'malformed-verdict'
  | 'hang'
  | 'cut'
  | 'cut-body'

/** What becomes of an attempt: the same for the same seed, pair and number of the attempt, whatever the timing. */
export const outcomeOf = (
  rates: FaultRates,
  seed: string,
  caseIndex: number,
  ruleIndex: number,
  attempt: number,
): FaultOutcome => {
  const label = `${seed}/${caseIndex}/${ruleIndex}/${attempt}`
  const table: [number, FaultOutcome, FaultOutcome][] = [
    [rates.serverError, 'server-error', 'server-error'],
    [rates.rateLimit, 'rate-limit', 'rate-limit'],
    [rates.malformed, 'malformed-body', 'malformed-verdict'],
    [rates.hang, 'hang', 'hang'],
    [rates.cut, 'cut', 'cut-body'],
  ]
  let left = chanceOf(label)
  for (const [rate, one, other] of table) {
    if (left < rate) return chanceOf(`${label}/kind`) < 0.5 ? one : other
    left -= rate
  }
  if (rates.unusableEvery > 0 && caseIndex % rates.unusableEvery === 0) return 'malformed-verdict'
  return 'ok'
}

/** Answers without a verdict that may be believed; each hints at the opposite of the truth, to catch whoever guesses. */
export const unreadableAnswer = (truth: boolean, label: string): string => {
  const wrong = !truth
  const answers = [
    `{"explanation": "a verdict as text", "criteria_met": "${wrong}"}`,
    `{"explanation": "cut off before the verdict, which is ${wrong}`,
    `The criterion is ${wrong ? '' : 'not '}met, I would say.`,
    `{"explanation": "two verdicts", "criteria_met": ${wrong}} {"criteria_met": ${truth}}`,
    `{"explanation": "a number", "criteria_met": ${wrong ? 1 : 0}}`,
    '',
  ]
  return answers[Math.floor(chanceOf(label) * answers.length)]
}
