/** @file Settings of a server of the Model Context Protocol, apart from the SDK, which is loaded only where one is used. */

import { z } from 'zod'
import { keyVariableSchema } from '../../chat/credentials.ts'
import { positive } from '../../util/setting-shapes.ts'
import { argumentsSchema, hasNoSecretInUrl, secretInUrl, valuesSchema } from '../secrets.ts'

/** A server as a configuration writes it: a command to start, or the address of one that runs. */
export const mcpToolsSchema = z
  .strictObject({
    kind: z.literal('mcp').describe('The tools of an MCP server.'),
    command: z
      .string()
      .min(1)
      .optional()
      .describe('Program of the server, which is started as a child process.'),
    args: argumentsSchema.default([]).describe('Arguments of the program.'),
    env: z
      .array(keyVariableSchema)
      .default([])
      .describe('Names of environment variables that the server gets, beside PATH, HOME and the like.'),
    cwd: z.string().min(1).optional().describe('Folder that the program runs in.'),
    url: z
      .string()
      .min(1)
      .optional()
      .describe('Address of a server that runs already (Streamable HTTP), in place of `command`.'),
    headers: valuesSchema.default({}).describe('HTTP headers of every request.'),
    only: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("Names of the server's tools that may be called; absent: all."),
    prefix: z.string().default('').describe('Text put before the names of its tools.'),
    connectTimeoutMs: positive.default(30_000).describe('Longest wait until the server is ready.'),
    timeoutMs: positive.default(30_000).describe('Longest time of a call.'),
    maxAnswerBytes: z
      .int()
      .positive()
      .default(1024 * 1024)
      .describe('Largest answer that is accepted.'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: 'a command to start or a url, one of the two; give one',
  })
  .refine(hasNoSecretInUrl, { error: secretInUrl })
export type McpToolsSettings = z.output<typeof mcpToolsSchema>
