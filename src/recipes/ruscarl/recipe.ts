/**
 * @file RuscaRL (arXiv 2508.16949): rubrics as scaffolding in the prompt while exploring, and as rewards; GRPO.
 *
 * Algorithm 1, for a prompt q with a rubric R, samples i = 1..G, and t from 0 at the first step to 1 at the last:
 *
 *   line 5 (Eq. 3)         λ_i = λ_group(i) λ_step(t): (G - i) / (G - 1) by 1 / (1 + exp(α (t - t0)))
 *   line 7                 R_S,i = round(λ_i |R|) criteria of R, drawn at random; halves go to the even count
 *   line 8                 o_i ~ π_old(· | q, R_S,i)
 *   lines 10 to 13 (Eq. 4) S_i = Σ p b_i / Σ_{p > 0} p, with b_i the verdict on a criterion of p points (`signedScore`)
 *   line 15 (Eq. 2)        Â_i = (S_i - mean S) / (std S + ε)
 *   line 16 (Eq. 1)        a clipped step with a KL term; ratios are π(o_i | q) / π_old(o_i | q), without the scaffold (C.5)
 *
 * Departures from the paper, with their settings:
 * - The printed loss is a mean over sequences; ours, like its code, over tokens, with ratios of poor responses bounded at 3 (`loss`).
 * - std is the population's and ε 1e-6 (`advantage`); the paper's code has the sample's.
 * - Rollouts with advantage 0 leave the batch (`dropZero`); conversations without room for their rubric leave the data.
 * - The scaffold says points, in our words (`scaffold.showPoints`). An evaluation is judged by training's judge, where the paper
 *   asks another (`judge.heldOut.evaluations`).
 * - Ours or others': `memory` (lessons as scaffold), `rubricDropout`, `groupJudge`, `criterionGroups`, `scoringRule`, `normalise`,
 *   `reward: random`, `flipRate`;
 *   `exploration`, `ratio` and `noise` are the paper's baselines (Table 13), alternatives (C.5) and spoilt rubrics (Table 14), but for
 *   `noise: shuffled`. docs/recipes/ruscarl.md has the rest.
 */

import type { Policy } from '../../policy/policy.ts'
import { datumsOf, type Graded, type Groups } from '../../rl/rollout.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import type { StepIo } from '../../train/rollout.ts'
import { idleCriteria } from '../common/criterion-metrics.ts'
import { type ProblemStream, problemsIn, withSpread } from '../common/problem-order.ts'
import { gradedBy } from '../common/rubric-task.ts'
import { lambdaGroup, lambdaStep, type Shown, scaffoldedPrompts } from '../common/scaffold.ts'
import { entropyCredit, grpoCredit, phaseOf, samplingOf } from '../common/training.ts'
import { assertJudged } from '../common/undecided.ts'
import { attemptsAt, type Hints, rubricHints } from '../options/lesson-memory.ts'
import type { RuscarlConfig } from './config.ts'
import { pointsIn, ruscarlMetrics, ruscarlRolloutRow } from './metrics.ts'

export interface RuscarlParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  /** The task as training grades it. */
  task: ScoredTask<Problem>
  evaluate: Recipe<unknown>['evaluate']
  /** What the scaffold shows; absent: the task's rubrics. */
  hints?: Hints<Problem>
}

/** A step's rollouts. */
export type RuscarlRolled<Problem> = Groups<Graded<Problem, ScoredResponse>>

/** Lines 5 to 13: responses to problems, each to a prompt with its own part of the rubric, and what they are worth. */
const explore = <Problem>(
  config: RuscarlConfig,
  task: ScoredTask<Problem>,
  io: StepIo,
  step: number,
  { problems, shown, round = 0 }: { problems: readonly Problem[]; shown: Shown<Problem>; round?: number },
): Promise<RuscarlRolled<Problem>> => {
  const { rollout, scaffold, ratio, seed, steps } = config
  const { samples } = rollout
  // Line 5.
  const lambda = lambdaStep(scaffold.decay, step, steps)
  const lambdas_G = lambdaGroup(scaffold.group, samples).map(own => own * lambda)
  // Lines 6 and 7.
  const sampledFrom = scaffoldedPrompts(lambdas_G, shown, problems, { label: 'ruscarl', seed, step, round })
  return io.rollOut({
    // Line 8.
    ...{ problems, prompt: own => task.prompt(own), sampledFrom, ratio, samples, round },
    sampling: samplingOf(config, task.stopTokens),
    // Lines 10 to 13, while other responses are still being sampled.
    ...gradedBy(task),
    last: round === 0,
  })
}

export const ruscarl = <Problem>(
  config: RuscarlConfig,
  { policy, problem, task, evaluate, hints = rubricHints(task) }: RuscarlParts<Problem>,
): Recipe<RuscarlRolled<Problem>> => {
  const { ratio, rollout, exploration, dropZero } = config
  return {
    async rollOut(step, io) {
      const problems = problemsIn(step, problem, config)
      const shown = await hints.shown(step, problems)
      const first = await explore(config, task, io, step, { problems, shown })
      const { rounds = 0 } = exploration.dynamicSampling ?? {}
      const names = `ruscarl further problems/${config.seed}/${step}`
      return withSpread(first, { rounds, names }, problem, (further, round) =>
        explore(config, task, io, step, { problems: further, shown, round }),
      )
    },

    async learn(step, groups) {
      assertJudged(groups.map(group => group.map(({ reward, grade }) => ({ ...grade, reward }))))
      // Line 15.
      const points = (p: number) => pointsIn(task, groups[p])
      const { credited: byRewards, zeroVarianceGroups } = grpoCredit(groups, config, points)
      const { temperature } = rollout
      const { entropyBonus: bonus } = exploration
      const credited = bonus
        ? await entropyCredit(policy, byRewards, bonus, { ratio, temperature })
        : byRewards
      const attempts = groups.map(own => attemptsAt(task, own))
      return {
        // Line 16.
        phases: [phaseOf(config, datumsOf(credited, { dropZero, ratio }))],
        metrics: {
          ...ruscarlMetrics(config, task, groups),
          ...(await hints.learn(step, attempts)),
          zeroVarianceGroups,
        },
        rollouts: learntFrom(credited, item => ruscarlRolloutRow(task, step, item)),
      }
    },

    evaluate,
    atEnd: idleCriteria,
    ...(hints.state && { state: hints.state }),
  }
}
