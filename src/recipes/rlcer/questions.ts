/** @file The questions of a run, whatever they are: those to train on, those to test on, and how their criteria are decided. */

import type { TokenAutomaton } from '../../model/automaton.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { RubricatorTask, ThinkingVerifier, ThoughtResponse } from '../../tasks/thinking.ts'
import type { ProblemStream } from '../common/problem-order.ts'

/** Responses to a question. */
export interface ResponseGroup<Problem> {
  problem: Problem
  responses: readonly ThoughtResponse[]
}

/** @returns the worth of a criterion, turned round for a penalty; null for what cannot be told */
export type WorthIn<Problem> = (
  groups: readonly ResponseGroup<Problem>[],
) => (criterion: Criterion) => number | null

export interface Questions<Problem> {
  task: RubricatorTask<Problem>
  train: ProblemStream<Problem>
  /** Never trained on. */
  test: readonly Problem[]
  /** Decides criteria by executing them; absent where nothing can. */
  exact?: ThinkingVerifier<Problem>
  /** Holds rubricators to the grammar, where the configuration asks for it. */
  rubricAutomaton?: TokenAutomaton
  /** What criteria are worth in a population of responses: how far meeting them goes with being right; absent where nobody can say. */
  worthIn?: WorthIn<Problem>
  /** What a person should know before the training. */
  notes: readonly string[]
  close(): Promise<void>
}
