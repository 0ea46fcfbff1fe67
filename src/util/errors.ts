/** @file Errors that a user can act on: each says what was expected, what came, where, and what to do. */

/** Base of every error that Gradus throws on purpose. `hint` is the next thing to try. */
export class GradusError extends Error {
  readonly hint?: string

  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(options.hint ? `${message}; ${options.hint}` : message, { cause: options.cause })
    this.name = new.target.name
    this.hint = options.hint
  }
}

/** A configuration file or `--set` value that cannot be used. */
export class ConfigError extends GradusError {}

/** A data file, prompt or rollout that does not have the shape it needs. */
export class DataError extends GradusError {}

/** A checkpoint, safetensors file or tokenizer that is missing, broken or does not fit. */
export class CheckpointError extends GradusError {}

/** There is no more memory, or this process may have no more. */
export class MemoryError extends GradusError {}

/** Command-line usage: exit code 2. */
export class UsageError extends GradusError {}

/** NaN or infinity where a finite number is needed: training must stop, loudly. */
export class NumericError extends GradusError {}

/** Shapes, ranks or types of tensors that do not go together. */
export class ShapeError extends GradusError {}

/**
 * Why a judge gave no answer. `rate-limit`, `server`, `unreachable` and `timeout` may pass by themselves; `malformed` is an
 * answer that is no chat completion, `refused` one that the provider's filter withheld, `bad-request` one that the server
 * would not take (for example a prompt that is too long); `auth` and `config` (no such model, no such path) fail every
 * call alike, so that a run stops on them; `cancelled` is the caller's own signal.
 */
export type JudgeErrorKind =
  | 'timeout'
  | 'rate-limit'
  | 'server'
  | 'unreachable'
  | 'malformed'
  | 'refused'
  | 'bad-request'
  | 'auth'
  | 'config'
  | 'cancelled'

const PASSING: ReadonlySet<JudgeErrorKind> = new Set([
  'timeout',
  'rate-limit',
  'server',
  'unreachable',
  'malformed',
])

/** No answer from a judge, after all attempts that its transport makes. */
export class JudgeError extends GradusError {
  readonly kind: JudgeErrorKind
  /** HTTP status, where there was one. */
  readonly status?: number
  /** How long the server asks to wait before the next attempt. */
  readonly retryAfterMs?: number
  /** Another attempt of the same request may succeed. */
  readonly retryable: boolean
  /** Every call will fail like this one: the setup is wrong, not this request. */
  readonly fatal: boolean
  /** Attempts that were made. */
  readonly attempts: number

  constructor(
    kind: JudgeErrorKind,
    message: string,
    options: {
      hint?: string
      cause?: unknown
      status?: number
      retryAfterMs?: number
      /** Default: whether errors of this kind pass by themselves. */
      retryable?: boolean
      /** Default: whether errors of this kind (`auth`, `config`) are every call's. */
      fatal?: boolean
      /** Default 1. */
      attempts?: number
    } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
    this.retryable = options.retryable ?? PASSING.has(kind)
    this.fatal = options.fatal ?? (kind === 'auth' || kind === 'config')
    this.attempts = options.attempts ?? 1
  }
}
