/** @file What a task brings to rit: thinking and answers apart, who judges each, and what is known of good thinking. */

import type { GroupScores } from '../../grade/group/index.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { ThinkingTask, ThinkingVerifier, ThoughtItem } from '../../tasks/thinking.ts'

/** A task with its problems and judges. */
export interface RitTask<Problem> {
  task: ThinkingTask<Problem>
  train: readonly Problem[]
  /** Never trained on. */
  test: readonly Problem[]
  testName: string
  /** Label of the shuffling of training problems. */
  orderLabel: string
  /** Answers are right or wrong, and nothing between. */
  binary: boolean
  /** Judges thinking by a rubric. */
  verifier: ThinkingVerifier<Problem>
  /** By what answers are judged; the criteria are those of the verdicts of `gradeAnswers`, and can be shown in a prompt where it takes hints. */
  answerRubric(problem: Problem): Rubric
  /** What judges that training never hears look at, where that is more than training's does. */
  heldOutRubric?(problem: Problem): Rubric
  /** Refuses criteria that `verifier` cannot execute; absent where a language model judges. @throws DataError */
  assertExecutes?(criterion: Criterion): void
  /** What good thinking is, by whoever made the task; absent where nobody knows. */
  oracle?: Rubric
  /** The same judge as far as evaluation is concerned: exact where there is one. */
  truth: ThinkingVerifier<Problem>
  /** Criteria that a rubric for thinking may be made of; empty where nobody has listed any. */
  bank: readonly Criterion[]
  /** Whether each step of thinking is right, null where nobody knows; absent where thinking has no steps. */
  stepVerdicts?(items: readonly ThoughtItem<Problem>[]): Promise<(boolean | null)[][]>
  /** Scores of all thinking about a problem, relative to each other; absent where no language model judges groups. */
  groupThinking?(problem: Problem, thinking: readonly string[], rubric: Rubric): Promise<GroupScores>
  /** Whether verdicts on answers are exact, so that scripted judges can be made of them; a language model's are not. */
  scriptedJudges: boolean
  /** Which criteria its prompts can show as hints: lessons are made of these. Default `answers`. */
  hinted?: 'answers' | 'thinking' | 'both'
  /** Whether a prompt can show a hint that is not of the problem's own rubric; absent: any. */
  shows?(criterion: Criterion): boolean
  /** Tokens as a person reads them. */
  show(tokens: ArrayLike<number>): string
  /** Finished samples that go to the graders together. */
  gradeBatch?: number
  notes: readonly string[]
  /** What judging took since it was last asked. */
  figures?(): MetricGroup
  close(): Promise<void>
}
