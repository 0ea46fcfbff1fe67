/** @file Settings of the judges of a training: the one that it hears, and one that it never hears. */

import { z } from 'zod'
import { judgeOf, judgeShape } from '../../grade/judge/judge-config.ts'

/**
 * A judge that training never hears: when the reward rises and its opinion falls, the policy has learnt what the judge of
 * training likes instead of what the rubrics ask for (monitors `heldOutFalls`, `evaluationFalls`).
 */
const heldOutJudgeSchema = z
  .strictObject({
    ...judgeShape,
    rollouts: z
      .strictObject({
        share: z.number().gt(0).max(1).default(0.1).describe('Share of a step.'),
        every: z.int().positive().default(1).describe('Every so many steps; 0: only at the end.'),
      })
      .nullable()
      .prefault({})
      .describe(
        "What it is asked about while training goes on: so many of a step's rollouts, every so many steps; null for none.",
      ),
    evaluations: z
      .boolean()
      .default(false)
      .describe(
        'It also grades the responses of evaluations, as a set of its own, which is then the one that counts.',
      ),
  })
  .transform(judgeOf('ruscarl'))

/** The judge of a training; what its sections leave out is as in RuscaRL's code. */
export const trainingJudgeSchema = z
  .strictObject({
    ...judgeShape,
    heldOut: heldOutJudgeSchema
      .nullable()
      .default(null)
      .describe('A judge that training never hears; null: none.'),
  })
  .transform(judgeOf('ruscarl'))

export type HeldOutJudgeConfig = z.output<typeof heldOutJudgeSchema>
export type TrainingJudge = z.output<typeof trainingJudgeSchema>
