/**
 * @file Distillation by a teacher that sees the rubric: the model itself, shown the rubric, teaches the model that is not, token by token.
 *
 * For a prompt q with a rubric R, in every step:
 *
 *   1. o ~ π(· | q)                                        the student samples on the plain prompt
 *   2. A_t = log π_T(o_t | q, R, o_<t) - log π(o_t | q, o_<t)   the teacher reads these tokens behind the prompt that shows R
 *   3. a policy-gradient step with A_t less its mean       its expectation is minus the gradient of KL(π || π_T) at every token
 *
 * No response is graded while it is distilled. With `rewards` the steps after the first so many are GRPO by the rubric's points.
 *
 * Source: the setting is that of rubric-guided self-distillation (arXiv 2606.12507, abstract: the base policy, shown the rubric, teaches
 * the one that is not, one rollout a prompt and no verifier) and rubric-conditioned self-distillation (arXiv 2606.19327, abstract). The
 * estimate is that of thinking-machines-lab/tinker-cookbook at 0333e7c, `distillation/train_on_policy.py`: the advantage of a sampled
 * token is its log-prob under the teacher less that under the student, without a discount.
 *
 * Departures, with their settings:
 * - The KL of sampled tokens, as there, not over the vocabulary: it needs log-probs of given tokens alone, which every policy has.
 * - Less the mean over the step's tokens (`baseline: batch`), as that project's KL penalty has it (1f65611, `rl/metrics.py`); `none`: as there.
 * - Ratios are clipped and the loss is a mean over tokens (`loss`); the source has plain ratios and a sum.
 * - The teacher is the model that the run starts from (`teacher: start`), or the policy as it is (`teacher: policy`).
 */

import { datumsOf } from '../../rl/rollout.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import { learntFrom, type Recipe, type StepUpdate } from '../../train/recipe.ts'
import { rolloutRow } from '../../train/update-rows.ts'
import { mean } from '../../util/statistics.ts'
import { problemsIn } from '../common/problem-order.ts'
import { gradedBy } from '../common/rubric-task.ts'
import { grpoCredit, phaseOf, samplingOf } from '../common/training.ts'
import { assertJudged } from '../common/undecided.ts'
import { ruscarlMetrics, ruscarlRolloutRow } from '../ruscarl/metrics.ts'
import type { RuscarlParts, RuscarlRolled } from '../ruscarl/recipe.ts'
import type { DistillConfig } from './config.ts'
import { teacherCredit } from './credit.ts'

/** Of a response that nobody was asked about. */
const UNGRADED: ScoredResponse = { verdicts: [], wellFormed: true, score: null }
const ungraded = { grade: async (items: readonly unknown[]) => items.map(() => UNGRADED) }

export const distill = <Problem>(
  config: DistillConfig,
  { policy, problem, task, evaluate }: RuscarlParts<Problem>,
): Recipe<RuscarlRolled<Problem>> => {
  const { rewards, rollout } = config
  const isPaid = (step: number) => rewards !== null && step > rewards.after
  return {
    // Line 1.
    rollOut(step, io) {
      return io.rollOut({
        ...{ problems: problemsIn(step, problem, config), samples: rollout.samples, last: true },
        prompt: own => task.prompt(own),
        sampling: samplingOf(config, task.stopTokens),
        ...(isPaid(step) ? gradedBy(task) : ungraded),
      })
    },

    learn: (step, groups) =>
      isPaid(step)
        ? byRewards(config, task, step, groups)
        : byTeacher(config, { policy, task }, step, groups),

    evaluate,
    atEnd: silentTeacher,
  }
}

/** Lines 2 and 3. */
const byTeacher = async <Problem>(
  config: DistillConfig,
  { policy, task }: Pick<RuscarlParts<Problem>, 'policy' | 'task'>,
  step: number,
  groups: RuscarlRolled<Problem>,
): Promise<StepUpdate> => {
  const items = groups.flatMap(group => {
    const [{ problem }] = group
    const promptTokens = task.prompt(problem, task.rubric(problem).criteria)
    return group.map(({ rollout: { tokens, prompt } }) => ({ promptTokens, tokens, plain: prompt.length }))
  })
  const { teacher, baseline, rollout } = config
  const weights = teacher === 'start' ? 'reference' : 'current'
  const scores = await policy.score(items, { temperature: rollout.temperature, weights })
  const taught = scores.map(({ logprobs }) => logprobs)
  const { credited, gap } = teacherCredit(groups, taught, baseline)
  const read = items.reduce((sum, { promptTokens, tokens }) => sum + promptTokens.length + tokens.length, 0)
  return {
    phases: [phaseOf(config, datumsOf(credited, config))],
    metrics: {
      ...{ teacherKl: gap.kl, teacherChanges: gap.changes, teacherTokens: read },
      scaffoldTokens: mean(items.map(({ promptTokens, plain }) => promptTokens.length - plain)),
      ...(task.leaks && { leakRate: mean(items.map(({ tokens }) => Number(task.leaks!(tokens)))) }),
    },
    rollouts: learntFrom(credited, item => ({
      ...rolloutRow(step, item, tokens => task.show(tokens)),
      problemId: task.id(item.problem),
    })),
  }
}

/** GRPO by the points of the criteria that responses meet. */
const byRewards = async <Problem>(
  config: DistillConfig,
  task: ScoredTask<Problem>,
  step: number,
  groups: RuscarlRolled<Problem>,
): Promise<StepUpdate> => {
  assertJudged(groups.map(group => group.map(({ reward, grade }) => ({ ...grade, reward }))))
  const { credited, zeroVarianceGroups } = grpoCredit(groups, config)
  return {
    phases: [phaseOf(config, datumsOf(credited, config))],
    metrics: {
      ...ruscarlMetrics({}, task, groups),
      zeroVarianceGroups,
    },
    rollouts: learntFrom(credited, item => ruscarlRolloutRow(task, step, item)),
  }
}

/** So many first steps without a change are no chance. */
const FIRST_STEPS = 5
const FEW_CHANGES = 0.01

/** What to say of a teacher that the rubric tells nothing. */
export const silentTeacher = (metrics: readonly MetricsRow[]): string[] => {
  const shares = metrics.flatMap(({ teacherChanges }) =>
    typeof teacherChanges === 'number' ? [teacherChanges] : [],
  )
  if (shares.length < FIRST_STEPS || mean(shares.slice(0, FIRST_STEPS)) >= FEW_CHANGES) return []
  return [
    'the rubric in its prompt changed hardly any token for the teacher: there was nothing to learn; begin with a model that follows a rubric it is shown (the evaluation "full scaffold" before the first step tells)',
  ]
}
