/** @file The questions of a run, whatever they are: those to train on, those to test on, and how their criteria are decided. */

import type { TokenAutomaton } from '../../model/automaton.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { RubricatorTask, ThinkingVerifier } from '../../tasks/thinking.ts'
import type { ProblemStream } from '../common/problem-order.ts'

export interface Questions<Problem> {
  task: RubricatorTask<Problem>
  train: ProblemStream<Problem>
  /** Never trained on. */
  test: readonly Problem[]
  /** Decides criteria by executing them; absent where nothing can. */
  exact?: ThinkingVerifier<Problem>
  /** Holds rubricators to the grammar, where the configuration asks for it. */
  rubricAutomaton?: TokenAutomaton
  /** Tokens of the shortest rubric that the format asks for, its end included; absent where any text may be one. */
  rubricTokens?: number
  /**
   * How far meeting a criterion goes with being right in a population that training does not change, turned round for a
   * penalty; null for what nobody can tell, absent where nobody can tell of any.
   */
  worth?(criterion: Criterion): number | null
  /** What a person should know before the training. */
  notes: readonly string[]
  close(): Promise<void>
}
