/** @file A model of embeddings as a configuration file writes it. */

import { z } from 'zod'
import { endpointSchema, fleetSchema } from './fleet-config.ts'

/** One endpoint of embeddings with its limits, as a configuration file writes it. */
export const embeddingSchema = endpointSchema
  .pick({
    url: true,
    model: true,
    apiKeyEnv: true,
    apiKeyHeader: true,
    headers: true,
    extraBody: true,
    attemptTimeoutMs: true,
    name: true,
    requestsPerMinute: true,
    tokensPerMinute: true,
    price: true,
  })
  .extend(
    fleetSchema.pick({
      retries: true,
      deadlineMs: true,
      backoffMs: true,
      longestBackoffMs: true,
      longestRetryAfterMs: true,
      refusalsInARow: true,
    }).shape,
  )
  .extend({
    /** Length of a vector; what the first answer has where not given. */
    dims: z
      .int()
      .positive()
      .optional()
      .describe('Length of a vector; absent: that of the first vector that the server returns.'),
    /** Ask the server for vectors of that length (`dimensions`), for models that can shorten theirs. */
    sendDims: z.boolean().default(false).describe('Ask the server for vectors of length `dims`.'),
    /** Texts of one request. */
    batch: z.int().positive().max(2048).default(64).describe('Most texts in one request.'),
    /** Requests at a time. */
    concurrency: z.int().positive().default(4).describe('Most requests at a time.'),
    /** Put before every text: models that were trained with an instruction need it. */
    prefix: z
      .string()
      .default('')
      .describe('Text put before every text that is embedded, as some models need it.'),
    /** Characters of a text that are embedded; what is beyond is cut. */
    maxTextCharacters: z
      .int()
      .positive()
      .default(8000)
      .describe('Most characters of a text that are embedded; the rest is cut.'),
    maxResponseBytes: z
      .number()
      .positive()
      .default(64 * 1024 * 1024)
      .describe('Largest response that is accepted.'),
  })
  .refine(({ dims, sendDims }) => !sendDims || dims !== undefined, {
    path: ['dims'],
    message: 'a length beside sendDims; say how long vectors are to be',
  })

export type EmbeddingOptions = z.input<typeof embeddingSchema>
