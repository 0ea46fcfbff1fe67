/** @file Settings of evaluations that sample: how often, on how many problems, and how. */

import { z } from 'zod'

const share = z.number().min(0).max(1)
const size = z.int().positive()

/** To spread into a recipe's section `evaluation`, which may have other defaults and more keys. */
export const sampledEvaluationShape = {
  every: z
    .int()
    .min(0)
    .default(0)
    .describe('Every so many steps, besides the start and the end; 0: only those.'),
  problems: size.max(1_000_000).default(500),
  samples: size.default(1),
  problemsAtStart: size
    .optional()
    .describe('Problems of the evaluation before the first step; absent: as many as at the end.'),
  problemsBetween: size.default(200).describe('Problems of the evaluations between start and end.'),
  temperature: z.number().positive().default(1),
  topK: z.int().min(0).default(0),
  topP: share.default(1),
}
