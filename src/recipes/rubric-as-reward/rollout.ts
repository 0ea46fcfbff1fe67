/** @file Rollouts on the logic task, with what is said of them. */

import type { TokenText } from '../../model/chat-format.ts'
import type { Credited, Graded } from '../../rl/rollout.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { TrainingGrade } from './controls.ts'

/** A response's grade, and the one that training goes by, with the text they were read from. */
export interface LogicRolloutGrade extends TrainingGrade {
  response: TokenText
  /** What training's grade says of each criterion. */
  verdicts: readonly Verdict[]
}

export type LogicRollout = Graded<LogicTaskExample, LogicRolloutGrade>
export type CreditedLogicRollout = Credited<LogicTaskExample, LogicRolloutGrade>
