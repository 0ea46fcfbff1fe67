/** @file What a tool is: something with a name, arguments by a JSON schema, and an answer in text. */

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

export interface Tool {
  /** Letters, digits, `_`, `-` and `.`, at most 64. */
  name: string
  /** What it does and when to use it, for the agent. */
  description: string
  parameters: JsonSchema
  /**
   * Answers a call. What it throws is told to the agent, who may try otherwise.
   * @param options.signal aborted when the deadline is over or nobody waits any more: let go what the call holds
   */
  call(args: ToolArguments, options: { signal: AbortSignal }): Promise<ToolResult>
  /** Lets go what the tool holds: a connection, a process. */
  close?(): Promise<void> | void
}

/**
 * How a call ended: `output`; `failed`, the tool could not; `timeout`, it was too slow; `unknown-tool`; `bad-arguments`, they do not
 * fit its schema; `unreadable`, the call could not be read.
 */
export type CallOutcome = 'output' | 'failed' | 'timeout' | 'unknown-tool' | 'bad-arguments' | 'unreadable'

/** What is said to a call. */
export interface Observation {
  outcome: CallOutcome
  /** Safe to be put before a model: without control characters, and no tag in it can be taken for one. */
  text: string
  /** Passages that are in the text, as they may be cited. */
  snippets: readonly Snippet[]
}

/** Whether a call reached its tool, whatever came of it. */
export const reachedTool = (outcome: CallOutcome): boolean =>
  outcome === 'output' || outcome === 'failed' || outcome === 'timeout'
