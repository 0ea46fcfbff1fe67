/** @file Settings of the logic grader: how the solver works, and what the proxies of C4 and C5 ask for. */

import { z } from 'zod'

export const solverSchema = z.strictObject({
  timeoutMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .default(200)
    .describe(
      'Milliseconds that Z3 may take for each of the two checks of a step. What it leaves open the built-in solver decides where it can.',
    ),
  labelTimeoutMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .default(3000)
    .describe('The same for the label of a problem, which is decided once: worth waiting for.'),
  groundWork: z
    .int()
    .min(1)
    .default(5_000_000)
    .describe(
      'What the built-in solver may do on one question: nodes, literals and copies, counted, so that a busy machine does not change a verdict. It works in a thread of its own; what it leaves open is `unknown`.',
    ),
  uniqueNames: z
    .boolean()
    .default(false)
    .describe('Different constants are different things. FOLIO does not assume it.'),
  memory: z
    .int()
    .min(0)
    .default(200_000)
    .describe('Verdicts remembered; what was used longest ago goes first.'),
})
export type SolverSettings = z.output<typeof solverSchema>

/** The paper names these heuristics without giving them; the values are ours. */
export const proxySchema = z.strictObject({
  termShare: z
    .number()
    .positive()
    .max(1)
    .default(0.5)
    .describe('C4: a premise counts as used from this share of its key terms on.'),
  stepShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.6)
    .describe('C5: what steps earn of it; words earn the rest.'),
  fullSteps: z.int().min(1).default(3).describe('C5: steps from which on there is no more to earn.'),
  fullWords: z.int().min(1).default(80).describe('C5: words from which on there is no more to earn.'),
})
export type ProxySettings = z.output<typeof proxySchema>

export const DEFAULT_PROXIES: ProxySettings = proxySchema.parse({})

/** What a training run may set: its problems bring their labels along. */
export const logicGraderSchema = z.strictObject({
  solver: solverSchema.omit({ labelTimeoutMs: true }).prefault({}).describe('Limits of the solver.'),
  proxies: proxySchema.prefault({}).describe('Proxies of criteria that only a judge could see.'),
})
