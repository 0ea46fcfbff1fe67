/** @file Settings of supervised learning on demonstrations that a teacher writes (RuscaRL). */

import { z } from 'zod'
import { optimizerSchema, orNull, samplingShape } from '../../train/config.ts'

const size = z.int().positive()

/** Supervised learning on what a teacher writes when it is shown the whole rubric (arms SFT, SFT + RL, SFT + RuscaRL). */
export const sftSchema = z.strictObject({
  teacher: orNull(
    z.string(),
    'Checkpoint that writes the demonstrations, with the same tokenizer; null: the starting policy itself.',
  ),
  problems: size.default(512).describe('Training problems that it writes about, and how often.'),
  samples: size.default(4).describe('Samples of each problem.'),
  ...samplingShape,
  best: size
    .default(1)
    .describe(
      'Kept: the best so many a problem, of those that ended by themselves and score at least so much.',
    ),
  minScore: z.number().default(0.5).describe('Least score of a demonstration.'),
  steps: z.int().min(1).default(100).describe('Optimiser steps, and demonstrations in each.'),
  batch: size.default(32).describe('At most so many together.'),
  optimizer: optimizerSchema.prefault({}).describe('AdamW and its learning rate.'),
})

export type SftPhaseConfig = z.output<typeof sftSchema>
