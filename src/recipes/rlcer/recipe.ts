/**
 * @file RLCER (arXiv 2602.10885): chain-of-thought rubrics that the policy proposes itself, and that evolve with it.
 *
 * The paper calls one statement a rubric (τ_k of s_k points); here that is a criterion, and a rubric is what one rubricator wrote.
 *
 *   Eq. 4, 5      the policy answers each question N times as reasoner, and as rubricator writes K criteria for each answer's
 *                 thinking; a verifier decides v_k,m: whether thinking m meets criterion k, of all rubrics of the question
 *   Eq. 7         criterion k is valid where corr(v_k, z) > α and std(v_k) > 0, z being who was right
 *   Eq. 6         r_cot,m = points of the valid criteria that m meets, between the least and the most that they give
 *   Eq. 8, 9      reasoners: ±1 for the answer, + r_cot
 *   Eq. 10 to 12  rubricators: the valid share of their K criteria, + 1 for the format
 *   Eq. 13        J = J_reasoner + J_rubricator: advantages role by role, one clipped PPO update with a critic on both
 *
 * Where the paper is silent or contradicts itself, with the settings; docs/recipes/rlcer.md has the rest:
 * - Penalties are valid where their absence goes with being right (`validity.signAware`); without a valid criterion r_cot is
 *   `emptyCot`; duplicates count once (`dedupe`, `rubricator.distinct`); DAPO's penalty of long responses is off by default (`overlong`).
 * - Questions that are all right or all wrong can have no valid criterion (`rubricator.uninformative`).
 * - Rubricator and verifier do not see the final answer (`maskFinalAnswer`).
 * - Advantages are whitened by role. `critic: null` compares reasoners with their group's mean, and rubricators with the others of
 *   their question. The critic is a head on the policy's trunk, or a model of its own (`critic.own`); the loss adds up both roles'
 *   means over tokens (`roles`). The start: chat models as they come, where the paper's are base models after supervised learning.
 * - `rubricDropout` (arXiv 2608.11669), `scoringRule`, `anchors` (2610.11464), a scaffold of valid criteria, normalisation by part, controls, verifiers.
 */

import type { Policy } from '../../policy/policy.ts'
import { overlongPenalty } from '../../rl/penalties.ts'
import { datumsOf } from '../../rl/rollout.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { withCriticLoss } from '../common/critic.ts'
import { type ProblemStream, problemsIn } from '../common/problem-order.ts'
import { phaseOf } from '../common/training.ts'
import { leftOutBy, leftOutMetrics } from '../options/options.ts'
import { anchorMetrics, keptOutRows, onAnchors, type ThoughtAnchors } from './anchored.ts'
import type { RlcerConfig } from './config.ts'
import { creditStep, learnable } from './credit.ts'
import { type ExplorationParts, explore, type QuestionRollouts } from './exploration.ts'
import { hintedPrompts, ProposedRubrics } from './hints.ts'
import { assertVerified, type JudgedQuestion, judgeQuestions } from './judging.ts'
import { outcomeOpinion, rlcerMetrics, rlcerRolloutRow } from './metrics.ts'
import {
  cotReward,
  countedCriteria,
  neutralEvolving,
  outcomeReward,
  reasonerReward,
  rubricatorReward,
} from './rewards.ts'

export interface RlcerParts<Problem> extends ExplorationParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  /** What valid criteria have to tell apart besides; absent: nothing. */
  anchors?: ThoughtAnchors<Problem>
  evaluate: Recipe<unknown>['evaluate']
}

export const rlcer = <Problem>(
  config: RlcerConfig,
  { policy, problem, evaluate, ...parts }: RlcerParts<Problem>,
): Recipe<QuestionRollouts<Problem>[]> => {
  const [{ scaffold }, { task }] = [config, parts]
  const bank = new ProposedRubrics()

  /** The valid criteria of a question, and which of them do not count in a step. */
  const countedIn = (step: number, { valid, problem: own }: JudgedQuestion<Problem>) => {
    const criteria = valid.map(({ criterion }) => criterion)
    return { criteria, places: leftOutBy(config, criteria, step, task.id(own))?.places }
  }

  return {
    rollOut(step, io) {
      const problems = problemsIn(step, problem, config)
      // Eq. 4 and 5.
      return explore(io, config, parts, problems, hintedPrompts(config, parts, bank, problems, step))
    },

    async learn(step, explored) {
      // Eq. 7.
      const proposed = judgeQuestions(explored, config, step)
      assertVerified(proposed)
      const judged = await onAnchors(proposed, parts)
      const neutral = neutralEvolving(judged, config.rubricator)
      const counted = countedCriteria(judged, config, own => countedIn(step, own).places)
      const questions = judged.map((own, q) => rewardQuestion(config, own, counted[q], neutral))
      for (const { problem: own, valid } of questions) if (scaffold) bank.keep(task.id(own), valid)
      const { credited, unknown, zeroVarianceGroups } = await creditStep(policy, questions, config)
      const loss = withCriticLoss(config.loss, config.critic)
      const recorded = [...credited, ...unknown]
      return {
        // Eq. 13: one update on the samples of both roles.
        phases: [
          phaseOf({ ...config, loss }, datumsOf([learnable(credited, config)], { ratio: config.ratio })),
        ],
        metrics: {
          ...rlcerMetrics(questions, config, step),
          ...anchorMetrics(questions, config),
          ...leftOutMetrics(judged.map(own => countedIn(step, own))),
          ...(zeroVarianceGroups !== null && { zeroVarianceGroups }),
          ...(scaffold && { bankQuestions: bank.questions }),
        },
        ...(parts.anchors && { rubrics: keptOutRows(questions, task, step) }),
        rollouts: learntFrom([recorded], item => rlcerRolloutRow(task, step, item)),
        ...outcomeOpinion(recorded, config),
      }
    },

    evaluate,
    ...(scaffold && { state: { save: () => bank.save(), load: value => bank.load(value) } }),
  }
}

/**
 * Eq. 6, 8 and 9 for reasoners, Eq. 10 to 12 for rubricators.
 * @param counted the criteria that pay
 * @param neutral what evolving earns where nothing can be valid
 */
const rewardQuestion = <Problem>(
  config: RlcerConfig,
  question: JudgedQuestion<Problem>,
  counted: ReturnType<typeof countedCriteria>[number],
  neutral: number,
): JudgedQuestion<Problem> => {
  const { overlong, rollout } = config
  return {
    ...question,
    paying: counted.length,
    reasoners: question.reasoners.map((item, m) => ({
      ...item,
      ...reasonerReward(config.reasonerReward, {
        outcome: outcomeReward(question.correct[m]),
        cot: cotReward(config, counted, m, item.rollout.key),
        // Taken off for a response that comes near the longest that it may be.
        overlong: overlong
          ? overlongPenalty(item.rollout.tokens.length, { ...overlong, maxLength: rollout.maxTokens })
          : 0,
      }),
    })),
    rubricators: question.rubricators.map((item, n) => ({
      ...item,
      grade: { ...item.grade, judged: question.rubrics[n] },
      ...rubricatorReward(question.rubrics[n], question.correct, config.rubricator, neutral),
    })),
  }
}
