/** @file What a plan says of evaluations. */

import { formatInteger } from '../../util/format.ts'
import { describeGreedy, type SampledEvaluation } from './greedy.ts'
import type { EvaluatedSteps } from './test-problems.ts'

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
