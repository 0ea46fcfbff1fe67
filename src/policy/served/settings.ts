/** @file How an inference server is named in a configuration. */

import { z } from 'zod'
import { keptAddressSchema, keyVariableSchema } from '../../chat/credentials.ts'
import { natural } from '../../util/setting-shapes.ts'
import { DIALECTS } from './dialect-names.ts'

export const servedSchema = z.strictObject({
  /** `http://host:8000/v1`; `#NAME` at its end is the model. */
  url: keptAddressSchema,
  /** What the server calls the model; null: what stands in the address, else the only one that it has. */
  model: z.string().min(1).nullable().default(null),
  /** Null: what the server says that it is. */
  dialect: z.enum(DIALECTS).nullable().default(null),
  /** Name of the environment variable that holds the key. */
  apiKeyEnv: keyVariableSchema.optional(),
  headers: z.record(z.string(), z.string()).default({}),
  /** Requests at a time; a request is a group of samples, of SGLang with seeds one sample. */
  concurrency: natural.default(64),
  /** For one exchange: until the last token of the longest sample of a request is there. */
  attemptTimeoutMs: z.number().positive().default(600_000),
  /** How long a server that is gone, busy or failing is asked again. */
  patienceMs: z.number().min(0).default(120_000),
  /** First wait before a repetition; it doubles up to 30 s. */
  backoffMs: z.number().positive().default(500),
  maxResponseBytes: z
    .number()
    .positive()
    .default(256 * 1024 * 1024),
  /** Send seeds. SGLang follows them only with --enable-deterministic-inference. Null: to all but SGLang. */
  sendSeed: z.boolean().nullable().default(null),
})

export type ServedOptions = z.input<typeof servedSchema>
export type ServedSettings = z.output<typeof servedSchema>
