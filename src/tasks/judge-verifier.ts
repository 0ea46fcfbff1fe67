/** @file A judge that reads thinking, as the verifier of a task: each rubric on each response, in one call where it is asked so. */

import type { GradeItem, Grader } from '../grade/grader.ts'
import type { Criterion, Verdict } from '../rubric/criterion.ts'
import type { Task } from './task.ts'
import type { ThinkingVerifier, VerifierItem } from './thinking.ts'

/** What the judge is shown of a response. */
export type JudgedPart = 'text' | 'thinking' | 'answer'

export interface JudgeVerifierOptions {
  /** `text`: all of it, as RLCER's verifier reads it; `thinking` or `answer`: that part alone, as RiT's judges do. Default `text`. */
  part?: JudgedPart
  /** Which repeat of its judgements this verifier gives; those of different repeats are never shared. Default 0. */
  sampleIndex?: number
  signal?: AbortSignal
}

/** Where there is no such part, no judge is asked: every merit is missing, and no flaw is avoided (RiT Eq. 4 to 8: no thinking earns nothing). */
const emptyVerdict = ({ id, points }: Criterion): Verdict => ({
  criterionId: id,
  met: points < 0,
  explanation: 'there is nothing to judge',
  source: 'rule',
})

/**
 * Asks a judge of one form about responses; nulls where it gave no usable answer, for all criteria of the call.
 * @example
 * const { scriptedGrader } = await import('gradus/grade')
 * const judge = scriptedGrader(({ response }) => response === 'The goal is 3 + 4.')
 * const verifier = new JudgeVerifier(judge, { question: String }, { part: 'thinking' })
 * const response = partThinking('<think>The goal is 3 + 4.</think>7')
 * const rubric = { criteria: [{ id: 'goal', text: 'Names the goal.', points: 3 }] }
 * const [[verdict]] = await verifier.verify([{ problem: '3 + 4?', response, rubric }])
 * verdict.met // true
 */
export class JudgeVerifier<Problem> implements ThinkingVerifier<Problem> {
  readonly #grader: Grader
  readonly #task: Pick<Task<Problem>, 'question'>
  readonly #options: JudgeVerifierOptions

  /** @param grader a judge whose form is that of the part: `RUBRIC_VERIFIER`, `THINKING_JUDGE`, `RESPONSE_JUDGE` */
  constructor(grader: Grader, task: Pick<Task<Problem>, 'question'>, options: JudgeVerifierOptions = {}) {
    this.#grader = grader
    this.#task = task
    this.#options = options
  }

  /** @throws the signal's reason when aborted; errors that every call would meet (no authorisation, no such model) */
  verify(items: readonly VerifierItem<Problem>[]): Promise<Verdict[][]> {
    return Promise.all(items.map(item => this.#verifyOne(item)))
  }

  async #verifyOne({ problem, response, rubric: { criteria } }: VerifierItem<Problem>): Promise<Verdict[]> {
    if (criteria.length === 0) return []
    const { part = 'text', signal, sampleIndex } = this.#options
    const shown = response[part]
    if (shown.trim() === '') return criteria.map(emptyVerdict)
    const item: GradeItem = {
      prompt: [{ role: 'user', content: this.#task.question(problem) }],
      response: shown,
    }
    return this.#grader.grade(item, criteria, { signal, sampleIndex })
  }
}
