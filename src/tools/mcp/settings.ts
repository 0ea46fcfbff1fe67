/** @file Settings of a server of the Model Context Protocol, apart from the SDK, which is loaded only where one is used. */

import { z } from 'zod'
import { valueSchema } from '../secrets.ts'

const positive = z.number().positive()

/** A server as a configuration writes it: a command to start, or the address of one that runs. */
export const mcpToolsSchema = z
  .strictObject({
    kind: z.literal('mcp'),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).default([]),
    env: z
      .array(z.string().min(1))
      .default([])
      .describe('Names of the environment variables that the server gets beside PATH, HOME and the like.'),
    cwd: z.string().min(1).optional(),
    url: z.string().min(1).optional().describe('Streamable HTTP.'),
    headers: z.record(z.string(), valueSchema).default({}),
    only: z.array(z.string().min(1)).min(1).optional().describe('Only these of its tools.'),
    prefix: z.string().default('').describe('Stands before the names of its tools.'),
    connectTimeoutMs: positive.default(30_000),
    timeoutMs: positive.default(30_000).describe('For a call.'),
    maxAnswerBytes: z
      .int()
      .positive()
      .default(1024 * 1024),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    message: 'a command to start or a url, one of the two; give one',
  })
export type McpToolsSettings = z.output<typeof mcpToolsSchema>
