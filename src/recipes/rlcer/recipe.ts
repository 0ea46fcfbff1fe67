/**
 * @file RLCER (arXiv 2602.10885): chain-of-thought rubrics that the policy proposes itself, and that evolve with it.
 *
 * 1. The policy answers each question N times, as reasoner.
 * 2. For each response it proposes a rubric for the thinking, as rubricator; a verifier decides every criterion of every rubric
 *    on every response to the question.
 * 3. A criterion is valid where meeting it goes with being right (Eq. 7).
 * 4. Reasoners are paid for the answer and for the valid criteria that they meet (Eq. 6, 8, 9), rubricators for the share of
 *    their criteria that are valid and for the format (Eq. 10 to 12).
 * 5. Advantages are worked out for each role by itself; one PPO update learns the samples of both together (Eq. 13).
 *
 * Where the paper is silent or contradicts itself, each a setting (docs/recipes/rlcer.md):
 * - Penalties are valid where their absence goes with being right (`validity.signAware`).
 * - Rubricators of questions that are all right or all wrong are left out (`rubricator.maskUninformative`).
 * - Rubricator and verifier do not see the final answer (`maskFinalAnswer`); duplicates count once (`dedupe`).
 * - Advantages are whitened by role; `critic: null` has baselines by leaving one out. The loss is the sum of both roles' means
 *   over tokens (`roles`).
 * - `rubricDropout`: valid criteria are left out of the reasoners' reward at random (arXiv 2608.11669).
 * - A scaffold of valid criteria, normalisation by part, controls and other verifiers are ours.
 */

import type { Policy } from '../../policy/policy.ts'
import { datumsOf } from '../../rl/rollout.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { withCriticLoss } from '../common/critic.ts'
import { type ProblemStream, problemsIn } from '../common/problem-order.ts'
import { dropoutFigures, placesLeftOut } from '../common/rubric-dropout.ts'
import { phaseOf } from '../common/training.ts'
import { ProposedRubrics } from './bank.ts'
import type { RlcerConfig } from './config.ts'
import { creditStep, learnable } from './credit.ts'
import { type ExplorationParts, explore, type QuestionRollouts } from './exploration.ts'
import { outcomeOpinion, stepFigures } from './figures.ts'
import { hintedPrompts } from './hints.ts'
import { assertVerified, type JudgedQuestion, judgeQuestions } from './judging.ts'
import {
  cotReward,
  countedCriteria,
  neutralEvolving,
  outcomeReward,
  overlongReward,
  reasonerReward,
  rubricatorReward,
} from './rewards.ts'
import { rolloutRow } from './rows.ts'

export interface RlcerParts<Problem> extends ExplorationParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  evaluate: Recipe<unknown>['evaluate']
}

export const rlcer = <Problem>(
  config: RlcerConfig,
  { policy, problem, evaluate, ...parts }: RlcerParts<Problem>,
): Recipe<QuestionRollouts<Problem>[]> => {
  const { scaffold } = config
  const { task } = parts
  const bank = new ProposedRubrics()

  const left = placesLeftOut(config)
  const placesOf = (step: number, { valid, problem: own }: JudgedQuestion<Problem>) =>
    left(
      valid.map(({ criterion }) => criterion),
      step,
      task.id(own),
    )

  return {
    rollOut(step, io) {
      const problems = problemsIn(step, problem, config)
      return explore(io, config, parts, problems, hintedPrompts(config, parts, bank, problems, step))
    },

    async learn(step, explored) {
      const judged = judgeQuestions(explored, config, step)
      assertVerified(judged)
      const neutral = neutralEvolving(judged, config.rubricator)
      const questions = judged.map(own => rewardQuestion(config, own, placesOf(step, own), neutral))
      for (const { problem: own, valid } of questions) if (scaffold) bank.keep(task.id(own), valid)
      const { credited, unknown, zeroVarianceGroups } = await creditStep(policy, questions, config)
      const loss = withCriticLoss(config.loss, config.critic)
      const told = [...credited, ...unknown]
      return {
        // Eq. 13: one update on the samples of both roles.
        phases: [
          phaseOf({ ...config, loss }, datumsOf([learnable(credited, config)], { ratio: config.ratio })),
        ],
        metrics: {
          ...stepFigures(questions, config, step),
          ...dropoutFigures(
            config,
            questions.map(own => ({
              criteria: own.valid.map(({ criterion }) => criterion),
              places: placesOf(step, own),
            })),
          ),
          ...(zeroVarianceGroups !== null && { zeroVarianceGroups }),
          ...(scaffold && { bankQuestions: bank.questions }),
        },
        rollouts: learntFrom([told], item => rolloutRow(task, step, item)),
        ...outcomeOpinion(told, config),
      }
    },

    evaluate,
    ...(scaffold && { state: { save: () => bank.save(), load: value => bank.load(value) } }),
  }
}

/**
 * Eq. 6, 8 and 9 for reasoners, Eq. 10 to 12 for rubricators.
 * @param leftOut places of valid criteria that do not count
 * @param neutral what evolving earns where nothing can be valid
 */
const rewardQuestion = <Problem>(
  config: RlcerConfig,
  question: JudgedQuestion<Problem>,
  leftOut: ReadonlySet<number>,
  neutral: number,
): JudgedQuestion<Problem> => {
  const counted = countedCriteria(question, config, leftOut)
  return {
    ...question,
    reasoners: question.reasoners.map((item, m) => ({
      ...item,
      ...reasonerReward(config.reasonerReward, {
        outcome: outcomeReward(question.correct[m]),
        cot: cotReward(config, counted, m, item.rollout.key),
        overlong: overlongReward(config, item.rollout.tokens.length),
      }),
    })),
    rubricators: question.rubricators.map((item, n) => ({
      ...item,
      grade: { ...item.grade, judged: question.rubrics[n] },
      ...rubricatorReward(question.rubrics[n], question.correct, config.rubricator, neutral),
    })),
  }
}
