/** @file An endpoint as a configuration file writes it. */

import { z } from 'zod'
import { writtenOut } from '../util/secret-words.ts'
import { positive } from '../util/setting-shapes.ts'
import { keptAddressSchema, keyVariableSchema } from './credentials.ts'
import { MAX_TOKENS_FIELDS, STRUCTURED_OUTPUT_DEFAULT, STRUCTURED_OUTPUTS } from './request.ts'

/** One endpoint as a configuration file writes it. */
export const openAiSchema = z.strictObject({
  url: keptAddressSchema.describe(
    'Address of the server: `http://host:8000`, `http://host:8000/v1` or the full path.',
  ),
  model: z.string().min(1).describe("The server's name for the model."),
  apiKeyEnv: keyVariableSchema.optional().describe('Name of the environment variable that holds the key.'),
  apiKeyHeader: z
    .string()
    .min(1)
    .default('authorization')
    .describe(
      'Header that carries the key. `authorization` carries `Bearer KEY`, any other one the key alone.',
    ),
  headers: z
    .record(z.string(), z.string())
    .refine(values => writtenOut(values) === undefined, {
      error: ({ input }) =>
        `no secret written out, as that of ${writtenOut(input)}, which would be kept with the run; set apiKeyEnv to the environment variable that holds it, and apiKeyHeader where the header is not Authorization`,
    })
    .default({})
    .describe('Further HTTP headers. For a secret use `apiKeyEnv`.'),
  structuredOutput: z
    .enum(STRUCTURED_OUTPUTS)
    .default(STRUCTURED_OUTPUT_DEFAULT)
    .describe(
      'How the server is asked for JSON, from the strictest way to the loosest. If the server refuses one way, the next is used.',
    ),
  maxTokensField: z
    .enum(MAX_TOKENS_FIELDS)
    .default('max_tokens')
    .describe("The server's name for the limit of tokens. If the server refuses it, the other name is used."),
  sendTopK: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Whether `top_k` is sent, which vLLM and SGLang have. true: also the value of a preset; false: never; null: only a value of `ask.topK`, and not once the server has refused it.',
    ),
  extraBody: z
    .record(z.string(), z.unknown())
    .refine(fields => writtenOut(fields) === undefined, {
      error: ({ input }) =>
        `no secret written out, as that of ${writtenOut(input)}, which would be kept with the run; set apiKeyEnv to the environment variable that holds it`,
    })
    .default({})
    .describe(
      'Further fields of the request body, for example `{chat_template_kwargs: {enable_thinking: false}}`.',
    ),
  attemptTimeoutMs: positive
    .default(120_000)
    .describe('Longest time of one attempt, with the wait for a connection.'),
  maxResponseBytes: positive.default(8 * 1024 * 1024).describe('Largest response that is accepted.'),
  connections: z
    .int()
    .positive()
    .default(1024)
    .describe('Most open connections; further requests wait for a free one.'),
})

export type OpenAiOptions = z.input<typeof openAiSchema>
