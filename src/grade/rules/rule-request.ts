/** @file What passes between the rule grader and the worker that its rules run in. */

import type { GradeItem } from '../grader.ts'
import type { RuleOutcome } from './rule.ts'

export interface RuleRequest {
  /** Each rule as JSON, `{fn, params}`: equal texts are compiled once. */
  rules: string[]
  /** Null to look only whether the rules can be used. */
  item: GradeItem | null
  /** Milliseconds of core time after which no further rule is begun. */
  budgetMs: number
}

/** Outcomes in the order of the rules; or what speaks against some of them, with `PLACE` where the name belongs. */
export type RuleReply =
  | { outcomes: RuleOutcome[]; tookMs: number }
  | { unusable: { index: number; why: string }[] }
  | { notFinite: string }

/** Stands in an error for the place of a rule, which the worker does not know. */
export const PLACE = '\u0001'
