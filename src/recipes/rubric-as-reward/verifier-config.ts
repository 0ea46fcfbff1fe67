/** @file Settings of the learned verifier of C4 and C5. */

import { z } from 'zod'
import { verifierPhaseSchema } from '../learned-verifier/config.ts'

export const verifierSchema = verifierPhaseSchema.extend({
  problems: z
    .int()
    .positive()
    .default(1280)
    .describe(
      'Problems that the start writes about to be labelled, and how often: about five thousand outputs.',
    ),
  samples: z.int().positive().default(4).describe('Samples of each problem.'),
})

export type VerifierSettings = z.output<typeof verifierSchema>
