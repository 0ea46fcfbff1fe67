/** @file What can go wrong between us and an inference server. */

import { GradusError, type JudgeError } from '../../util/errors.ts'

/**
 * `unreachable`, `timeout`, `busy` and `server` may pass by themselves and were waited for; `malformed` is an answer of another
 * shape, `no-tokens` one without token ids; `context` a prompt with its answer that is too long for the model, `model` a name that
 * is not served, `auth` a key that is not taken, `refused` anything else that the server would not do; `closed` is our own end.
 */
export type ServedErrorKind =
  | 'unreachable'
  | 'timeout'
  | 'busy'
  | 'server'
  | 'malformed'
  | 'no-tokens'
  | 'context'
  | 'model'
  | 'auth'
  | 'refused'
  | 'closed'

/** No answer from an inference server, or none that can be used. */
export class ServedError extends GradusError {
  readonly kind: ServedErrorKind
  /** HTTP status, where there was one. */
  readonly status?: number

  constructor(
    kind: ServedErrorKind,
    message: string,
    options: { hint?: string; cause?: unknown; status?: number } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.status = options.status
  }
}

/** Words in which vLLM, SGLang and this project's own server speak of a context that is too short. */
const ABOUT_CONTEXT =
  /context[_ ]length|maximum context|max_model_len|longer than the model|exceeds? the (model|max)|the context has/i

const HINTS: Record<ServedErrorKind, string | undefined> = {
  unreachable: 'check that the server runs and that the address is right',
  timeout: 'allow more time (attemptTimeoutMs), fewer requests at a time (concurrency) or fewer tokens',
  busy: 'ask for less at a time (concurrency), or wait longer (patienceMs)',
  server: 'look at its log',
  malformed: 'check that the address is that of an inference server, and that no proxy changes its answers',
  'no-tokens': undefined,
  context:
    'lower the number of new tokens, or start the server with a longer context (vLLM: --max-model-len, SGLang: --context-length)',
  model: 'name one that it serves, as in http://127.0.0.1:8000/v1#NAME',
  auth: 'name the environment variable that holds its key',
  refused: undefined,
  closed: undefined,
}

const kindOf = ({ kind, status, message }: JudgeError): ServedErrorKind => {
  if (kind === 'rate-limit') return 'busy'
  if (kind === 'cancelled') return 'closed'
  if (kind === 'unreachable' || kind === 'timeout' || kind === 'server' || kind === 'malformed') return kind
  if (kind === 'auth') return 'auth'
  if (ABOUT_CONTEXT.test(message)) return 'context'
  return status === 404 && /model/i.test(message) ? 'model' : 'refused'
}

/** A failure of the transport in the words of this folder. */
export const servedError = (error: JudgeError): ServedError => {
  const kind = kindOf(error)
  const said = error.hint === undefined ? error.message : error.message.slice(0, -`; ${error.hint}`.length)
  return new ServedError(kind, said, { hint: HINTS[kind] ?? error.hint, cause: error, status: error.status })
}

export const malformed = (where: string, expected: string, got: string): ServedError =>
  new ServedError('malformed', `${where}: expected ${expected}, got ${got}`, { hint: HINTS.malformed })
