/** @file What the judges of a training would be asked, and what that takes. */

import { estimateJudging } from '../../chat/estimate.ts'
import { COMPLETION_TOKENS } from '../../chat/token-estimate.ts'
import type { JudgeConfig } from '../../grade/judge/judge-config.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import type { TrainingJudge } from './judge-config.ts'
import { type JudgeCalls, tokensFromCharacters } from './step-work.ts'
import { testProblems } from './test-problems.ts'

/** What of a training decides how much its judges are asked. */
export interface JudgedTraining {
  judge: TrainingJudge | null
  steps: number
  /** Those whose responses are graded; all where absent. */
  gradedSteps?: number
  rollout: { prompts: number; samples: number; maxTokens: number }
  evaluation: {
    every: number
    samples: number
    problems: number
    problemsAtStart?: number
    problemsBetween: number
    /** Also with the whole rubric in the prompt. */
    scaffolded: boolean
    /** Beside the samples, at the start and the end. */
    greedy: boolean
  }
  /** Demonstrations that are graded before they are learnt from. */
  sft: { problems: number; samples: number } | null
  /** A judge of whole groups, which takes the place of the rubric's judge in the steps. */
  groupJudge?: { kind: string }
  /** A pass over all problems that puts them in order. */
  exploration: { curriculum: { samples: number } | null }
}

/** Sizes of its data: problems, criteria of a rubric that a judge must see, characters of a conversation. */
export interface JudgedData {
  train: number
  test: number
  judged: number
  conversationCharacters: number
}

export interface JudgePlan {
  /** Of the steps that it is asked in, which are all of them but for a held-out judge. */
  callsPerStep: number
  trainingCalls: number
  evaluationCalls: number
  /** Null where a price is unknown. */
  cost: number | null
  promptTokens: number
  completionTokens: number
}

/** Responses that a judge grades. */
interface Responses {
  perStep: number
  training: number
  evaluation: number
}

/** Of the judge's instructions and one criterion, roughly. */
const QUESTION_CHARACTERS = 2500
/** The criterion's part of it; templates say it last. */
const CRITERION_CHARACTERS = 400

const callsAResponse = ({ shape, levels }: JudgeConfig['ask'], judged: number): number =>
  shape === 'criterion' || levels === 'likelihood'
    ? judged
    : shape === 'rubric'
      ? 1
      : Math.ceil(judged / shape.batch)

const planOf = (
  { ask, fleet }: JudgeConfig,
  responses: Responses,
  { rollout }: JudgedTraining,
  { judged, conversationCharacters }: JudgedData,
): JudgePlan => {
  const calls = callsAResponse(ask, judged)
  const trainingCalls = responses.training * calls
  const evaluationCalls = responses.evaluation * calls
  const { cost, promptTokens, completionTokens } = estimateJudging(fleet, {
    calls: Math.round(trainingCalls + evaluationCalls),
    // A response of full length, at four characters a token, beside the conversation and the question itself.
    promptCharacters: conversationCharacters + 4 * rollout.maxTokens + QUESTION_CHARACTERS,
  })
  const callsPerStep = responses.perStep * calls
  return { callsPerStep, trainingCalls, evaluationCalls, cost, promptTokens, completionTokens }
}

/** Responses of all evaluations before, between and after. @param atEnds of a problem at the start and the end */
const evaluationResponses = (
  { steps, evaluation, sft }: JudgedTraining,
  testRows: number,
  atEnds: number,
): number => {
  const { every, samples, problems } = evaluation
  const between = every > 0 ? Math.max(0, Math.ceil(steps / every) - 1) : 0
  const of = (problems: number) => Math.min(problems, testRows)
  const start = of(testProblems({ steps, evaluation }, 0, false))
  // A supervised phase has both ends as well.
  const phases = sft === null ? 0 : 1
  const ends = Number(steps > 0) + phases
  return (
    atEnds * ((1 + phases) * start + ends * of(problems)) + samples * between * of(evaluation.problemsBetween)
  )
}

/** Responses that are graded besides those of the steps: the pass of a curriculum, and demonstrations. */
const otherResponses = ({ exploration, sft }: JudgedTraining, trainRows: number): number =>
  (exploration.curriculum?.samples ?? 0) * trainRows +
  (sft === null ? 0 : Math.min(sft.problems, trainRows) * sft.samples)

