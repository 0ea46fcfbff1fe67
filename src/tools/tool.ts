/** @file What a tool is to an agent: a name, a description, a schema of its arguments, and a call that ends in text or in an error. */

import { GradusError } from '../util/errors.ts'

/** A piece of text that can be cited by its id. */
export interface Snippet {
  id: string
  title?: string
  text: string
}

export interface ToolResult {
  text: string
  snippets?: Snippet[]
}

export interface ToolCallOptions {
  /** Ends the call: nobody waits for it any more. */
  signal: AbortSignal
}

export interface Tool {
  /** Letters, digits, `_`, `-` and `.`, at most 64. */
  name: string
  description: string
  /** JSON Schema of an object. */
  parameters: Readonly<Record<string, unknown>>
  /** @throws ToolError where the call has no result; the tool can be called again */
  call(args: unknown, options: ToolCallOptions): Promise<ToolResult>
}

/** Names that chat formats and models can write. */
export const TOOL_NAME = /^[\w.-]{1,64}$/

/**
 * Why a call has no result. `arguments`: they do not fit; `timeout`: nothing within the deadline; `unreachable`: no connection, or it
 * broke; `refused`: the other side says no; `malformed`: an answer that cannot be read; `too-large`; `failed`: the tool itself reports
 * a failure; `cancelled`: by the caller's signal.
 */
export type ToolErrorKind =
  | 'arguments'
  | 'timeout'
  | 'unreachable'
  | 'refused'
  | 'malformed'
  | 'too-large'
  | 'failed'
  | 'cancelled'

/** A call of a tool that failed: an observation for the agent, never the end of a run. */
export class ToolError extends GradusError {
  readonly kind: ToolErrorKind

  constructor(kind: ToolErrorKind, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }
}
