/** @file A task by its name: what may be set, and how it is opened. */

import type { z } from 'zod'
import type { Grader } from '../grade/grader.ts'
import type { ChatFormat } from '../model/chat-format.ts'
import type { ConversationOptions } from './conversation/task.ts'
import type { Task } from './task.ts'

/** What a task is opened with beside its settings. */
export interface TaskParts extends Pick<ConversationOptions, 'startLogprobs'> {
  /** Of the model, for tasks that are put in its own tokens. */
  folder: string
  /** How it is spoken to, for tasks that are put in words. */
  format: ChatFormat
  /** Rows to be tested on, for tasks that read files. */
  file: string
  /** Decides criteria that the task cannot decide itself. */
  grader: Grader
  /** Problems to be tested on, of tasks that make them. */
  tests: number
}

export interface TaskKind<Settings = unknown, Problem = unknown> {
  settings: z.ZodType<Settings>
  /** What is asked and counted, for whoever reads figures. */
  about: string
  /** Most tokens of an answer, or of a turn, where nobody says another number. */
  maxTokens: number
  /** How it is put to a model: in tokens that models must be made for, in words to any chat model, or in turns by tokens. */
  asked: 'tokens' | 'words' | 'turns'
  /** Whether problems are rows of a file; else the task has them itself. */
  reads: boolean
  /** The task decides every criterion itself, and no judge has anything to do. */
  gradesItself?: true
  /** The environment says what an episode is worth. */
  pays?: true
  /** @throws CheckpointError for a model of other words */
  assertModel?(folder: string): void
  /** @throws ConfigError, DataError, CheckpointError, ToolError for what cannot be used */
  open(settings: Settings, parts: TaskParts): Task<Problem> | Promise<Task<Problem>>
}
