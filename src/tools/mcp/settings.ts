/** @file Settings of a server of the Model Context Protocol, apart from the SDK, which is loaded only where one is used. */

import { z } from 'zod'
import { keyVariableSchema } from '../../chat/credentials.ts'
import { positive } from '../../util/setting-shapes.ts'
import { argumentsSchema, hasNoSecretInUrl, secretInUrl, valuesSchema } from '../secrets.ts'

/** A server as a configuration writes it: a command to start, or the address of one that runs. */
export const mcpToolsSchema = z
  .strictObject({
    kind: z.literal('mcp').describe('Which kind; each has keys of its own.'),
    command: z.string().min(1).optional().describe('Program of the server, started as a child process.'),
    args: argumentsSchema.default([]).describe('Its arguments.'),
    env: z
      .array(keyVariableSchema)
      .default([])
      .describe('Names of the environment variables that the server gets beside PATH, HOME and the like.'),
    cwd: z.string().min(1).optional().describe('Folder that it runs in.'),
    url: z.string().min(1).optional().describe('Streamable HTTP.'),
    headers: valuesSchema.default({}).describe('Further HTTP headers.'),
    only: z.array(z.string().min(1)).min(1).optional().describe('Only these of its tools.'),
    prefix: z.string().default('').describe('Stands before the names of its tools.'),
    connectTimeoutMs: positive.default(30_000).describe('Longest time until the server is ready.'),
    timeoutMs: positive.default(30_000).describe('For a call.'),
    maxAnswerBytes: z
      .int()
      .positive()
      .default(1024 * 1024)
      .describe('Longest answer that is read.'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: 'a command to start or a url, one of the two; give one',
  })
  .refine(hasNoSecretInUrl, { error: secretInUrl })
export type McpToolsSettings = z.output<typeof mcpToolsSchema>
