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
export type ToolCallOutcome = (typeof CALL_OUTCOMES)[number]

/** What is said to a call. */
export interface ToolOutput {
  outcome: ToolCallOutcome
  /** Safe to be put before a model: without control characters, and no tag in it can be taken for one. */
  text: string
  /** Passages that are in the text, as they may be cited. */
  snippets: readonly Snippet[]
}

/** Whether a call reached its tool, whatever came of it. */
export const reachedTool = (outcome: ToolCallOutcome): boolean =>
  outcome === 'output' || outcome === 'failed' || outcome === 'timeout'

/** How what was said to a call that had no output begins, by what went wrong (`ToolBox`). */
const SAID: readonly (readonly [ToolCallOutcome, RegExp])[] = [
  ['unreadable', /^This call cannot be used/],
  ['unknown-tool', /^There is no tool /],
  ['bad-arguments', /^The arguments of \S+ do not fit/],
  ['timeout', /^\S+ did not answer within /],
]

/** What was said to a turn, as what: what a call came to, or a reminder of a rule. */
export type SaidKind = ToolCallOutcome | 'reminder'

/** Of what was said, the frame of its template comes first; it is short. */
const FRAME_CHARACTERS = 200
const TAGGED = /<tool_output(?: error="([a-z-]+)")?>\s*/
const TROUBLE = /^(Error|Not accepted): /m
/** What a frame ends with: a tag, or whoever speaks. */
const FRAME_END = /(?:^|>|\b(?:user|tool|ipython|observation))\s*$/

/**
 * What became of a turn, from the text that stands in the rollout behind it: rollouts that were sampled before a resume have
 * nothing but that. A value for people; no reward depends on it.
 */
export const saidKind = (said: string): SaidKind => {
  const head = said.slice(0, FRAME_CHARACTERS)
  const tag = TAGGED.exec(head)
  if (tag?.[1] !== undefined) return tag[1] as ToolCallOutcome
  const own = tag ? said.slice(tag.index + tag[0].length) : said
  const trouble = TROUBLE.exec(own.slice(0, FRAME_CHARACTERS))
  if (trouble === null) return 'output'
  const isFirst = tag === null ? FRAME_END.test(own.slice(0, trouble.index)) : trouble.index === 0
  if (!isFirst) return 'output'
  if (trouble[1] === 'Not accepted') return 'reminder'
  const words = own.slice(trouble.index + trouble[0].length)
  return SAID.find(([, begins]) => begins.test(words))?.[0] ?? 'failed'
}
