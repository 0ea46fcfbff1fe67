/** @file Settings of evaluations that sample: how often, on how many problems, and how. */

import { z } from 'zod'
import { samplingShape, testProblemCount, testSampleCount } from '../../train/config.ts'

const greedySetting = z
  .boolean()
  .default(true)
  .describe('At the start and the end also one answer of the likeliest tokens, whose score is told beside.')

/** To spread into a recipe's section `evaluation`, which may have other defaults and more keys. */
export const sampledEvaluationShape = {
  every: z
    .int()
    .min(0)
    .default(0)
    .describe('Every so many steps, besides the start and the end; 0: only those.'),
  problems: testProblemCount.default(500).describe('Problems of the test before and after.'),
  samples: testSampleCount.default(1).describe('Samples of each problem.'),
  problemsAtStart: testProblemCount
    .optional()
    .describe('Problems of the evaluation before the first step; absent: as many as at the end.'),
  problemsBetween: testProblemCount
    .default(200)
    .describe('Problems of the evaluations between start and end.'),
  ...samplingShape,
  temperature: z
    .number()
    .min(0)
    .default(1)
    .describe('Of sampling; 1 samples as the model is, 0 takes the likeliest token.'),
  greedy: greedySetting,
}
