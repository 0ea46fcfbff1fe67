/** @file What judges of a training would be asked, and what that takes. */

import { COMPLETION_TOKENS, estimateJudging } from '../../chat/estimate.ts'
import type { FleetSettings } from '../../chat/index.ts'
import type { JudgeConfig } from '../../grade/judge/judge-config.ts'
import { CHARACTERS_PER_TOKEN } from '../../tasks/prompt-tokens.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import type { TrainingJudge } from '../options/held-out-judge.ts'
import { factsOf } from '../options/options.ts'
import { type EvaluationSettings, testProblems } from './evaluation-config.ts'
import type { JudgeCalls } from './step-work.ts'

/** Calls of one kind that a training makes of a judge. */
export interface AskedJudge
  extends Pick<JudgeCalls, 'name' | 'callsPerStep' | 'shown'>,
    Partial<Pick<JudgeCalls, 'callsPerShown'>> {
  fleet: FleetSettings
  /** Of all steps and evaluations. */
  calls: number
  /** Of a prompt: what all calls begin with, what no other has, what calls in a row have in common, and responses. */
  characters: { instructions: number; own: number; shared: number; responses: number }
}

/** Characters of a response of full length. */
export const responseCharacters = (tokens: number): number => CHARACTERS_PER_TOKEN * tokens

/** Without a judge. */
export const NO_JUDGE = 'grading      by rules in this process: no judge, no network'

/** What judges take in all, in metrics and in words; and the calls of a step. */
export const judgingOf = (asked: readonly AskedJudge[]) => {
  const all = asked.map(({ fleet, calls, characters: { instructions, own, shared, responses } }) =>
    estimateJudging(fleet, {
      calls: Math.round(calls),
      promptCharacters: instructions + own + shared + responses,
    }),
  )
  const total = (key: 'promptTokens' | 'completionTokens') => all.reduce((sum, each) => sum + each[key], 0)
  const [promptTokens, completionTokens] = [total('promptTokens'), total('completionTokens')]
  const cost = all.reduce<number | null>(
    (sum, own) => (sum === null || own.cost === null ? null : sum + own.cost),
    0,
  )
  const price =
    cost === null
      ? 'unknown: an endpoint has no price {inputPerMillion, outputPerMillion}'
      : `at most about ${cost.toFixed(2)}, in the currency of the prices`
  return {
    json: { cost, promptTokens, completionTokens },
    line: `             at most about ${formatCount(promptTokens)} tokens in, if every response is as long as it may be, about ${formatCount(completionTokens)} out; cost ${price}`,
    judges: asked.flatMap(
      ({ name, callsPerStep, shown, callsPerShown = 1, characters: { instructions, own, shared } }) =>
        callsPerStep > 0
          ? [
              {
                ...{ name, callsPerStep, shown, callsPerShown, completionTokens: COMPLETION_TOKENS },
                instructionTokens: instructions / CHARACTERS_PER_TOKEN,
                ownTokens: own / CHARACTERS_PER_TOKEN,
                sharedTokens: shared / CHARACTERS_PER_TOKEN,
              },
            ]
          : [],
    ),
  }
}

