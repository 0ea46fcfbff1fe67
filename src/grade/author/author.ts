/**
 * @file What writes a rubric from a task and its traces: a chat model that proposes and revises, or a choice from a bank
 * of predicates by how well they tell good traces from bad. Both go through the same rounds.
 */

import type { ChatUsage } from '../../chat/chat-model.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { aboutAnswer } from '../../rubric/lint-about.ts'
import { DataError } from '../../util/errors.ts'
import type { Grader } from '../grader.ts'
import { type BankDraftOptions, type CriterionCandidate, rubricFromBank } from './from-bank.ts'
import { type RefineOptions, refineRubric } from './refine.ts'
import type { RubricSubject } from './task-prompt.ts'

/** What a round named: a sentence each of a chat model, an id each from a bank. */
export interface AuthorRound {
  missing: string[]
  redundant: string[]
  ambiguous: string[]
}

export interface WrittenRubric {
  rubric: Rubric
  rounds: AuthorRound[]
  /** As in `Refined`; a bank is never unusable. */
  stopped: 'no-change' | 'rounds' | 'unusable'
  /** Why the last answer could not be used. */
  problem?: string
  /** Of all pairs of a good and a bad trace, those that the rubric puts in order; null where no traces were judged. */
  separated: number | null
  /** Null where no model was asked. */
  usage: ChatUsage | null
}

export interface RubricAuthor {
  /** @throws DataError for a task from which no rubric can be written; JudgeError when a model gives no answer. */
  write(
    task: RubricSubject,
    options?: { onRound?: (round: AuthorRound, index: number) => void },
  ): Promise<WrittenRubric>
}

export interface ChatAuthorOptions extends Omit<RefineOptions, 'onRound' | 'rubric'> {
  /** Traces of each kind that the model is shown, the first ones. Default 3. */
  traces?: number
}

/** Writes with a chat model: a first rubric, then up to three rounds that name faults and revise. */
export const chatAuthor = ({ traces = 3, ...options }: ChatAuthorOptions): RubricAuthor => ({
  async write(task, { onRound } = {}) {
    const shown = {
      ...task,
      positives: task.positives.slice(0, traces),
      negatives: task.negatives.slice(0, traces),
    }
    return { ...(await refineRubric(shown, { ...options, onRound })), separated: null }
  },
})

export interface BankAuthorOptions extends BankDraftOptions {
  /** What may become a criterion. Its points do not count: they come from the traces. */
  bank: readonly Criterion[]
  /** Judges every trace by every criterion of the bank. */
  grader: Grader
  /** Further judgements of each trace, where the grader may waver. Default 0: rules do not. */
  repeats?: number
  about?: Rubric['about']
  signal?: AbortSignal
}

/** Writes from a bank of predicates, without a model unless the grader has one. @throws DataError for a bank about the answer */
export const bankAuthor = (options: BankAuthorOptions): RubricAuthor => {
  const { bank, about } = options
  const stranger = about === 'thinking' ? bank.find(({ text }) => aboutAnswer(text)?.isOutcome) : undefined
  if (stranger)
    throw new DataError(
      `bank: ${stranger.id}: expected a criterion about the thinking, got one about the answer (${JSON.stringify(stranger.text)}); leave it out`,
    )
  return {
    async write(task, { onRound } = {}) {
      const { positives, negatives } = task
      if (positives.length === 0 || negatives.length === 0)
        throw new DataError(
          `rubric author: expected good and bad traces to tell apart, got ${positives.length} good and ${negatives.length} bad; give both`,
        )
      const candidates = await judged(task, options)
      const good = [...positives.map(() => true), ...negatives.map(() => false)]
      const { rubric, ...found } = rubricFromBank(candidates, good, options)
      if (rubric.criteria.length === 0)
        throw new DataError(
          `rubric author: none of ${bank.length} criteria of the bank tells good traces from bad ones; add others, or more traces`,
        )
      found.rounds.forEach((round, index) => {
        onRound?.(round, index)
      })
      return { ...found, rubric: { ...(about && { about }), ...rubric }, usage: null }
    },
  }
}

/** The bank with what the grader says of every trace, good ones first. */
const judged = async (
  { task, query, positives, negatives }: RubricSubject,
  { bank, grader, repeats = 0, signal }: BankAuthorOptions,
): Promise<CriterionCandidate[]> => {
  const traces = [...positives, ...negatives]
  const prompt = [{ role: 'user' as const, content: query ?? task }]
  const look = async (sampleIndex: number) => {
    const verdicts = await Promise.all(
      traces.map(response => grader.grade({ prompt, response }, bank, { signal, sampleIndex })),
    )
    return bank.map((_, c) => verdicts.map(own => own[c].met))
  }
  const met = await look(0)
  const again: (boolean | null)[][][] = []
  for (let repeat = 1; repeat <= repeats; repeat++) again.push(await look(repeat))
  return bank.map(({ id, text, verifier }, c) => ({
    id,
    text,
    ...(verifier && { verifier }),
    met: met[c],
    ...(again.length > 0 && { repeats: again.map(look => look[c]) }),
  }))
}
