/** @file A question for a model that thinks: one shape for rows of every public file. */

import type { Rubric } from '../../rubric/criterion.ts'

/**
 * How an answer is graded: `math` by equivalence, `choice` by its letter or text, `yes-no` by label words, `open` by
 * a rubric.
 */
export const QUESTION_KINDS = ['math', 'choice', 'yes-no', 'open'] as const
export type QuestionKind = (typeof QUESTION_KINDS)[number]

export interface Question {
  /** Unique in its file. */
  id: string
  /** The question alone, without options and without saying how to answer. */
  question: string
  kind: QuestionKind
  /** The right answer: as text; a letter from A on for a choice; `yes` or `no`. Absent where the question is open. */
  gold?: string
  /** Of a choice, in the order in which they are shown. */
  options?: readonly string[]
  /** What a good answer to an open question is. */
  rubric?: Rubric
  /** Words that the answer is to have (LongBench-Write). */
  requiredLength?: number
  /** What a split of a file is even in (RiT A.2): type and length, or domain and language. */
  stratum?: string
}

/** The letter of an option by its place, from A on. */
export const letterOf = (place: number): string => String.fromCharCode(65 + place)

/** The question as a person reads it and judges are told it: with its options, where it has some. */
export const questionText = ({ question, options }: Question): string =>
  options === undefined
    ? question
    : [question, '', ...options.map((option, place) => `${letterOf(place)}. ${option}`)].join('\n')