/** The judge of training; null without one. */
export const judgePlan = (training: JudgedTraining, data: JudgedData): JudgePlan | null => {
  const { judge, rollout, steps, gradedSteps = steps, evaluation, groupJudge } = training
  if (judge === null) return null
  const graded = groupJudge?.kind === 'chat' ? 0 : gradedSteps / Math.max(1, steps)
  const perStep = graded * rollout.prompts * rollout.samples
  const responses = {
    perStep,
    training: perStep * steps + otherResponses(training, data.train),
    evaluation: evaluationResponses(
      training,
      data.test,
      evaluation.samples * (evaluation.scaffolded ? 2 : 1) + Number(evaluation.greedy),
    ),
  }
  return planOf(judge, responses, training, data)
}

/** The judge that training never hears; null without one. */
export const heldOutJudgePlan = (training: JudgedTraining, data: JudgedData): JudgePlan | null => {
  const { judge, rollout, steps } = training
  const heldOut = judge?.heldOut ?? null
  if (heldOut === null) return null
  const { share, every } = heldOut.rollouts ?? { share: 0, every: 1 }
  const perStep = Math.ceil(share * rollout.prompts * rollout.samples)
  const responses = {
    perStep,
    training: perStep * Math.ceil(steps / every),
    evaluation: heldOut.evaluations
      ? evaluationResponses(training, data.test, training.evaluation.samples)
      : 0,
  }
  return planOf(heldOut, responses, training, data)
}

/** The calls of a step, of the judge of training and of the held-out one. @param role whose samples are judged */
export const judgeCallsOf = (
  training: JudgedTraining,
  data: JudgedData,
  role: string,
): readonly JudgeCalls[] => {
  const { judge } = training
  const heldOut = judge?.heldOut ?? null
  const of = (name: string, plan: JudgePlan | null, ask: JudgeConfig['ask'], share: number) =>
    plan === null || plan.callsPerStep === 0
      ? []
      : [
          {
            name,
            callsPerStep: plan.callsPerStep * share,
            instructionTokens: tokensFromCharacters(QUESTION_CHARACTERS - CRITERION_CHARACTERS),
            ownTokens: tokensFromCharacters(CRITERION_CHARACTERS),
            sharedTokens: tokensFromCharacters(data.conversationCharacters),
            shown: { role, samples: 1 },
            callsPerShown: callsAResponse(ask, data.judged),
            completionTokens: COMPLETION_TOKENS,
          },
        ]
  if (judge === null) return []
  return [
    ...of('judge', judgePlan(training, data), judge.ask, 1),
    ...(heldOut === null
      ? []
      : of(
          'held-out judge',
          heldOutJudgePlan(training, data),
          heldOut.ask,
          1 / (heldOut.rollouts?.every ?? 1),
        )),
  ]
}

/** For people. */
export const judgeLines = (plan: JudgePlan | null, heldOut: JudgePlan | null): string[] =>
  plan === null
    ? ['grading      by rules in this process: no judge, no network']
    : [
        `judge calls  about ${formatInteger(plan.callsPerStep)} a step, ${formatInteger(plan.trainingCalls)} in training, ${formatInteger(plan.evaluationCalls)} in evaluations`,
        `judge tokens at most about ${formatCount(plan.promptTokens)} in, if every response is as long as it may be; about ${formatCount(plan.completionTokens)} out`,
        `judge cost   ${costText(plan)}`,
        ...(heldOut === null ? [] : heldOutLines(heldOut)),
      ]

const heldOutLines = (plan: JudgePlan): string[] => [
  `held-out     another judge: about ${formatInteger(plan.callsPerStep)} calls in each step that it is asked in, ${formatInteger(plan.trainingCalls)} in training, ${formatInteger(plan.evaluationCalls)} in evaluations`,
  `             at most about ${formatCount(plan.promptTokens)} tokens in, about ${formatCount(plan.completionTokens)} out; cost ${costText(plan)}`,
]

const costText = ({ cost }: JudgePlan): string =>
  cost === null
    ? 'unknown: an endpoint has no price {inputPerMillion, outputPerMillion}'
    : `at most about ${cost.toFixed(2)}, in the currency of the prices`
