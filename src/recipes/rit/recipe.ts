/**
 * @file RiT (rubrics in thinking): the thinking before an answer is judged by a rubric of its own, and its reward fused with the
 * answer's through a gate; GRPO.
 *
 * 1. A rubric for thinking is there before the training (`rubric.ts`): authored from good and poor traces, then refined.
 * 2. Each response is parted at the end of its thinking; thinking is judged on the thinking alone, the answer on the answer.
 * 3. R_fus = alpha R_think + (1 - alpha) R_resp; a gate makes R_final of it, min(R_fus, R_resp) in the paper (Eq. 7, 8).
 * 4. Advantages are relative to the group, or a critic's; one clipped step.
 *
 * Departures from the paper, each a setting:
 * - The KL coefficient, epsilon and temperature are not in the paper: none, 0.2 and 1 (spec 3.4).
 * - A criterion may be a flaw (points below zero): it is satisfied by its absence.
 * - An open answer's score is the signed one of its rubric, not below 0, where the paper counts criteria alike; of questions it is
 *   the benchmark's own, where the paper pays binary verdicts (Eq. 5).
 * - `rubricDropout`: criteria of thinking are left out of its reward at random (arXiv 2608.11669).
 * - `fusion.adaptive`, `normalise: part`, `scaffold`, `memory`, `control` and the rubric ladder below `refined` are ours.
 */

import type { Policy } from '../../policy/policy.ts'
import { AdaptiveWeight } from '../../rl/adaptive-weight.ts'
import { type Credited, datumsOf, type Graded, type Groups } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { type HeldOut, learntFrom, type Recipe, type RecipeState } from '../../train/recipe.ts'
import { joinedState } from '../../train/recipe-state.ts'
import { isRecord } from '../../util/own-value.ts'
import { creditedBy, valueErrorOf, withCriticLoss } from '../common/critic.ts'
import { type Lessons, NO_LESSONS, type Recalled } from '../common/lessons-memory.ts'
import { type ProblemStream, problemsIn } from '../common/problem-order.ts'
import { ownRubrics, type Shown, scaffoldedPrompts } from '../common/scaffold.ts'
import { lambdasIn } from '../common/scaffold-schedule.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import { assertJudged } from '../common/undecided.ts'
import type { RitConfig } from './config.ts'
import { ritFigures, rolloutRow } from './figures.ts'
import { rewarded, rewardPairs, ritAdvantages } from './rewards.ts'
import type { RitTask } from './task.ts'
import { attemptsOf, type RitGrade, saidOf, shuffledThinking, thoughtGrader } from './thinking.ts'

export interface RitParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  kit: RitTask<Problem>
  /** The thinking rubric of a problem. */
  rubricOf(problem: Problem): Rubric
  /** Lessons of earlier attempts. */
  lessons?: Lessons<Problem>
  evaluate: Recipe<unknown>['evaluate']
}

/** A step's rollouts, and what was recalled for them. */
export interface RitRolled<Problem> {
  groups: Graded<Problem, RitGrade>[][]
  recalled: Recalled | null
}

export const rit = <Problem>(
  config: RitConfig,
  { policy, problem, kit, rubricOf, evaluate, lessons = NO_LESSONS as Lessons<Problem> }: RitParts<Problem>,
): Recipe<RitRolled<Problem>> => {
  const { rollout, ratio, critic, fusion, reward, seed } = config
  const { task } = kit
  const weight = fusion.adaptive && new AdaptiveWeight(fusion.alpha, fusion.adaptive)

  return {
    async rollOut(step, io) {
      const problems = problemsIn(step, problem, config)
      const recalled = await lessons.recall(step, problems)
      const groups = await io.rollOut({
        problems,
        prompt: own => task.prompt(own),
        sampledFrom: scaffolded(config, lessons.shown(ownRubrics(task), problems, recalled), problems, step),
        ratio,
        samples: rollout.samples,
        sampling: samplingOf(config, task.stopTokens),
        ...thoughtGrader(config, kit, rubricOf),
        last: true,
      })
      return { groups, recalled }
    },

    async learn(step, { groups: rolled, recalled }) {
      const alpha = weight?.alpha ?? fusion.alpha
      const paired =
        config.control === 'shuffled'
          ? rolled.map((group, p) => shuffledThinking(group, `${seed}/${step}/${p}`))
          : rolled
      // Eq. 7 and 8: both rewards of a rollout, fused and gated.
      const groups = paired.map(group => group.map(item => rewarded(config, item, alpha)))
      assertJudged(groups.map(group => group.map(item => saidOf(config, item))))
      weight?.observe(rewardPairs(groups))
      const { advantages_P_G, zeroVarianceGroups } = ritAdvantages(config, groups, alpha)
      const credited = await creditedBy(critic, policy, groups, advantages_P_G, {
        temperature: rollout.temperature,
        ratio,
      })
      const remembered = await lessons.learn(
        step,
        recalled,
        rolled.map(group => attemptsOf(kit, rubricOf, group)),
      )
      // A critic learns from every rollout, also from those that say nothing to the policy.
      const dropZero = config.dropZero && critic === null
      const loss = withCriticLoss(config.loss, critic)
      return {
        phases: [phaseOf({ ...config, loss }, datumsOf(credited, { dropZero, ratio }))],
        metrics: {
          ...ritFigures(config, task, rubricOf, groups),
          ...remembered,
          alpha,
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
          ...(critic && { valueError: valueErrorOf(credited) }),
        },
        rollouts: learntFrom(credited, item => rolloutRow(task, step, item, rubricOf)),
        // What is fused must not rise at the cost of the answers: they are watched on their own.
        ...(reward !== 'response' && { heldOut: answersOf(credited) }),
      }
    },

    evaluate,

    ...stateOf(weight, lessons),
  }
}

/** Checkpoints from before kept a weight alone as it is. */
const stateOf = (weight: AdaptiveWeight | null, lessons: Lessons<never>): { state?: RecipeState } => {
  const { state } = joinedState({ weight, memory: lessons.state })
  const named = (value: unknown) => (isRecord(value) && 'groups' in value ? { weight: value } : value)
  return state ? { state: { ...state, load: value => state.load(named(value)) } } : {}
}

/** Part of the answers' rubric in the prompt, as RuscaRL shows it, or of lessons. */
const scaffolded = <Problem>(
  { scaffold, rollout, steps, seed }: RitConfig,
  shown: Shown<Problem>,
  problems: readonly Problem[],
  step: number,
) =>
  scaffold &&
  scaffoldedPrompts(lambdasIn(step, { scaffold, rollout, steps }), shown, problems, {
    label: 'rit',
    seed,
    step,
  })

const answersOf = async (credited: Groups<Credited<unknown, RitGrade>>): Promise<HeldOut> => ({
  scores: credited.flat().map(({ grade: { answer } }) => answer.score),
})
