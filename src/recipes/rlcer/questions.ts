/** @file The questions of a run, whatever they are: those to train on, those to test on, and how their criteria are decided. */

import type { TokenAutomaton } from '../../model/automaton.ts'
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
  /** What a person should know before the training. */
  notes: readonly string[]
  close(): Promise<void>
}
