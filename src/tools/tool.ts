/** @file What a tool is to an agent: a name, a description, a schema of its arguments, and a call that ends in text or in an error. */

import { GradusError } from '../util/errors.ts'

/** A JSON schema of a tool's arguments; an object's. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A passage that an answer may cite. */
export interface Snippet {
  /** What it is cited by; unique among what the tool can answer. */
  id: string
  title?: string
  text: string
}

/** What a tool answers. Passages may stand beside or in place of its text. */
export interface ToolResult {
  text: string
  snippets?: readonly Snippet[]
}

/** Arguments that fit the tool's schema. */
export type ToolArguments = Readonly<Record<string, unknown>>

export interface ToolCallOptions {
  /** Aborted when the deadline is over or nobody waits any more: let go what the call holds. */
  signal: AbortSignal
}

export interface Tool {
  /** Letters, digits, `_`, `-` and `.`, at most 64. */
  name: string
  /** What it does and when to use it, for the agent. */
  description: string
  parameters: JsonSchema
  /**
   * Answers a call. What it throws is told to the agent, who may try otherwise.
   * @throws ToolError where the call has no result; the tool can be called again
   */
  call(args: ToolArguments, options: ToolCallOptions): Promise<ToolResult>
  /** Lets go what the tool holds: a connection, a process. */
  close?(): Promise<void> | void
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
