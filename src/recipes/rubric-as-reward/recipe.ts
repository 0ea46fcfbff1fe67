/**
 * @file Rubric as Reward (ICLR 2026 workshop): five weighted criteria from formally checked to soft, as the reward of GRPO.
 *
 *   section 2.1  response i of K answers a problem step by step
 *   section 2.2  s_i,1 to s_i,5 = C1 answer, C2 validity of each step by Z3, C3 format, C4 premises used, C5 completeness
 *                (`gradeLogicBatch` in grade/logic/criteria.ts); R_i = 3 Σ_k w_k s_i,k
 *   section 2.4  a condition says which criteria count, and their weights (`conditionWeights` in rewards.ts)
 *   Eq. 1        Â_i = (R_i - mean R) / (std R + ε); then a clipped step with a KL term
 *
 * Departures from the paper, with their settings; docs/recipes/rubric-as-reward.md has the rest:
 * - Not in the paper, so ours: the grammar of steps and the proxies of C4, on the reasoning alone, and C5 (`grader.proxies`); weights
 *   of conditions 2 and 3 (`weights`); the KL coefficient and a mean over sequences (`loss`); ε 1e-6, std of the population
 *   (`advantage`); that groups with equal rewards leave the batch (`dropZero`).
 * - Evaluation decides C4 and C5 by proof (support sets, entailment), where the paper asks a language model. No setting.
 * - Conditions `rubric_norm` (criteria normalised one by one), `flat_equal`, `flat_same` and `proof`, credit by step, rejection
 *   sampling, `rubricDropout` (arXiv 2608.11669), `scoringRule`, `criterionGroups`, `flipRate`, lengths that follow success (`task.hops`) and word-level tokens are ours. Weights
 *   are float32, the paper's bf16.
 */

import { datumsOf } from '../../rl/rollout.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { TrainedLogicTask } from '../../tasks/logic/task.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { problemsIn } from '../common/problem-order.ts'
import { gradedBy } from '../common/rubric-task.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import { normalisedAdvantages } from '../options/normalise.ts'
import { isSpoilt } from '../options/options.ts'
import { type RubricAsRewardConfig, sourceName } from './config.ts'
import { credit, type LogicRollout, learntLoss } from './credit.ts'
import { isSchedule, Lengths } from './lengths.ts'
import {
  assertSolverWorks,
  logicMetrics,
  outcomesOf,
  provedOf,
  rubricAsRewardRolloutRow,
  sourceMetrics,
} from './metrics.ts'
import { rewardedTask, weighedRubric, weightsWithout } from './rewards.ts'

export interface RecipeParts {
  /** As training sees it. */
  task: TrainedLogicTask
  evaluate: Recipe<unknown>['evaluate']
}

export const rubricAsReward = (
  config: RubricAsRewardConfig,
  { task, evaluate }: RecipeParts,
): Recipe<LogicRollout[][]> => {
  const { condition, rollout, dropZero } = config
  const { hops, sources } = config.task
  const rubric = weighedRubric(config)
  const paid = rewardedTask(task, config, rubric)
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
        // R = 3 Σ w s, over what counts under the condition.
        ...gradedBy(paid),
        last: true,
      }),

    async learn(step, groups) {
      assertSolverWorks(groups)
      const weights = (p: number) => weightsWithout(rubric, groups[p][0].grade.leftOut?.ids)
      // Eq. 1; criteria one by one under `rubric_norm`.
      const { advantages_P_G, zeroVarianceGroups } = normalisedAdvantages(config, groups, { weights })
      const credited = credit(config, groups, advantages_P_G)
      return {
        phases: [phaseOf({ ...config, loss: learntLoss(config) }, datumsOf(credited, { dropZero }))],
        metrics: {
          ...logicMetrics(groups, rubric),
          ...(sources && sourceMetrics(groups, sources.map(sourceName))),
          ...lengths?.learn(step, outcomesOf(groups, hops)),
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
        },
        rollouts: learntFrom(credited, item => rubricAsRewardRolloutRow(task, step, item)),
        // Whole proofs that hold are what every condition hopes for; `proof` pays for them, unless a control pays for something else.
        ...((condition !== 'proof' || isSpoilt(config)) && { heldOut: provedOf(groups) }),
      }
    },

    evaluate,
    ...(lengths?.state && { state: lengths.state }),
  }
}
