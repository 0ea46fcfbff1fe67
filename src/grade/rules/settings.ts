/** @file Settings of the rule grader: what one response may cost. */

import { z } from 'zod'

export const ruleSettingsSchema = z.strictObject({
  budgetMs: z
    .int()
    .min(10)
    .max(600_000)
    .default(2_000)
    .describe(
      'Time that all rules of a rubric may take on one response. After it no further rule starts, and after 1.5 times as long a running rule is stopped. Criteria without an answer get null with the reason.',
    ),
  maxResponseChars: z
    .int()
    .min(1)
    .default(1_000_000)
    .describe(
      'Most characters (UTF-16 units) of a response. A longer one is not checked: every criterion gets null with the reason.',
    ),
  threads: z
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe('Most worker threads. The second starts when responses wait behind a slow one.'),
  heapMb: z.int().min(64).max(16_384).default(512).describe('JavaScript heap of a worker.'),
})
export type RuleSettings = z.output<typeof ruleSettingsSchema>

export const DEFAULT_RULE_SET: RuleSettings = ruleSettingsSchema.parse({})

/**
 * Why a response is too long to be checked; null for one that is not.
 * @param maxChars UTF-16 units
 */
export const lengthFault = (response: string, maxChars = DEFAULT_RULE_SET.maxResponseChars): string | null =>
  response.length <= maxChars
    ? null
    : `the response has ${response.length} characters, more than the ${maxChars} that are checked (maxResponseChars)`
