/**
 * @file RiT (rubrics in thinking): the thinking before an answer is judged by a rubric of its own, and its reward fused with the
 * answer's through a gate; GRPO.
 *
 * 1. A rubric for thinking is there before the training (`rubric.ts`): authored from good and poor traces, then refined.
 * 2. Each response is parted at the end of its thinking; thinking is judged on the thinking alone, the answer on the answer.
 * 3. R_fus = alpha R_think + (1 - alpha) R_resp; a gate makes R_final of it, min(R_fus, R_resp) in the paper (Eq. 6-8).
 * 4. Advantages are relative to the group, or a critic's; one clipped step.
 *
 * Departures from the paper, each a setting:
 * - The KL coefficient, epsilon and temperature are not in the paper: none, 0.2 and 1 (spec 3.4).
 * - A criterion may be a flaw (points below zero): it is satisfied by its absence.
 * - An open answer's score is the signed one of its rubric, not below 0, where the paper counts criteria alike.
 * - `fusion.adaptive`, `normalise: part`, `scaffold`, `control` and the rubric ladder below `refined` are ours.
 */

import type { Policy } from '../../policy/policy.ts'
import { AdaptiveWeight } from '../../rl/adaptive-weight.ts'
import { type Credited, creditRollouts, datumsOf, type Graded, type Groups } from '../../rl/rollout.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import type { GradeItem } from '../../train/grading.ts'
import { type HeldOut, learntFrom, type Recipe } from '../../train/recipe.ts'
import { GradusError } from '../../util/errors.ts'
import { creditWithCritic, valueErrorOf, withCriticLoss } from '../common/critic.ts'
import type { ProblemStream } from '../common/problem-order.ts'
import { scaffoldedPrompts } from '../common/scaffold.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import type { RitConfig } from './config.ts'
import { ritFigures, rolloutRow } from './figures.ts'
import { type RitRollout, rewarded, rewardPairs, ritAdvantages } from './rewards.ts'
import type { RitTask } from './task.ts'
import { gradeThoughts, type RitGrade, shuffledThinking } from './thinking.ts'

export interface RitParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  kit: RitTask<Problem>
  /** The thinking rubric of a problem. */
  rubricOf(problem: Problem): Rubric
  evaluate: Recipe<unknown>['evaluate']
}

export const rit = <Problem>(
  config: RitConfig,
  { policy, problem, kit, rubricOf, evaluate }: RitParts<Problem>,
): Recipe<Graded<Problem, RitGrade>[][]> => {
  const { rollout, ratio, critic, fusion, reward } = config
  const weight = fusion.adaptive && new AdaptiveWeight(fusion.alpha, fusion.adaptive)

  const grade = (items: readonly GradeItem<Problem>[]) =>
    gradeThoughts(
      config,
      kit,
      rubricOf,
      items.map(({ problem: own, rollout: { tokens, key } }) => ({
        problem: own,
        response: kit.task.read(tokens),
        key,
      })),
    )

  /** Part of the answers' rubric in the prompt, as RuscaRL shows it. */
  const scaffolded = (step: number, problems: readonly Problem[]) => {
    const { scaffold } = config
    const shown = {
      criteria: (own: Problem) => kit.answerRubric(own).criteria,
      plain: (own: Problem) => kit.task.prompt(own),
      scaffolded: (own: Problem, hints: readonly Criterion[]) => kit.task.prompt(own, hints),
    }
    return scaffold && scaffoldedPrompts({ ...config, scaffold }, shown, problems, { label: 'rit', step })
  }

  const credit = async (groups: Groups<RitRollout<Problem>>, alpha: number) => {
    const { advantages_P_G, zeroVarianceGroups } = ritAdvantages(config, groups, alpha)
    const credited =
      critic === null
        ? creditRollouts(groups, advantages_P_G)
        : await creditWithCritic(policy, groups, critic, { temperature: rollout.temperature, ratio })
    return { credited, zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length) }
  }

  return {
    rollOut(step, io) {
      const problems = Array.from({ length: rollout.prompts }, (_, i) =>
        problem((step - 1) * rollout.prompts + i),
      )
      return io.rollOut({
        problems,
        prompt: own => kit.task.prompt(own),
        sampledFrom: scaffolded(step, problems),
        ratio,
        samples: rollout.samples,
        sampling: samplingOf(config, kit.task.stopTokens),
        grade,
        gradeBatch: kit.gradeBatch,
        last: true,
      })
    },

    async learn(step, rolled) {
      const alpha = weight?.alpha ?? fusion.alpha
      const shown =
        config.control === 'shuffled'
          ? rolled.map((group, p) => shuffledThinking(group, `${config.seed}/${step}/${p}`))
          : rolled
      const groups = shown.map(group => group.map(item => rewarded(config, item, alpha)))
      assertJudged(groups)
      weight?.observe(rewardPairs(groups))
      const { credited, zeroVarianceGroups } = await credit(groups, alpha)
      // A critic learns from every rollout, also from those that say nothing to the policy.
      const dropZero = config.dropZero && critic === null
      const loss = withCriticLoss(config.loss, critic)
      return {
        phases: [phaseOf({ ...config, loss }, datumsOf(credited, { dropZero, ratio }))],
        metrics: {
          ...ritFigures(kit, rubricOf, groups),
          alpha,
          zeroVarianceGroups,
          ...(critic && { valueError: valueErrorOf(credited) }),
          ...(kit.figures && { time: kit.figures() }),
        },
        rollouts: learntFrom(credited, item => rolloutRow(kit, step, item)),
        // What is fused must not rise at the cost of the answers: they are watched on their own.
        ...(reward !== 'response' && { heldOut: answersOf(credited) }),
      }
    },

    evaluate,

    ...(weight && { state: { save: () => weight.save(), load: (value: unknown) => weight.load(value) } }),
  }
}

const answersOf = async (credited: Groups<Credited<unknown, RitGrade>>): Promise<HeldOut> => ({
  scores: credited.flat().map(({ grade: { answer } }) => answer.score),
})

/**
 * When nothing is known of a whole step a judge is out of order: going on would train on nothing.
 * @throws GradusError
 */
const assertJudged = (groups: Groups<RitRollout<unknown>>): void => {
  const all = groups.flat()
  if (all.length === 0 || all.some(({ reward }) => reward !== null)) return
  const reason = all
    .flatMap(({ grade: { verdicts, answer } }) => [...verdicts, ...answer.verdicts])
    .find(({ met }) => met === null)?.explanation
  throw new GradusError(
    `judge: expected verdicts on ${all.length} rollouts, got none that decides anything (${(reason ?? 'no reason given').slice(0, 200)})`,
    { hint: 'see to the judge, then go on with --resume-or-start' },
  )
}
