/** @file Where an OpenEnv server is, and how long and how much it may answer. */

import { z } from 'zod'
import { valuesSchema } from '../secrets.ts'

/** Addresses are kept in the run's folder and stand in errors; secrets never do. */
const isAddressAlone = (text: string): boolean => {
  if (!URL.canParse(text)) return true
  const { username, password, search, hash } = new URL(text)
  return username === '' && password === '' && search === '' && hash === ''
}

export const openEnvShape = {
  url: z
    .url({ protocol: /^(?:https?|wss?)$/, error: 'an address such as http://127.0.0.1:8000' })
    .refine(isAddressAlone, {
      error:
        'an address without a name, a password or a query in it; headers hold secrets by the name of an environment variable',
    })
    .describe('Address of the OpenEnv server: `http://127.0.0.1:8000`.'),
  headers: valuesSchema
    .default({})
    .describe('Headers of every request: texts, or `{env: NAME, prefix: "Bearer "}`.'),
  connectTimeoutMs: z
    .int()
    .positive()
    .max(600_000)
    .default(10_000)
    .describe('Longest wait for a connection.'),
  timeoutMs: z
    .int()
    .positive()
    .max(3_600_000)
    .default(60_000)
    .describe('Longest wait for an answer to reset, step or state.'),
  maxMessageBytes: z
    .int()
    .positive()
    .default(4 * 1024 * 1024)
    .describe('Most bytes of one answer.'),
  attempts: z
    .int()
    .min(1)
    .max(20)
    .default(5)
    .describe(
      'Attempts at opening a session and resetting it. A step is never repeated: it may have done something.',
    ),
}
export const openEnvSchema = z.strictObject(openEnvShape)
export type OpenEnvSettings = z.output<typeof openEnvSchema>
