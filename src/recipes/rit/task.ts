/** @file A task as rit trains on it: with who judges its thinking. */

import type { MetricGroup } from '../../runs/rows.ts'
import type { ThinkingTask } from '../../tasks/scored-response.ts'
import type { Thinking, ThinkingVerifier } from '../../tasks/thinking.ts'
import type { GroupScorer } from '../options/group-judge.ts'

/** A task with its judges. */
export interface RitTask<Problem> extends Pick<Thinking<Problem>, 'stepVerdicts'> {
  task: ThinkingTask<Problem>
  /** Judges thinking by a rubric. */
  verifier: ThinkingVerifier<Problem>
  /** The same judge as far as evaluation is concerned: exact where there is one. */
  truth: ThinkingVerifier<Problem>
  /** Scores all thinking about a problem together; absent where no language model judges groups. */
  groups?: GroupScorer<Problem>
  /** What judging took since it was last asked. */
  metrics?(): MetricGroup
  close(): Promise<void>
}
