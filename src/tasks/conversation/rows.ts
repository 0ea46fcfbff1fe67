/** @file Conversations with rubrics from files: read, checked, split into those to train on and those to test on. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import { needsJudge, validateVerifiers } from '../../grade/rubric-grader.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { ConfigError, DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'

/** A row: what was said, and what a good answer is. */
export interface ConversationRow {
  id: string
  messages: readonly ChatMessage[]
  rubric: Rubric
  reference?: string
}

/**
 * Rows of a rubric file whose items have prompts.
 * @throws DataError for an item without a prompt, and for a verifier that does not exist
 */
export const readConversations = (path: string): ConversationRow[] =>
  readRubricFile(path).items.map(({ id, prompt, reference, rubric }) => {
    if (!prompt || prompt.length === 0)
      throw new DataError(`${path}: item ${id}: expected a conversation to answer, got no prompt`, {
        hint: 'use HealthBench rows, or our own format with prompts',
      })
    validateVerifiers(rubric, `${path}: item ${id}`)
    const messages = prompt.map(({ role, content }) => ({ role, content }))
    return { id, messages, rubric, ...(reference !== undefined && { reference }) }
  })

/** Where rows come from; the names are those of a recipe's `task` section. */
export interface ConversationFiles {
  file: string | null
  /** So many rows of the file are kept for evaluation. */
  holdOut: number | null
  /** Rows for evaluation from a file of their own. */
  testFile: string | null
}

export interface ConversationSplit {
  train: ConversationRow[]
  test: ConversationRow[]
  /** Training rows left out because the same conversation is among the test rows. */
  repeated: number
}

const said = ({ messages }: ConversationRow): string => JSON.stringify(messages)

/**
 * Rows to train on and to test on: by a shuffle that depends on the file's rows alone, so that every seed and every arm has
 * the same test rows. No conversation is on both sides.
 * @throws ConfigError for no file, and when nothing is left to train on or to test on
 */
export const splitConversations = (task: ConversationFiles): ConversationSplit => {
  if (task.file === null)
    throw new ConfigError('task.file: expected the file of the conversations, got nothing', {
      hint: 'name a file of HealthBench rows',
    })
  const rows = readConversations(task.file)
  const shuffled = new Rng('conversations split').shuffle(rows)
  const holdOut = task.holdOut ?? 0
  const test = task.testFile === null ? shuffled.slice(0, holdOut) : readConversations(task.testFile)
  const tested = new Set(test.map(said))
  const rest = task.testFile === null ? shuffled.slice(holdOut) : shuffled
  const train = rest.filter(row => !tested.has(said(row)))
  if (train.length === 0 || test.length === 0)
    throw new ConfigError(
      `task.${task.testFile === null ? 'holdOut' : 'testFile'}: expected rows on both sides, got ${train.length} to train on and ${test.length} to test on from ${rows.length}`,
      { hint: 'hold out fewer rows, or name another file' },
    )
  return { train, test, repeated: rest.length - train.length }
}

/** Whether any criterion of any row needs a judge. */
export const needJudge = (rows: readonly ConversationRow[]): boolean =>
  rows.some(({ rubric }) => needsJudge(rubric))
