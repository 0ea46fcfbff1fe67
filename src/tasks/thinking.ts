/** @file Thinking that is judged beside the answer: how a response parts in two, who decides criteria about it, who writes them. */

import type { TokenAutomaton } from '../model/automaton.ts'
import type { TokenIds } from '../rl/datum.ts'
import type { Criterion, Rubric, Verdict } from '../rubric/criterion.ts'

/** A response, parted at the end of its thinking. */
export interface ThoughtResponse {
  /** All of it, tags included. */
  text: string
  /** What stands before the end of thinking, without the tags; everything where thinking never ends. */
  thinking: string
  /** What stands after it; empty where thinking never ends. */
  answer: string
  /** Whether thinking was ended. */
  closed: boolean
}

/**
 * Parts a response at the first closing tag of its thinking; an opening tag at its start is left out, and is often not there, because
 * chat templates open the tag in the prompt (RiT Eq. 1).
 */
export const partThinking = (text: string, tag = 'think'): ThoughtResponse => {
  const [open, close] = [`<${tag}>`, `</${tag}>`]
  const end = text.indexOf(close)
  const head = (end < 0 ? text : text.slice(0, end)).trimStart()
  const thinking = (head.startsWith(open) ? head.slice(open.length) : head).trim()
  return { text, thinking, answer: end < 0 ? '' : text.slice(end + close.length).trim(), closed: end >= 0 }
}

/** A response to be judged; `key` names the rollout of a training run. */
export interface ThoughtItem<Problem> {
  problem: Problem
  response: ThoughtResponse
  key?: string
}

/** One rubric on one response. */
export interface VerifierItem<Problem> extends ThoughtItem<Problem> {
  rubric: Rubric
}

/** Decides whether thinking meets criteria: by executing them, by asking a model, by a model that has learnt to. */
export interface ThinkingVerifier<Problem> {
  /** Verdicts of each item, in the order of its criteria; null verdicts where nothing usable was said. */
  verify(items: readonly VerifierItem<Problem>[]): Promise<Verdict[][]>
}

/** What a task's thinking is, and what is known of good thinking. */
export interface Thinking<Problem> {
  /** A response whose thinking never ended has no answer, and is worth nothing. */
  read(tokens: ArrayLike<number>): ThoughtResponse
  /** Decides criteria by executing them; absent where only a model can. */
  exact?: ThinkingVerifier<Problem>
  /** Refuses criteria that `exact` cannot execute. @throws DataError */
  assertExecutes?(criterion: Criterion): void
  /** Whether each step is right, null where nobody knows; absent where thinking has no steps. */
  stepVerdicts?(items: readonly ThoughtItem<Problem>[]): Promise<(boolean | null)[][]>
  /** What good thinking is, by whoever made the task. */
  oracle?: Rubric
  /** Criteria that a rubric for thinking may be made of. */
  bank?: readonly Criterion[]
  /** What judges of answers look at that training never hears, where that is more than the task's rubric. */
  heldOutRubric?: Rubric
  /** Which criteria prompts can show as hints: lessons are made of these. Default `answers`. */
  hinted?: 'answers' | 'thinking' | 'both'
}

/** What a policy is given that writes rubrics for its own thinking. */
export interface Rubricator<Problem> {
  /** The response without its final answer, as rubricator and verifier see it where that is masked. */
  masked(problem: Problem, response: ThoughtResponse): ThoughtResponse
  /** Asks for a rubric, given one response to the question. */
  prompt(problem: Problem, response: ThoughtResponse): TokenIds
  /** What was written, as text. */
  text(tokens: ArrayLike<number>): string
  /** Rubrics of so many criteria that can be executed; absent where any text may be one. */
  automaton?(criteria: { min: number; max: number }): TokenAutomaton
  /**
   * How far meeting a criterion goes with being right in a population that training does not change, inverted for a
   * penalty; null for what nobody can tell, absent where nobody can tell of any.
   */
  worth?(criterion: Criterion): number | null
}
