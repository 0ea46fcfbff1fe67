/** @file Settings of the logic grader: how the solver works, and what the proxies of C4 and C5 ask for. */

import { z } from 'zod'

export const solverSchema = z.strictObject({
  timeoutMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .default(200)
    .describe(
      'Longest time of Z3 for each of the two checks of a step. What Z3 leaves open is decided by the built-in solver, if it can.',
    ),
  labelTimeoutMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .default(3000)
    .describe('Longest time of Z3 for the label of a problem, which is decided only once.'),
  groundWork: z
    .int()
    .min(1)
    .default(5_000_000)
    .describe(
      'Most work of the built-in solver on one question, counted in nodes, literals and copies instead of time, so that a busy machine changes no verdict. What stays open is `unknown`.',
    ),
  uniqueNames: z
    .boolean()
    .default(false)
    .describe('Take different constants for different things. FOLIO does not.'),
  memory: z
    .int()
    .min(0)
    .default(200_000)
    .describe('Most verdicts that are remembered; the least recently used are forgotten first.'),
})
export type SolverSettings = z.output<typeof solverSchema>

/** The paper names these heuristics without giving them; the values are ours. */
export const proxySchema = z.strictObject({
  termShare: z
    .number()
    .positive()
    .max(1)
    .default(0.5)
    .describe('C4: a premise counts as used if the reasoning has at least this share of its key terms.'),
  stepShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.6)
    .describe('C5: share of the score that the number of steps gives; the number of words gives the rest.'),
  fullSteps: z.int().min(1).default(3).describe('C5: number of steps that earns the whole of its share.'),
  fullWords: z.int().min(1).default(80).describe('C5: number of words that earns the whole of its share.'),
})
export type ProxySettings = z.output<typeof proxySchema>

export const DEFAULT_PROXIES: ProxySettings = proxySchema.parse({})

/** What a training run may set: its problems bring their labels along. */
export const logicGraderSchema = z.strictObject({
  solver: solverSchema.omit({ labelTimeoutMs: true }).prefault({}).describe('Limits of the solver.'),
  proxies: proxySchema
    .prefault({})
    .describe('Proxies for C4 and C5 in training, which only a judge could decide.'),
})
