/** @file What a task of `gradus eval` is: problems with their criteria, and scores counted from verdicts. One file a task. */

import type { Verdict } from '../rubric/criterion.ts'
import type { ConversationRow } from '../tasks/conversation/rows.ts'

/** What is asked, what a good answer is, and which of the criteria are told as rates, by what name. */
export interface MeasuredProblem extends ConversationRow {
  /** Name of a criterion's rate by its id; several may share one, and one that is not here has none. */
  rates: ReadonlyMap<string, string>
}

/** What an answer counts; among answers by its weight (instructions of a prompt, say), 1 where absent. */
export interface Counted {
  /** Null where nothing is known. */
  value: number | null
  weight?: number
}

export interface TaskScore {
  words: string
  count(problem: MeasuredProblem, verdicts: readonly Verdict[]): Counted
}

export interface MeasuredTask {
  name: string
  /** How it asks and counts, for whoever reads its figures. */
  about: string
  /** Most tokens of an answer where nobody says another number. */
  maxTokens: number
  /** The score that comparisons count won and lost problems by. */
  primary: string
  scores: Readonly<Record<string, TaskScore>>
  /** The text that is graded. */
  read(response: string): string
  /** @throws DataError for a file that cannot be used, with the place */
  problems(file: string): MeasuredProblem[]
}
