/**
 * @file RuscaRL (arXiv 2508.16949): rubrics as scaffolding in the prompt while exploring, and as rewards; GRPO.
 *
 * 1. Each of the G samples of a prompt is shown its own random part of the rubric: all of it for the first, nothing for the
 *    last (lambda of the group), and less and less as the steps go on (lambda of the step).
 * 2. Every finished response is graded, criterion by criterion, while the others are still being sampled.
 * 3. The reward is the signed sum of points over the positive points; advantages are relative to the group.
 * 4. The update is about the plain prompt: old and new log-probs are computed without the scaffold.
 *
 * Departures from the paper, each a setting:
 * - The printed loss averages over sequences, its code over tokens: tokens here (loss `gradus:ruscarl`).
 * - The paper's code divides by the sample standard deviation; ours by the population's unless `advantage.ddof` is 1.
 * - `memory`: what earlier attempts missed is the scaffold, or a part of it (ours; the bank is RubricEM's).
 * - `rubricDropout`: criteria are left out of the reward at random (arXiv 2608.11669).
 * - `groupJudge`: a judge scores all responses to a prompt at once (RULER), in place of their rubric.
 * - `ratio`: the two alternatives of appendix C.5. `exploration`: the baselines of its Table 13. `noise`, `reward: random`,
 *   `flipRate`, `pipeline`: experiments and speed.
 */

import type { Policy } from '../../policy/policy.ts'
import { grpoAdvantages } from '../../rl/advantages.ts'
import { advantagesOf, creditRollouts, datumsOf, type Graded, type Groups } from '../../rl/rollout.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import type { Io } from '../../train/rollout.ts'
import { withSpread } from '../common/dynamic-sampling.ts'
import { entropyCredit } from '../common/entropy-credit.ts'
import { idleCriteria } from '../common/idle-criteria.ts'
import { attemptsAt, type Lessons, NO_LESSONS, type Recalled } from '../common/lessons-memory.ts'
import { type ProblemStream, problemsIn } from '../common/problem-order.ts'
import { gradedBy } from '../common/rubric-task.ts'
import { ownRubrics, type Shown, scaffoldedPrompts } from '../common/scaffold.ts'
import { lambdasIn } from '../common/scaffold-schedule.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import { assertJudged } from '../common/undecided.ts'
import type { RuscarlConfig } from './config.ts'
import { rolloutRow, scoreFigures } from './figures.ts'

export interface RuscarlParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  /** The task as training grades it. */
  task: ScoredTask<Problem>
  evaluate: Recipe<unknown>['evaluate']
  /** Lessons of earlier attempts. */
  lessons?: Lessons<Problem>
}

type ScoredGroups<Problem> = Groups<Graded<Problem, ScoredResponse>>

/** A step's rollouts, and what was recalled for them. */
export interface RuscarlRolled<Problem> {
  groups: ScoredGroups<Problem>
  recalled: Recalled | null
}

/** Lines 5 to 7 of Algorithm 1: the prompts of a step, each with its own share of the rubric. */
const scaffolded = <Problem>(
  config: RuscarlConfig,
  shown: Shown<Problem>,
  problems: readonly Problem[],
  { step, round }: { step: number; round: number },
) => {
  const lambdas_G = lambdasIn(step, config)
  return scaffoldedPrompts(lambdas_G, shown, problems, { label: 'ruscarl', seed: config.seed, step, round })
}

/** Algorithm 1, by its lines. */
export const ruscarl = <Problem>(
  config: RuscarlConfig,
  { policy, problem, task, evaluate, lessons = NO_LESSONS as Lessons<Problem> }: RuscarlParts<Problem>,
): Recipe<RuscarlRolled<Problem>> => {
  const { rollout, ratio, seed, exploration } = config
  const { samples, temperature } = rollout

  const explore = (
    io: Io,
    step: number,
    problems: readonly Problem[],
    recalled: Recalled | null,
    round = 0,
  ): Promise<ScoredGroups<Problem>> => {
    const shown = lessons.shown(ownRubrics(task), problems, recalled)
    const sampledFrom = scaffolded(config, shown, problems, { step, round })
    // Line 8: responses to those prompts. Lines 10 to 14: verdicts and rewards.
    return io.rollOut({
      ...{ problems, prompt: own => task.prompt(own), sampledFrom, ratio, samples, round },
      sampling: samplingOf(config, task.stopTokens),
      ...gradedBy(task),
      last: round === 0,
    })
  }

  return {
    async rollOut(step, io) {
      const problems = problemsIn(step, problem, config)
      const recalled = await lessons.recall(step, problems)
      const first = await explore(io, step, problems, recalled)
      const { rounds = 0 } = exploration.dynamicSampling ?? {}
      const names = `ruscarl further problems/${seed}/${step}`
      const groups = await withSpread(first, { rounds, names }, problem, (further, round) =>
        explore(io, step, further, null, round),
      )
      return { groups, recalled }
    },

    async learn(step, { groups, recalled }) {
      assertJudged(groups.map(group => group.map(({ reward, grade }) => ({ ...grade, reward }))))
      // Line 15: advantages relative to the group.
      const { advantages_P_G, zeroVarianceGroups } = advantagesOf(groups, known =>
        grpoAdvantages(known, config.advantage),
      )
      const { entropyBonus } = exploration
      const credited = await entropyCredit(policy, creditRollouts(groups, advantages_P_G), entropyBonus, {
        ...{ ratio, temperature },
      })
      const remembered = await lessons.learn(
        step,
        recalled,
        groups.map(own => attemptsAt(task, own)),
      )
      return {
        // Line 16: the update, about the plain prompt unless `ratio` says otherwise.
        phases: [phaseOf(config, datumsOf(credited, config))],
        metrics: {
          ...scoreFigures(task, groups, {
            byRubric: config.reward === 'rubric',
            showsRubric: recalled === null,
          }),
          ...remembered,
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
        },
        rollouts: learntFrom(credited, item => rolloutRow(task, step, item)),
      }
    },

    evaluate,
    atEnd: idleCriteria,
    ...(lessons.state && { state: lessons.state }),
  }
}
