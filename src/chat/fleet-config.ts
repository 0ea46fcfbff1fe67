/** @file Settings of a fleet of judges, as a configuration file writes them. */

import { z } from 'zod'
import { positive } from '../util/setting-shapes.ts'
import { BREAKER_DEFAULTS, breakerSchema } from './breaker.ts'
import { priceSchema } from './ledger.ts'
import { openAiSchema } from './openai-config.ts'
import { REFUSALS_IN_A_ROW } from './refusals.ts'

/** An endpoint with its limits. */
export const endpointSchema = openAiSchema.omit({ connections: true }).extend({
  name: z.string().min(1).optional().describe('Name of the endpoint in statistics; absent: its URL.'),
  weight: positive
    .default(1)
    .describe(
      "Share of the requests, relative to the other endpoints' weights, while several endpoints are free.",
    ),
  concurrency: z.int().positive().default(64).describe('Most requests at a time.'),
  requestsPerMinute: positive.optional().describe('Most requests a minute; absent: no limit.'),
  tokensPerMinute: positive
    .optional()
    .describe('Most tokens a minute, of prompts and completions together; absent: no limit.'),
  price: priceSchema.optional().describe('Prices of tokens, for recorded costs and for plans.'),
})

export const fleetSchema = z.strictObject({
  endpoints: z
    .array(endpointSchema)
    .min(1)
    .describe('Servers that the requests go to; each request goes to one that is free.'),
  name: z
    .string()
    .min(1)
    .optional()
    .describe("Name of the model in the verdict cache; absent: the names of the endpoints' models, joined."),
  retries: z.int().nonnegative().default(5).describe('Most further attempts of a request that failed.'),
  deadlineMs: positive
    .default(600_000)
    .describe('Longest time of a request, with all its attempts and its time in the queue.'),
  backoffMs: positive
    .default(250)
    .describe('Longest random wait before the second attempt. It doubles with each further attempt.'),
  longestBackoffMs: positive.default(20_000).describe('Longest random wait before any further attempt.'),
  longestRetryAfterMs: positive
    .default(60_000)
    .describe(
      'Longest pause that a server may ask for by `retry-after`. If it asks for more, it is tried again after this time.',
    ),
  refusalsInARow: z
    .int()
    .positive()
    .default(REFUSALS_IN_A_ROW)
    .describe(
      'Refusals in a row (status 401, 402, 403, 404, 405, or a redirection) after which an endpoint counts as set up wrongly, and a call fails unless another endpoint takes it. For an endpoint that never answered one refusal is enough.',
    ),
  outageMs: positive.default(180_000).describe('Longest time that requests wait while no endpoint works.'),
  startupMs: positive
    .default(15_000)
    .describe(
      'The same limit while no endpoint has ever answered: a wrong address is then more likely than a restart.',
    ),
  breaker: breakerSchema
    .default(BREAKER_DEFAULTS)
    .describe('When a failing endpoint is paused, and for how long.'),
})

export type EndpointOptions = z.input<typeof endpointSchema>
export type EndpointSettings = z.output<typeof endpointSchema>
export type FleetOptions = z.input<typeof fleetSchema>
export type FleetSettings = z.output<typeof fleetSchema>
