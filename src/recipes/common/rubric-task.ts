/** @file A task with a rubric a problem as a run trains on it: graded as training grades, and for the truth. */

import type { MetricGroup } from '../../runs/rows.ts'
import { type ScoredResponse, type ScoredTask, scoredReward } from '../../tasks/scored-response.ts'
import type { Verdicts } from '../../tasks/task.ts'
import type { RollOutRequest } from '../../train/rollout.ts'
import type { HeldOutJudge } from '../options/held-out-judge.ts'
import type { StartLikelihood } from './start-likelihood.ts'
import { criteriaById, type WrittenCriterion } from './verdict-rows.ts'

/** What a problem's criteria say and weigh, but for those that the run's own rubric tells. */
export const unloggedCriteria = <Problem>(
  task: Pick<ScoredTask<Problem>, 'rubric' | 'logged'>,
  problem: Problem,
): ReadonlyMap<string, WrittenCriterion> =>
  new Map(criteriaById(task.rubric(problem).criteria.filter(({ id }) => !task.logged?.has(id))))

/** How rollouts on a task are graded and paid: by the points of the criteria that they meet, unless the task says otherwise. */
export const gradedBy = <Problem, Said extends Verdicts = Verdicts>(
  task: ScoredTask<Problem, Said>,
): Pick<
  RollOutRequest<Problem, Said & ScoredResponse>,
  'grade' | 'gradeBatch' | 'gradeGroup' | 'reward'
> => ({
  grade: items =>
    task.grade(items.map(({ problem, rollout: { tokens, key }, step }) => ({ problem, tokens, key, step }))),
  gradeBatch: task.gradeBatch,
  gradeGroup: task.gradeGroup,
  reward: scoredReward,
})

/** A task with its graders. */
export interface RubricTask<Problem> {
  /** As training grades: rubrics and verdicts spoilt where an experiment asks for it. */
  reward: ScoredTask<Problem>
  /** As evaluation grades. */
  truth: ScoredTask<Problem>
  /** A held-out judge, for the monitors; absent where it would be the one of training, and where nobody asked for what costs. */
  heldOut?: HeldOutJudge<Problem>
  /** Training's own judge, whose opinion of the test set evaluations tell beside the truth (`judge.train`). */
  trainingJudge?: ScoredTask<Problem>
  /** Scores by the starting model, to be told of the policy before it has learnt anything; absent where nobody asks. */
  start?: StartLikelihood
  /** What grading took since it was last asked about. */
  metrics?(): MetricGroup
  close(): Promise<void>
}
