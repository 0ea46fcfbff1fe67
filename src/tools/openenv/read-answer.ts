/** @file What a server sends, read: JSON of the protocol, or an error of kind `malformed`. */

import type { GradusError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { parseWith } from '../../util/schema.ts'
import type { Secrets } from '../secrets.ts'
import { ToolError } from '../tool.ts'
import { answerSchema } from './messages.ts'

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
