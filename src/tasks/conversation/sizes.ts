/** @file Sizes of conversations that a plan reckons with: from the real file where it is there, as published where it is not. */

import { judgedCount } from '../../grade/rubric-grader.ts'
import { needsStart } from '../../grade/rules/likelihood.ts'
import { largestOf } from '../../util/descriptive.ts'
import { hasRows } from '../../util/prefetched-rows.ts'
import { mean } from '../../util/statistics.ts'
import { promptCounter } from '../prompt-tokens.ts'
import { splitConversations } from './rows.ts'
import type { ConversationFiles } from './settings.ts'
import type { ConversationOptions } from './task.ts'

/** Sizes of data: means over all rows, training and test. */
export interface DataSizes {
  train: number
  test: number
  /** Criteria of a rubric, and those of them that a judge must see, on average. */
  criteria: number
  judged: number
  /** Of a plain prompt and of one with the whole rubric, on average; and of the longest plain prompt. */
  promptTokens: number
  scaffoldedTokens: number
  longestPrompt: number
  conversationCharacters: number
  /** Whether a criterion asks how likely answers are to the start. */
  likelihood: boolean
  /** The file is not there: values of HealthBench as published. */
  assumed: boolean
  /** There is no tokenizer: four characters a token. */
  tokensEstimated: boolean
}

/**
 * HealthBench as RuscaRL used it: 4500 rows to train on and 500 to test on, 11.5 criteria each. Lengths are
 * means over 200 of its rows.
 */
const PUBLISHED = {
  train: 4500,
  test: 500,
  criteria: 11.5,
  judged: 11.5,
  promptTokens: 160,
  scaffoldedTokens: 1150,
  conversationCharacters: 640,
  likelihood: false,
}

/** What a plan knows of its conversations. */
export interface ConversationSizeSettings {
  task: ConversationFiles & { maxPromptTokens: number }
  /** Of the model that is to answer; null: characters are counted instead. */
  folder: string | null
  /** A conversation with its whole rubric shown. */
  scaffold: NonNullable<ConversationOptions['scaffold']>
}

/**
 * Sizes of the files, or as published where they are not there yet.
 * @throws DataError for a file that is there and cannot be used
 */
export const conversationSizes = ({ task, folder, scaffold }: ConversationSizeSettings): DataSizes => {
  const { file, testFile, holdOut, rubric = null } = task
  const there = [file, testFile, rubric].every(path => path === null || hasRows(path))
  if (!there)
    return {
      ...PUBLISHED,
      test: holdOut ?? PUBLISHED.test,
      longestPrompt: task.maxPromptTokens,
      assumed: true,
      tokensEstimated: true,
    }
  const { train, test } = splitConversations(task)
  const { count, estimated } = promptCounter(folder, 'task "conversations"')
  const rows = [...train, ...test]
  const plain = rows.map(({ messages }) => count(messages))
  const full = rows.map(({ messages, rubric }) => count(scaffold(messages, rubric.criteria)))
  return {
    train: train.length,
    test: test.length,
    criteria: mean(rows.map(({ rubric }) => rubric.criteria.length)),
    judged: mean(rows.map(({ rubric }) => judgedCount(rubric))),
    promptTokens: mean(plain),
    scaffoldedTokens: mean(full),
    longestPrompt: largestOf(plain),
    conversationCharacters: mean(
      rows.map(({ messages }) => messages.reduce((sum, { content }) => sum + content.length, 0)),
    ),
    likelihood: rows.some(({ rubric }) => needsStart(rubric.criteria)),
    assumed: false,
    tokensEstimated: estimated,
  }
}
