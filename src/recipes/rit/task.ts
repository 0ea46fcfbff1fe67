/** @file A task as rit trains on it: with who judges its thinking. */

import type { GroupScores } from '../../grade/group/index.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { ThinkingTask } from '../../tasks/scored-response.ts'
import type { Thinking, ThinkingVerifier } from '../../tasks/thinking.ts'

/** A task with its judges. */
export interface RitTask<Problem> extends Pick<Thinking<Problem>, 'stepVerdicts'> {
  task: ThinkingTask<Problem>
  /** Judges thinking by a rubric. */
  verifier: ThinkingVerifier<Problem>
  /** The same judge as far as evaluation is concerned: exact where there is one. */
  truth: ThinkingVerifier<Problem>
  /** Scores of all thinking about a problem, relative to each other; absent where no language model judges groups. */
  groupThinking?(problem: Problem, thinking: readonly string[], rubric: Rubric): Promise<GroupScores>
  /** What judging took since it was last asked. */
  metrics?(): MetricGroup
  close(): Promise<void>
}
