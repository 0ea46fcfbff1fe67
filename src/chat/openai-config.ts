/** @file An endpoint as a configuration file writes it. */

import { z } from 'zod'
import { writtenOut } from '../util/secret-words.ts'
import { positive } from '../util/setting-shapes.ts'
import { keptAddressSchema, keyVariableSchema } from './credentials.ts'
import { MAX_TOKENS_FIELDS, STRUCTURED_OUTPUT_DEFAULT, STRUCTURED_OUTPUTS } from './request.ts'

/** One endpoint as a configuration file writes it. */
export const openAiSchema = z.strictObject({
  url: keptAddressSchema.describe('`http://host:8000`, `http://host:8000/v1` or the full path.'),
  model: z.string().min(1).describe('Name of the model, as the server knows it.'),
  apiKeyEnv: keyVariableSchema.optional().describe('Name of the environment variable that holds the key.'),
  apiKeyHeader: z
    .string()
    .min(1)
    .default('authorization')
    .describe('Header that carries the key; anything but `authorization` carries it bare.'),
  headers: z
    .record(z.string(), z.string())
    .refine(values => writtenOut(values) === undefined, {
      error: ({ input }) =>
        `no secret written out, as that of ${writtenOut(input)}, which would be kept with the run; set apiKeyEnv to the environment variable that holds it, and apiKeyHeader where the header is not Authorization`,
    })
    .default({})
    .describe('Further HTTP headers; a secret goes into apiKeyEnv.'),
  structuredOutput: z
    .enum(STRUCTURED_OUTPUTS)
    .default(STRUCTURED_OUTPUT_DEFAULT)
    .describe(
      'How JSON is asked for, strictest first; the next simpler way is taken where the server refuses.',
    ),
  maxTokensField: z
    .enum(MAX_TOKENS_FIELDS)
    .default('max_tokens')
    .describe('What the server calls the limit of tokens; the other name is tried where it is refused.'),
  sendTopK: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Whether the server has `top_k`, as vLLM and SGLang do: true also has presets send it; false never sends it; null sends what `ask.topK` says, and goes without where the server refuses it.',
    ),
  extraBody: z
    .record(z.string(), z.unknown())
    .refine(fields => writtenOut(fields) === undefined, {
      error: ({ input }) =>
        `no secret written out, as that of ${writtenOut(input)}, which would be kept with the run; set apiKeyEnv to the environment variable that holds it`,
    })
    .default({})
    .describe(
      'Further fields of the body, as the server wants them: `{chat_template_kwargs: {enable_thinking: false}}`.',
    ),
  attemptTimeoutMs: positive
    .default(120_000)
    .describe('For one exchange, waiting for a connection included.'),
  maxResponseBytes: positive.default(8 * 1024 * 1024).describe('Longest answer that is read.'),
  connections: z
    .int()
    .positive()
    .default(1024)
    .describe('Most connections; a request more waits for one to be free.'),
})

export type OpenAiOptions = z.input<typeof openAiSchema>
