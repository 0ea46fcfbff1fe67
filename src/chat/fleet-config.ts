/** @file Settings of a fleet of judges, as a configuration file writes them. */

import { z } from 'zod'
import { positive } from '../util/setting-shapes.ts'
import { BREAKER_DEFAULTS, breakerSchema } from './breaker.ts'
import { priceSchema } from './ledger.ts'
import { openAiSchema } from './openai-config.ts'
import { REFUSALS_IN_A_ROW } from './refusals.ts'

/** An endpoint with its limits. */
export const endpointSchema = openAiSchema.omit({ connections: true }).extend({
  name: z.string().min(1).optional().describe('How it is called in statistics; the URL where not given.'),
  weight: positive.default(1).describe('Share of the requests that it gets when all endpoints are free.'),
  concurrency: z.int().positive().default(64).describe('Most requests at a time.'),
  requestsPerMinute: positive.optional().describe('Most requests a minute; absent: no limit.'),
  tokensPerMinute: positive.optional().describe('Prompt and completion together.'),
  price: priceSchema.optional().describe('Price of tokens, for the ledger and plans.'),
})

export const fleetSchema = z.strictObject({
  endpoints: z
    .array(endpointSchema)
    .min(1)
    .describe('Servers of the same judge; requests go to one that is free.'),
  name: z
    .string()
    .min(1)
    .optional()
    .describe("Name of the model as the verdict cache knows it; the models' names joined where not given."),
  retries: z.int().nonnegative().default(5).describe('Further attempts after the first that failed.'),
  deadlineMs: positive
    .default(600_000)
    .describe('For a request with all its attempts and its time in the queue.'),
  backoffMs: positive
    .default(250)
    .describe('Longest random wait before the second attempt; doubles with each further one.'),
  longestBackoffMs: positive.default(20_000).describe('Longest wait before a further attempt.'),
  longestRetryAfterMs: positive
    .default(60_000)
    .describe('A server that asks to be left alone for longer (`retry-after`) is tried again after this.'),
  refusalsInARow: z
    .int()
    .positive()
    .default(REFUSALS_IN_A_ROW)
    .describe(
      'An endpoint that has answered and then refuses as every call would be refused (401, 402, 403, 404, 405, a redirection) is tried again; after so many in a row the setup is taken to be wrong, and what asks is stopped.',
    ),
  outageMs: positive.default(180_000).describe('How long requests wait while no endpoint works.'),
  startupMs: positive
    .default(15_000)
    .describe('The same for endpoints that never answered: more likely a wrong address than a restart.'),
  breaker: breakerSchema
    .default(BREAKER_DEFAULTS)
    .describe('When a failing endpoint is left alone, and for how long.'),
})

export type EndpointOptions = z.input<typeof endpointSchema>
export type EndpointSettings = z.output<typeof endpointSchema>
export type FleetOptions = z.input<typeof fleetSchema>
export type FleetSettings = z.output<typeof fleetSchema>
