/** @file Settings of the learned verifier of C4 and C5. */

import type { z } from 'zod'
import { madeProblemCount, testSampleCount } from '../../train/config.ts'
import { verifierPhaseSchema } from '../learned-verifier/config.ts'

export const labelledVerifierSchema = verifierPhaseSchema.extend({
  problems: madeProblemCount
    .default(1280)
    .describe(
      'Problems that the start writes about to be labelled, and how often: about five thousand outputs.',
    ),
  samples: testSampleCount.default(4).describe('Samples of each problem.'),
})

export type VerifierSettings = z.output<typeof labelledVerifierSchema>
