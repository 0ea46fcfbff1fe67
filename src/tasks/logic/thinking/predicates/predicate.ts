/** @file Predicates over logic: what they are decided on, and what their places hold. */

import type { LogicLabel } from '../../../../grade/logic/problem.ts'
import type { Predicate } from '../../../thinking-grammar/predicate.ts'
import type { LogicTaskExample } from '../../example.ts'
import type { LogicStep, LogicThinking, StepStatement } from '../steps.ts'

/** A step that says something. */
export type StatedStep = LogicStep & { statement: StepStatement }

/** What predicates are decided on. */
export interface LogicEvidence {
  problem: LogicTaskExample
  thinking: LogicThinking
  /** Steps that can be read. */
  read: readonly StatedStep[]
  /** What is asked; null for a problem outside the fragment. */
  query: StepStatement | null
  /** Its words in order, `stella`, `wumpus`, ...; plurals as singulars. */
  words: ReadonlySet<string>
  /** What the response answered; null where it did not, and where the answer is masked. */
  answer: LogicLabel | null
}

/** What a place in a sentence may hold: numbers, individuals, kinds. */
export type LogicSlot = 'count' | 'place' | 'name' | 'kind'

export type LogicPredicate = Predicate<LogicEvidence>
