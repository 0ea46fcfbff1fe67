/** @file A task by its name: what may be set, how it is opened, and what is counted of answers to it. */

import type { z } from 'zod'
import type { Grader } from '../../grade/grader.ts'
import type { JudgeForm } from '../../grade/judge/templates/form.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { ConversationOptions } from '../../tasks/conversation/task.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import type { EpisodeOutcome, Task, Verdicts } from '../../tasks/task.ts'

/** What a task is opened with beside its settings. */
export interface TaskParts extends Pick<ConversationOptions, 'startLogprobs'>, Pick<Put, 'asked'> {
  /** Of the model, for tasks that are put in its own tokens; else empty. */
  folder: string
  /** How it is spoken to, for tasks that are put in words. */
  format: ChatFormat
  /** Rows to be tested on, for tasks that read files. */
  files: readonly string[]
  /** Decides criteria that the task cannot decide itself. */
  grader: Grader
  /** Whether a judge was named for them. */
  judged: boolean
  /** Problems to be tested on: of each file, or of those that the task makes. */
  tests: number
}

/** What graders and, where there is one, an environment say of an answer. */
export type AnswerGrades = Pick<ScoredResponse, 'score' | 'verdicts'> & {
  outcome?: EpisodeOutcome | null
  /** All that the task's own graders say. */
  said?: Verdicts
}

/** What an answer counts; among answers by its weight (instructions of a prompt, say), 1 where absent. */
export interface CountedValue {
  /** Null where nothing is known. */
  value: number | null
  weight?: number
}

export interface TaskScore {
  words: string
  count(graded: AnswerGrades, rubric: Rubric): CountedValue
  /** What it is a number of; absent: a share. */
  unit?: 'reward'
}

/** The scores of a task; the first is what comparisons count won and lost problems by. */
export type TaskScores = Readonly<Record<string, TaskScore>>

/** How a task is put to a model. */
interface Put {
  /** In tokens that models must be made for, in words to any chat model, or in turns by tokens. */
  asked: 'tokens' | 'words' | 'turns'
  /** Most tokens of an answer, or of a turn, where nobody says another number. */
  maxTokens: number
}

/** Answers by label and by source, and what shallow cues would have answered, in the fields of a training's evaluations. */
export type Breakdown = Pick<EvalRow, 'byLabel' | 'balance' | 'bySource' | 'baselines' | 'scoreNames'>

/** How a judge is asked. */
export interface MeasuringJudge {
  calls?: 'rubric'
  levels?: 'levels'
  form?: JudgeForm
  /** Whether there must be one; absent: where a problem has criteria without a rule. */
  needed?: boolean
}

export interface TaskKind<Settings = unknown, Problem = unknown> extends Put {
  settings: z.ZodType<Settings>
  /** What is asked and counted, for whoever reads metrics. */
  about: string
  /** Put otherwise to the model of a folder, or to one on a server that has none. @throws CheckpointError */
  putTo?(folder: string | null): Put & { vocabulary?: number }
  /** Whether problems are rows of one file, or of any number of them; else the task has them itself. */
  reads: boolean | 'files'
  /** The task decides every criterion itself and a judge has nothing to do, or how one is asked, where not a criterion at a time. */
  judge?: 'none' | ((problems: readonly Problem[]) => MeasuringJudge)
  /** What is counted of it where that is more than its score. */
  scores?: TaskScores
  /** The score that comparisons go by; absent: the first. */
  primary?: string | ((problems: readonly Problem[]) => string)
  /** Name of a criterion's rate; null: it has none. Absent: by the task's own kinds. */
  rate?(criterion: Criterion): string | null
  /** The text that is graded of a response; absent: all of it. */
  read?(response: string): string
  /** @throws DataError where nothing can be said of any answer */
  breakdown?(answered: readonly { problem: Problem; said: readonly Verdicts[] }[]): Breakdown
  /** @throws CheckpointError for a model of other words */
  assertModel?(folder: string): void
  /** @throws ConfigError, DataError, CheckpointError, ToolError for what cannot be used */
  open(settings: Settings, parts: TaskParts): Task<Problem> | Promise<Task<Problem>>
}
