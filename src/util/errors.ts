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

/** Command-line usage: exit code 2. */
export class UsageError extends GradusError {}

/** NaN or infinity where a finite number is needed: training must stop, loudly. */
export class NumericError extends GradusError {}

/** Shapes, ranks or types of tensors that do not go together. */
export class ShapeError extends GradusError {}
