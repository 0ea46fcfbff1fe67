/** @file Tasks whose thinking is judged beside the answer: how a response parts in two, and what judges are told of it. */

import type { TokenIds } from '../rl/datum.ts'
import type { Criterion, Rubric, Verdict } from '../rubric/criterion.ts'
import type { ScoredResponse } from './scored-response.ts'

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

const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * Parts a response at its first `</think>`; an opening tag at its start is left out, and is often not there, because chat
 * templates open the tag in the prompt (RiT section 3; spec 3.1).
 */
export const partThinking = (text: string): ThoughtResponse => {
  const end = text.indexOf(CLOSE)
  const head = (end < 0 ? text : text.slice(0, end)).trimStart()
  const thinking = (head.startsWith(OPEN) ? head.slice(OPEN.length) : head).trim()
  return { text, thinking, answer: end < 0 ? '' : text.slice(end + CLOSE.length).trim(), closed: end >= 0 }
}

/** A response to be graded or judged; `key` names the rollout of a training run. */
export interface ThoughtItem<Problem> {
  problem: Problem
  response: ThoughtResponse
  key?: string
}

/** What a policy that thinks is given, and what its answers are worth. */
export interface ThinkingTask<Problem> {
  /** Names a problem in rollout rows and evaluations. */
  name(problem: Problem): string
  /** The question as a person reads it, and as judges are told it. */
  question(problem: Problem): string
  /** @param hints criteria that are told to the policy: those with positive points to be met, the others to be avoided */
  prompt(problem: Problem, hints?: readonly Criterion[]): TokenIds
  read(tokens: ArrayLike<number>): ThoughtResponse
  /** A sample ends with one of these; the model's own where absent. */
  stopTokens?: readonly number[]
  /**
   * Scores of the answers, in [0, 1]: 0 or 1 where an answer is right or wrong, a rubric's score where it is not. A response
   * whose thinking never ended has no answer, and scores 0.
   */
  gradeAnswers(items: readonly ThoughtItem<Problem>[]): Promise<ScoredResponse[]>
}

/** A task whose policy also writes rubrics for its own thinking. */
export interface RubricatorTask<Problem> extends ThinkingTask<Problem> {
  /** The response without its final answer, as rubricator and verifier see it where that is masked. */
  masked(problem: Problem, response: ThoughtResponse): ThoughtResponse
  /** Asks for a rubric, given one response to the question. */
  rubricatorPrompt(problem: Problem, response: ThoughtResponse): TokenIds
  /** What a rubricator wrote, as text. */
  rubricatorText(tokens: ArrayLike<number>): string
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
