/** @file Settings of evaluations: how often, on how many problems, how they are sampled; and what plans say of them. */

import type { z } from 'zod'
import { flag, samplingShape, testProblemCount, testSampleCount } from '../../train/config.ts'
import { formatInteger } from '../../util/format.ts'
import { amount, whole } from '../../util/setting-shapes.ts'

/** To spread into a recipe's section `evaluation`, which may have other defaults and more keys. */
export const sampledEvaluationShape = {
  every: whole
    .default(0)
    .describe('Steps between evaluations, besides those at the start and the end; 0: only these.'),
  problems: testProblemCount.default(500).describe('Number of test problems at the start and the end.'),
  samples: testSampleCount.default(1).describe('Samples of each problem.'),
  problemsAtStart: testProblemCount
    .optional()
    .describe('Number of test problems before the first step; absent: as many as at the end.'),
  problemsBetween: testProblemCount
    .default(200)
    .describe('Number of test problems in evaluations between start and end.'),
  ...samplingShape,
  temperature: amount
    .default(1)
    .describe('Sampling temperature. 1: the distribution of the model; 0: the most likely token.'),
  greedy: flag(
    true,
    'At the start and the end, also evaluate one greedy answer to each problem, reported separately.',
  ),
}
export type EvaluationSettings = z.output<z.ZodObject<typeof sampledEvaluationShape>>

export interface EvaluatedSteps {
  steps: number
  evaluation: Pick<EvaluationSettings, 'problems' | 'problemsAtStart' | 'problemsBetween'>
}

/** Problems of the evaluation after a step; 0 is before the first. A run without steps has its only evaluation there. */
export const testProblems = ({ steps, evaluation }: EvaluatedSteps, step: number, last: boolean): number => {
  if (last || steps === 0) return evaluation.problems
  return step === 0 ? (evaluation.problemsAtStart ?? evaluation.problems) : evaluation.problemsBetween
}

/** What settles whether and how answers are drawn at random. */
export type SampledEvaluation = Pick<EvaluationSettings, 'greedy' | 'samples' | 'temperature'>

/** Whether a second pass is made: samples may be greedy themselves. */
export const isBesideGreedy = ({ greedy, samples, temperature }: SampledEvaluation): boolean =>
  greedy && !(temperature === 0 && samples === 1)

/** For the plan's line. */
const describeGreedy = (evaluation: SampledEvaluation): string =>
  isBesideGreedy(evaluation) ? ' and once greedily' : ''

/** `, 300 before the first step` where that is to be shorter; for plans. */
export const shorterStart = ({ steps, evaluation: { problemsAtStart } }: EvaluatedSteps): string =>
  steps === 0 || problemsAtStart === undefined ? '' : `, ${problemsAtStart} before the first step`

/** What a plan says of evaluations beside their settings. */
export interface EvaluationDescription {
  /** Problems that there are; absent: as many as are asked for. */
  test?: number
  /** `problems`, `questions`. */
  noun: string
  /** Behind those at the start and the end: `, with hints`. */
  also?: string
}

/** The line of a plan about evaluations. */
export const evaluationLine = (
  config: EvaluatedSteps & { evaluation: SampledEvaluation & { every: number; samplesBetween?: number } },
  { test = Number.POSITIVE_INFINITY, noun, also = '' }: EvaluationDescription,
): string => {
  const { every, samples, samplesBetween = samples, problems, problemsBetween } = config.evaluation
  const of = (count: number) => formatInteger(Math.min(count, test))
  const between = every > 0 ? `, ${of(problemsBetween)} x ${samplesBetween} every ${every} steps between` : ''
  return `evaluation   ${of(problems)} ${noun} x ${samples}${describeGreedy(config.evaluation)} at the start and the end${also}${shorterStart(config)}${between}`
}
