/** @file What may be measured on samples of a trained policy, after its run. */

import { z } from 'zod'

/** Recipes whose runs can be probed. */
export const PROBED_RECIPES: readonly string[] = ['ruscarl']

const arms = z.array(z.string()).min(1)
const problems = z.int().positive()

export const probeSchema = z.discriminatedUnion('name', [
  /** Expected best score of n samples, by the unbiased estimator (RuscaRL figure 4). */
  z.strictObject({
    name: z.literal('best-of-n'),
    arms,
    problems: problems.default(24),
    samples: z.int().positive().default(4096),
    ns: z.array(z.int().positive()).min(1).default([1, 4, 16, 64, 256, 1024, 2048]),
  }),
  /**
   * rho of Eq. 5 over one response a problem, and the ten most novel of them (RuscaRL tables 7, 8); with `shares` also
   * over responses that were shown such a share of the rubric (appendix C.8).
   */
  z.strictObject({
    name: z.literal('novelty'),
    arms,
    problems: problems.default(500),
    shares: z.array(z.number().min(0).max(1)).default([]),
  }),
  /** Diversity of several responses to a problem, by words and by meaning (RuscaRL appendix C.4.2). */
  z.strictObject({
    name: z.literal('diversity'),
    arms,
    problems: problems.default(100),
    samples: z.int().min(2).default(16),
  }),
  /** Distances between responses with and without the scaffold (RuscaRL appendix C.7). */
  z.strictObject({
    name: z.literal('internalisation'),
    arms,
    problems: problems.default(500),
    thresholds: z.array(z.number()).min(1).default([0.5, 0.8, 0.9]),
  }),
])

export type ProbeSettings = z.output<typeof probeSchema>
