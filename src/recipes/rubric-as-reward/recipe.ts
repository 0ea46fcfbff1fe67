/**
 * @file Rubric as Reward (ICLR 2026 workshop): five weighted criteria from formally checked to soft, as the reward of GRPO.
 *
 * 1. The policy answers each problem G times, step by step (spec 6.1).
 * 2. Every response is judged by five criteria on their own: answer, validity of each step by Z3, format, premises used,
 *    completeness (spec 6.2).
 * 3. The reward is three times their weighted sum; a condition says which of them count (spec 6.4).
 * 4. Advantages are relative to the group (Eq. 1), and the policy takes a clipped step with a KL term.
 *
 * Departures from the paper, each a setting:
 * - Step grammar, C4/C5 heuristics and the value of the KL coefficient are not in the paper; ours are in spec form in
 *   docs/recipes/rubric-as-reward.md.
 * - Evaluation judges C4 and C5 by proof (support sets, entailment) instead of asking a language model.
 * - Conditions `rubric_norm`, `flat_equal`, `flat_same` and `proof`, per-step credit, and rejection sampling are ours.
 * - `rubricDropout`: criteria are left out of the reward at random (arXiv 2608.11669).
 * - Lengths of problems may follow a schedule that moves on by itself.
 * - Small models read word-level tokens instead of a chat template.
 */

import { datumsOf } from '../../rl/rollout.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { TrainedLogicTask } from '../../tasks/logic/task.ts'
import { scoredReward } from '../../tasks/scored-response.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { problemsIn } from '../common/problem-order.ts'
import { withDropout } from '../common/rubric-dropout.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import type { RubricAsRewardConfig } from './config.ts'
import { credit, type LogicRollout, learntLoss } from './credit.ts'
import { assertSolverWorks, logicFigures, outcomesOf, provedOf } from './figures.ts'
import { isSchedule, Lengths } from './lengths.ts'
import { rewarded, rewardedRubric, rolloutAdvantages, weightsWithout } from './rewards.ts'
import { rolloutRow } from './rows.ts'
import { sourceMetrics } from './source-metrics.ts'
import { sourceName } from './sources-config.ts'

export interface RecipeParts {
  /** As training sees it. */
  task: TrainedLogicTask
  evaluate: Recipe<unknown>['evaluate']
}

export const rubricAsReward = (
  config: RubricAsRewardConfig,
  { task, evaluate }: RecipeParts,
): Recipe<LogicRollout[][]> => {
  const { condition, rollout, advantage, dropZero } = config
  const { hops, sources } = config.task
  const rubric = rewardedRubric(config)
  const paid = withDropout(config, rewarded(task, condition, rubric))
  const lengths = isSchedule(hops) ? new Lengths(hops, config.seed) : null

  const problemsOf = (step: number): LogicTaskExample[] =>
    lengths === null
      ? problemsIn(step, task.stream, config)
      : lengths.draw(step, rollout.prompts, (i, count) =>
          task.stream((step - 1) * rollout.prompts + i, count),
        )

  return {
    rollOut: (step, io) =>
      io.rollOut({
        problems: problemsOf(step),
        prompt: task.prompt,
        samples: rollout.samples,
        sampling: samplingOf(config, task.stopTokens),
        grade: items =>
          paid.grade(items.map(({ rollout: { tokens, key }, ...item }) => ({ ...item, tokens, key }))),
        reward: own => scoredReward(own),
        last: true,
      }),

    async learn(step, groups) {
      assertSolverWorks(groups)
      const weights = (p: number) => weightsWithout(rubric, groups[p][0].grade.leftOut?.ids)
      const { advantages_P_G, zeroVarianceGroups } = rolloutAdvantages(groups, condition, weights, advantage)
      const credited = credit(config, groups, advantages_P_G)
      return {
        phases: [phaseOf({ ...config, loss: learntLoss(config) }, datumsOf(credited, { dropZero }))],
        metrics: {
          ...logicFigures(groups, rubric),
          ...(sources && sourceMetrics(groups, sources.map(sourceName))),
          ...lengths?.learn(step, outcomesOf(groups, hops)),
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
        },
        rollouts: learntFrom(credited, item => rolloutRow(task, step, item)),
        // Whole proofs that hold are what every condition hopes for; `proof` pays for them, unless a control pays for something else.
        ...((condition !== 'proof' || config.control !== undefined) && { heldOut: provedOf(groups) }),
      }
    },

    evaluate,
    ...(lengths?.state && { state: lengths.state }),
  }
}
