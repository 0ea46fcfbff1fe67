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
 * - `rubricDropout`: criteria are left out of the reward by chance (arXiv 2608.11669).
 * - Lengths of problems may follow a schedule that moves on by itself.
 * - Small models read word-level tokens instead of a chat template.
 */

import { logicVerdicts } from '../../grade/logic/rubric.ts'
import { SolverError } from '../../grade/logic/solver-process.ts'
import { creditRollouts, datumsOf, type Groups } from '../../rl/rollout.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { GradeItem } from '../../train/grading.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { placesLeftOut } from '../common/rubric-dropout.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import type { LogicFormat } from '../logic/format.ts'
import type { RubricAsRewardConfig } from './config.ts'
import type { TrainingGrader } from './controls.ts'
import { creditAccepted, creditSteps } from './credit.ts'
import { droppedFigures, logicFigures, provedOf } from './figures.ts'
import { type Hops, isSchedule, Lengths, type Outcome } from './lengths.ts'
import {
  conditionWeights,
  rewardOf,
  rolloutAdvantages,
  type Weights,
  weighedCriteria,
  weightsWithout,
} from './rewards.ts'
import type { LogicRollout, LogicRolloutGrade } from './rollout.ts'
import { rolloutRow } from './rows.ts'
import { sourceMetrics } from './source-metrics.ts'
import { sourceName } from './sources-config.ts'

/** What the recipe works with, made once per run. */
export interface RecipeParts extends TrainingGrader {
  format: LogicFormat
  evaluate: Recipe<unknown>['evaluate']
}

export const rubricAsReward = (
  config: RubricAsRewardConfig,
  { problems, format, grade, evaluate }: RecipeParts,
): Recipe<LogicRollout[][]> => {
  const { condition, rollout, advantage, dropZero } = config
  const weights = config.weights ?? conditionWeights(condition)
  const { hops, sources } = config.task
  const lengths = isSchedule(hops) ? new Lengths(hops, config.seed) : null

  const left = placesLeftOut(config)
  const weighed = weighedCriteria(weights)
  const placesOf = (step: number, { id }: LogicTaskExample) => left(weighed, step, id)
  const idsOf = (step: number, problem: LogicTaskExample) =>
    new Set<string>([...placesOf(step, problem)].map(i => weighed[i].id))
  const weightsIn = (step: number, problem: LogicTaskExample): Weights =>
    weightsWithout(weights, placesOf(step, problem))

  const problemsOf = (step: number): LogicTaskExample[] => {
    const first = (step - 1) * rollout.prompts
    return lengths === null
      ? Array.from({ length: rollout.prompts }, (_, i) => problems(first + i))
      : lengths.draw(step, rollout.prompts, (i, count) => problems(first + i, count))
  }

  const gradeResponses = async (items: readonly GradeItem<LogicTaskExample>[]) => {
    const responses = items.map(({ rollout: { tokens } }) => format.read(tokens))
    const grades = await grade(items.map(({ problem }, i) => ({ problem, response: responses[i].text })))
    return grades.map(
      (result, i): LogicRolloutGrade => ({
        ...{ ...result, response: responses[i], verdicts: logicVerdicts(result.rewarded) },
      }),
    )
  }

  const creditOf = (groups: Groups<LogicRollout>, advantages_P_G: readonly (readonly number[])[]) => {
    if (config.method === 'rejection') return creditAccepted(groups, config)
    if (config.credit === 'per-step') return creditSteps(groups, advantages_P_G, config)
    return creditRollouts(groups, advantages_P_G)
  }

  return {
    rollOut: (step, io) =>
      io.rollOut({
        problems: problemsOf(step),
        prompt: format.prompt,
        samples: rollout.samples,
        sampling: samplingOf(config, format.stopTokens),
        grade: gradeResponses,
        reward: (own, problem) => rewardOf(own, condition, weightsIn(step, problem)),
        last: true,
      }),

    async learn(step, groups) {
      assertSolverWorks(groups)
      const weightsOf = (p: number) => weightsIn(step, groups[p][0].problem)
      const { advantages_P_G, zeroVarianceGroups } = rolloutAdvantages(
        groups,
        condition,
        config.rubricDropout === undefined ? weights : weightsOf,
        advantage,
      )
      const dropped = droppedFigures(config, groups, weights, own => placesOf(step, own))
      const credited = creditOf(groups, advantages_P_G)
      return {
        phases: [phaseOf({ ...config, loss: lossOf(config) }, datumsOf(credited, { dropZero }))],
        metrics: {
          ...logicFigures(groups, weights, own => weightsIn(step, own)),
          ...dropped,
          ...(sources && sourceMetrics(groups, sources.map(sourceName))),
          ...lengths?.learn(step, outcomesOf(groups, hops)),
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
        },
        rollouts: learntFrom(credited, item => rolloutRow(step, item, format, idsOf(step, item.problem))),
        // Whole proofs that hold are what every condition hopes for; `proof` pays for them, unless a control pays for something else.
        ...((condition !== 'proof' || config.control !== undefined) && { heldOut: provedOf(groups) }),
      }
    },

    evaluate,
    ...(lengths?.state && { state: lengths.state }),
  }
}

/** Whether each rollout's proof holds, and whether it counts for a longer length, whatever training is told. */
const outcomesOf = (groups: Groups<LogicRollout>, hops: Hops): Outcome[] => {
  const byAnswer = isSchedule(hops) && hops.kind === 'growing' && hops.by === 'answered'
  return groups.flat().map(({ problem, grade: { grade } }) => {
    const proved = grade.excluded === null ? grade.correctAndProved : null
    return { problem, proved, ...(byAnswer && proved !== null && { passed: grade.answerCorrect }) }
  })
}

/** Of rejection: cross-entropy on the accepted rollouts; the policy term with advantage 1 and no ratio is just that. */
const lossOf = ({ method, loss }: RubricAsRewardConfig): RubricAsRewardConfig['loss'] =>
  method === 'rejection'
    ? { ...loss, policy: { ...loss.policy, kind: 'reinforce' }, kl: { kind: 'none', coef: 0 } }
    : loss

/** @throws SolverError when nothing of a step could be judged: going on would train on nothing. */
const assertSolverWorks = (groups: Groups<LogicRollout>): void => {
  const grades = groups.flat().map(({ grade: { rewarded } }) => rewarded)
  if (grades.length > 0 && grades.every(({ excluded }) => excluded === 'solver-failed'))
    throw new SolverError(`the solver failed on every one of ${grades.length} rollouts`, {
      hint: 'go on with --resume; if it happens again, check the memory that is left',
    })
}