/** What of a training decides how much its judges are asked. */
export type JudgedTraining = Readonly<Record<string, unknown>> & {
  judge: TrainingJudge | null
  steps: number
  /** Those whose responses are graded; all where absent. */
  gradedSteps?: number
  rollout: { prompts: number; samples: number; maxTokens: number }
  /** `scaffolded`: also with the whole rubric in the prompt. */
  evaluation: EvaluationSettings & { scaffolded?: boolean }
  /** Demonstrations that are graded before they are learnt from. */
  sft?: { problems: number; samples: number } | null
  /** A pass over all problems that puts them in order. */
  exploration?: { curriculum: { samples: number } | null }
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

/** Of the judge's instructions and one criterion, roughly. */
const QUESTION_CHARACTERS = 2500
/** The criterion's part of it; templates say it last. */
const CRITERION_CHARACTERS = 400

/** Responses of all evaluations before, between and after. @param atEnds of a problem at the start and the end */
const evaluationResponses = (
  { steps, evaluation, sft = null }: JudgedTraining,
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

/** What one judge is asked of responses. @param every of so many steps */
const planOf = (
  { ask, fleet }: JudgeConfig,
  responses: { perStep: number; training: number; evaluation: number },
  { training, data }: { training: JudgedTraining; data: JudgedData },
  { name, every = 1 }: { name: string; every?: number },
) => {
  const { judged, conversationCharacters: shared } = data
  const { shape, levels } = ask
  const isByCriterion = shape === 'criterion' || levels === 'likelihood'
  const calls = isByCriterion ? judged : shape === 'rubric' ? 1 : Math.ceil(judged / shape.batch)
  const metrics = {
    callsPerStep: responses.perStep * calls,
    trainingCalls: responses.training * calls,
    evaluationCalls: responses.evaluation * calls,
  }
  const { json, line, judges } = judgingOf([
    {
      ...{ name, fleet, callsPerShown: calls, shown: { role: 'policy', samples: 1 } },
      callsPerStep: metrics.callsPerStep / every,
      calls: metrics.trainingCalls + metrics.evaluationCalls,
      characters: {
        instructions: QUESTION_CHARACTERS - CRITERION_CHARACTERS,
        ...{ own: CRITERION_CHARACTERS, shared },
        responses: responseCharacters(training.rollout.maxTokens),
      },
    },
  ])
  const of = (key: keyof typeof metrics) => formatInteger(metrics[key])
  return {
    json: { ...metrics, ...json } satisfies JudgePlan,
    lines: (calls: string) => [
      `${calls}, ${of('trainingCalls')} in training, ${of('evaluationCalls')} in evaluations`,
      line,
    ],
    judges,
  }
}

/** The judge of a training and the one that it never hears: lines of a plan, metrics (null without one), and the calls of a step. */
export const trainingJudges = (training: JudgedTraining, data: JudgedData) => {
  const { judge, rollout, steps, gradedSteps = steps, evaluation, exploration, sft } = training
  if (judge === null) return { lines: [NO_JUDGE], json: { judge: null, heldOutJudge: null }, judges: [] }
  const judged = { training, data }
  const samples = rollout.prompts * rollout.samples
  const graded = factsOf(training).unjudged ? 0 : gradedSteps / Math.max(1, steps)
  const perStep = graded * samples
  const atEnds = evaluation.samples * (evaluation.scaffolded ? 2 : 1) + Number(evaluation.greedy)
  // The pass of a curriculum, and demonstrations.
  const besides =
    (exploration?.curriculum?.samples ?? 0) * data.train +
    (sft ? Math.min(sft.problems, data.train) * sft.samples : 0)
  const responses = {
    perStep,
    training: perStep * steps + besides,
    evaluation: evaluationResponses(training, data.test, atEnds),
  }
  const own = planOf(judge, responses, judged, { name: 'judge' })
  const lines = own.lines(`judge calls  about ${formatInteger(own.json.callsPerStep)} a step`)
  const { heldOut } = judge
  if (heldOut === null) return { lines, json: { judge: own.json, heldOutJudge: null }, judges: own.judges }
  const { share, every } = heldOut.rollouts ?? { share: 0, every: 1 }
  const part = Math.ceil(share * samples)
  const others = {
    perStep: part,
    training: part * Math.ceil(steps / every),
    evaluation: heldOut.evaluations ? evaluationResponses(training, data.test, evaluation.samples) : 0,
  }
  const second = planOf(heldOut, others, judged, { name: 'held-out judge', every })
  const calls = formatInteger(second.json.callsPerStep)
  return {
    lines: [
      ...lines,
      ...second.lines(`held-out     another judge: about ${calls} calls in each step that it is asked in`),
    ],
    json: { judge: own.json, heldOutJudge: second.json },
    judges: [...own.judges, ...second.judges],
  }
}
