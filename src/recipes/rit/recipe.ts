/**
 * @file RiT (rubrics in thinking): the thinking before an answer is judged by a rubric of its own, and its reward fused with the
 * answer's through a gate; GRPO.
 *
 *   Eq. 1        a response y = <r, o>: parted at the end of its thinking r; each part is judged alone
 *   Eq. 3        the rubric for thinking c_1 to c_K is there before the training (rubric.ts)
 *   Eq. 4        R_think = mean of the verdicts on r, criterion by criterion
 *   Eq. 5, 6     R_resp = mean of the verdicts on o; of answers that are right or wrong 1 or 0
 *   Eq. 7        R_fus = α R_think + (1 - α) R_resp
 *   Eq. 8        R_final = Gate(R_fus, R_resp); the paper's own gate is min(R_fus, R_resp)
 *   Eq. 9        A_i = (R_final,i - mean R_final) / (std R_final + ε)
 *   Eq. 10       one clipped step
 *
 * Departures from the paper, with their settings; docs/recipes/rit.md has the rest:
 * - Not in the paper: ε of clipping .2, temperature 1, no KL. The loss is a mean over tokens, with a ratio a token, and bounded at 3 for
 *   poor responses (`loss`); Eq. 10 has a ratio and a mean a sequence.
 * - A criterion may be a flaw (points below zero): it is satisfied by its absence.
 * - Packing lists are paid the signed score of their rubric, not below 0, where Eq. 5 counts criteria alike; open questions are paid
 *   by Eq. 5, or by the benchmark's own score (`task.openReward`).
 * - The default rubric is whoever's made the task (`rubric.source: oracle`); the paper's is authored from good and poor traces, then
 *   refined. Rows are parted by a plain shuffle, where the paper has official and stratified splits.
 * - `rubricDropout` (arXiv 2608.11669), `scoringRule`, `criterionGroups`, `flipRate`, `fusion.adaptive`, `normalise: part`, `scaffold`,
 *   `memory` and `control` are ours or others'.
 */

import type { Policy } from '../../policy/policy.ts'
import { AdaptiveWeight } from '../../rl/adaptive-weight.ts'
import { datumsOf, type Graded, type Groups } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { joinedState } from '../../train/recipe-state.ts'
import { creditedBy, valueErrorOf, withCriticLoss } from '../common/critic.ts'
import { type ProblemStream, problemsIn } from '../common/problem-order.ts'
import { lambdasIn, scaffoldedPrompts } from '../common/scaffold.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import { assertJudged } from '../common/undecided.ts'
import { type Hints, rubricHints } from '../options/lesson-memory.ts'
import type { RitConfig } from './config.ts'
import { ritMetrics, ritRolloutRow } from './metrics.ts'
import { rewardedRollout, rewardPairs, ritAdvantages } from './rewards.ts'
import type { RitTask } from './tasks.ts'
import { attemptsOf, type RitGrade, saidOf, thoughtGrader, underControl } from './thinking.ts'

export interface RitParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  ritTask: RitTask<Problem>
  /** The thinking rubric of a problem. */
  rubricOf(problem: Problem): Rubric
  /** What the scaffold shows; absent: the rubrics of answers. */
  hints?: Hints<Problem>
  evaluate: Recipe<unknown>['evaluate']
}

export const rit = <Problem>(
  config: RitConfig,
  { policy, problem, ritTask, rubricOf, evaluate, hints = rubricHints(ritTask.task) }: RitParts<Problem>,
): Recipe<Groups<Graded<Problem, RitGrade>>> => {
  const { rollout, ratio, critic, fusion, reward, scaffold, seed } = config
  const { samples, temperature } = rollout
  const { task } = ritTask
  const grader = thoughtGrader(config, ritTask, rubricOf)
  const weight = fusion.adaptive && new AdaptiveWeight(fusion.alpha, fusion.adaptive)

  return {
    async rollOut(step, io) {
      const problems = problemsIn(step, problem, config)
      const shown = await hints.shown(step, problems)
      const groups = await io.rollOut({
        ...{ problems, samples, ratio, last: true },
        prompt: own => task.prompt(own),
        // Part of the answers' rubric, as RuscaRL shows it, or of lessons.
        sampledFrom:
          scaffold &&
          scaffoldedPrompts(lambdasIn(step, { ...config, scaffold }), shown, problems, {
            label: 'rit',
            seed,
            step,
          }),
        sampling: samplingOf(config, task.stopTokens),
        // Eq. 1, 4, 5 and 6.
        ...grader,
      })
      return underControl(config, step, groups)
    },

    async learn(step, judged) {
      const alpha = weight?.alpha ?? fusion.alpha
      // Eq. 7 and 8.
      const groups = judged.map(group => group.map(item => rewardedRollout(config, item, alpha)))
      assertJudged(groups.map(group => group.map(item => saidOf(config, item))))
      weight?.observe(rewardPairs(groups))
      // Eq. 9.
      const { advantages_P_G, zeroVarianceGroups } = ritAdvantages(config, groups, alpha)
      const credited = await creditedBy(critic, policy, groups, advantages_P_G, { temperature, ratio })
      // A critic learns from every rollout, also from those that say nothing to the policy.
      const dropZero = config.dropZero && critic === null
      const loss = withCriticLoss(config.loss, critic)
      const attempts = groups.map(group => attemptsOf(ritTask, rubricOf, group))
      return {
        // Eq. 10.
        phases: [phaseOf({ ...config, loss }, datumsOf(credited, { dropZero, ratio }))],
        metrics: {
          ...ritMetrics(config, task, rubricOf, groups),
          ...(await hints.learn(step, attempts)),
          alpha,
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
          ...(critic && { valueError: valueErrorOf(credited) }),
        },
        rollouts: learntFrom(credited, item => ritRolloutRow(task, step, item, rubricOf)),
        // What is fused must not rise at the cost of the answers: they are watched on their own.
        ...(reward !== 'response' && {
          heldOut: Promise.resolve({ scores: credited.flat().map(({ grade: { answer } }) => answer.score) }),
        }),
      }
    },

    evaluate,
    ...joinedState({ weight, memory: hints.state }),
  }
}
