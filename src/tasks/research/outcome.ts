/** @file How a call of a tool ended, and what the agent is told of it. */

import type { Snippet } from '../../tools/tool.ts'

/**
 * How a call ended: `output`; `failed`, the tool could not; `timeout`, it was too slow; `unknown-tool`; `bad-arguments`, they do not
 * fit its schema; `unreadable`, the call could not be read.
 */
export const CALL_OUTCOMES = [
  'output',
  'failed',
  'timeout',
  'unknown-tool',
  'bad-arguments',
  'unreadable',
] as const
export type CallOutcome = (typeof CALL_OUTCOMES)[number]

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
