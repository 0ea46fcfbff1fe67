/** @file What every grader is: criteria and a response in, one verdict a criterion out. */

import type { ChatMessage } from '../chat/chat-model.ts'
import type { Criterion, Verdict } from '../rubric/criterion.ts'
import type { RuleAllowance } from './rules/allowance.ts'

/** A response with what is known about it. */
export interface GradeItem {
  id?: string
  /** The conversation that the response answers; a lone question is one user message. */
  prompt: readonly ChatMessage[]
  response: string
  /** Reference answer, where there is one. */
  reference?: string
  metadata?: Readonly<Record<string, unknown>>
  /** Mean log-prob of the response's tokens under the model that a training started from, nats a token, at temperature 1. */
  startLogprob?: number
}

export interface GradeOptions {
  signal?: AbortSignal
  /** Which repeat of the same judgement this is; verdicts of different repeats are never shared. Default 0. */
  sampleIndex?: number
  /** What rules may take, shared with other gradings; default: each response has its own budget and no more is asked. */
  allowance?: RuleAllowance
}

/**
 * Gives a verdict for each criterion, in the order of the criteria. A bad response is data: it never throws for one, and a
 * grader that fails gives `met: null` with the reason in `explanation` and the raw text kept. It throws for
 * criteria that it cannot grade at all (a configuration error) and for an aborted signal.
 */
export interface Grader {
  grade(item: GradeItem, criteria: readonly Criterion[], options?: GradeOptions): Promise<Verdict[]>
  close?(): Promise<void>
}
