/** @file A logic problem as a task: the problem, its context as one text, and its question. */

import type { LogicProblem } from '../../grade/logic/problem.ts'

/** A logic problem with the two texts that a language model is shown. */
export interface LogicTaskExample extends LogicProblem {
  /** The premises as one running text. */
  context: string
  /** The question with the statement in it, e.g. `Is the following statement true or false? Stella is bright.` */
  question: string
}
