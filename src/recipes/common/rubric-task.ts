/** @file Tasks with a rubric a problem, for any recipe: graded as training grades and for the truth; rubrics can be shown. */

import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { ScoreTask } from '../../tasks/scored-response.ts'
import type { GroupScorer } from './group-reward.ts'
import type { SecondOpinion } from './second-opinion.ts'
import type { StartLikelihood } from './start-likelihood.ts'
import { type WrittenCriterion, wordsById } from './verdict-rows.ts'

/** A task with rubrics that can be shown. */
export interface ScaffoldTask<Problem> extends ScoreTask<Problem> {
  rubric(problem: Problem): Rubric
  /** The prompt with these criteria shown; the plain prompt when there are none. */
  scaffolded(problem: Problem, shown: readonly Criterion[]): TokenIds
  show(tokens: ArrayLike<number>): string
  /** The text that a memory finds a problem again by; its name where absent. */
  question?(problem: Problem): string
  /** Ids of criteria that the run's own rubric tells in words; a kept rollout has the words of all others. */
  readonly told?: ReadonlySet<string>
  /** Whether a prompt can show a criterion that is not of the problem's own rubric; absent: any. */
  shows?(criterion: Criterion): boolean
  /** Whether a response speaks of the scaffold instead of following it; absent where it cannot. */
  leaks?(tokens: Int32Array): boolean
}

/** What a problem's criteria say and weigh, but for those that the run's own rubric tells. */
export const untoldWords = <Problem>(
  task: ScaffoldTask<Problem>,
  problem: Problem,
): ReadonlyMap<string, WrittenCriterion> =>
  new Map(wordsById(task.rubric(problem).criteria.filter(({ id }) => !task.told?.has(id))))

/** A task with its problems. */
export interface RubricTask<Problem> {
  train: readonly Problem[]
  /** Never trained on. */
  test: readonly Problem[]
  testName: string
  /** More problems that are never trained on, evaluated at the start and the end, each set by its name. */
  otherTests?: readonly { name: string; problems: readonly Problem[] }[]
  /** Label of the shuffling of training problems. */
  orderLabel: string
  /** As training grades: rubrics and verdicts spoilt where an experiment asks for it. */
  reward: ScaffoldTask<Problem>
  /** As evaluation grades. */
  truth: ScaffoldTask<Problem>
  /** A second opinion, for the monitors; absent where it would be the first one, and where nobody asked for what costs. */
  heldOut?: SecondOpinion<Problem>
  /** Training's own judge, whose opinion of the test set evaluations tell beside the truth (`judge.train`). */
  trainingJudge?: Pick<ScoreTask<Problem>, 'name' | 'grade'>
  /** Scores a problem's rollouts together; it is what training pays then. */
  groups?: GroupScorer<Problem>
  /** A sample ends with one of these; the model's own where absent. */
  stopTokens?: readonly number[]
  /** Finished samples that go to the graders together. */
  gradeBatch?: number
  /** Scores by the starting model, to be told of the policy before it has learnt anything; absent where nobody asks. */
  start?: StartLikelihood
  /** What a person should know before the training: what was left out, for example. */
  notes: readonly string[]
  /** What grading took since it was last asked about. */
  figures?(): MetricGroup
  close(): Promise<void>
}
