/**
 * @file Messages of the OpenEnv protocol, as its Python server writes and reads them (github.com/meta-pytorch/OpenEnv, package
 * openenv-core 0.3.0: core/env_server/types.py and the endpoint `/ws` in http_server.py).
 */

import { z } from 'zod'
import type { GradusError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { parseWith } from '../../util/schema.ts'
import type { Secrets } from '../secrets.ts'
import { ToolError } from '../tool.ts'

const object = z.record(z.string(), z.unknown())

/** What `reset` and `step` are answered with. A reward may be missing, or a yes or no. */
const stepResultSchema = z.object({
  observation: object,
  reward: z
    .union([z.number(), z.boolean()])
    .nullish()
    .transform(value => (value === undefined || value === null ? null : Number(value))),
  done: z.boolean().default(false),
})
export type StepResult = z.output<typeof stepResultSchema>

/** What the server sends. */
const answerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('observation'), data: stepResultSchema }),
  z.object({ type: z.literal('state'), data: object }),
  z.object({
    type: z.literal('error'),
    data: z.object({ message: z.string().default('no reason given'), code: z.string().default('UNKNOWN') }),
  }),
])
export type OpenEnvAnswer = z.output<typeof answerSchema>

/** What the client sends; the server answers each but `close` with one message, in order. */
export type OpenEnvRequest =
  | { type: 'reset'; data: Readonly<Record<string, unknown>> }
  | { type: 'step'; data: Readonly<Record<string, unknown>> }
  | { type: 'state' }
  | { type: 'close' }

/** `GET /schema`: JSON Schemas of what is sent and received. */
export const schemasSchema = z.object({ action: object, observation: object, state: object })
export type EnvironmentSchemas = z.output<typeof schemasSchema>

/** `parseWith` makes errors of one class by its message; these are of a kind as well. */
export class MalformedError extends ToolError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('malformed', message, options)
  }
}

/** JSON without the secrets that a server repeats: what it says is kept. @throws MalformedError for what is no JSON: `NaN` is none */
export const readAnswerJson = (text: string, url: string, secrets: Secrets): unknown => {
  try {
    return secrets.hideIn(parseJson(text, url))
  } catch (error) {
    throw new MalformedError(secrets.hide((error as GradusError).message))
  }
}

/** A message of the server. @throws ToolError `malformed` for anything else */
export const readOpenEnvAnswer = (text: string, url: string, secrets: Secrets) =>
  parseWith(answerSchema, readAnswerJson(text, url, secrets), `${url}: answer`, MalformedError)
