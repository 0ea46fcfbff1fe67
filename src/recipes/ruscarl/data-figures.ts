/** @file Sizes of the data that a plan reckons with: from the real file where it is there, as published where it is not. */

import { existsSync } from 'node:fs'
import { needsJudge } from '../../grade/rubric-grader.ts'
import { type ChatFormat, chatFormatOf } from '../../model/chat-format.ts'
import { hasTokenizer } from '../../model/tokenizer.ts'
import { hintsOf } from '../../tasks/checklist/format.ts'
import { PackingWorld, splitTrips, tripPrompt } from '../../tasks/checklist/index.ts'
import { resolveShipped } from '../../util/package.ts'
import { mean } from '../../util/statistics.ts'
import type { RuscarlConfig } from './config.ts'
import { type ConversationRow, splitConversations } from './conversation-rows.ts'
import { scaffoldText, withScaffold } from './scaffold.ts'

export interface DataFigures {
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
  /** The file is not there: figures of HealthBench as published. */
  assumed: boolean
  /** There is no tokenizer: four characters a token. */
  tokensEstimated: boolean
}

/**
 * HealthBench as RuscaRL used it: 4500 rows to train on and 500 to test on, 11.5 criteria each (spec 4.1, 4.4). Lengths are
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
}

const CHARACTERS_PER_TOKEN = 4

type Counter = (messages: Parameters<ChatFormat['encode']>[0]) => number

const tokenCounter = ({ model }: RuscarlConfig): { count: Counter; estimated: boolean } => {
  const folder = model.folder === null ? null : resolveShipped(model.folder)
  if (folder !== null && hasTokenizer(folder) && existsSync(folder)) {
    const format = chatFormatOf(folder, 'task "conversations"')
    return { count: messages => format.encode(messages).length, estimated: false }
  }
  const characters: Counter = messages =>
    messages.reduce((sum, { content }) => sum + Math.ceil(content.length / CHARACTERS_PER_TOKEN), 0)
  return { count: characters, estimated: true }
}

const conversationFigures = (config: RuscarlConfig): DataFigures => {
  const { file, testFile, holdOut } = config.task
  const there = [file, testFile].every(path => path === null || existsSync(path))
  if (!there)
    return {
      ...PUBLISHED,
      test: holdOut ?? PUBLISHED.test,
      longestPrompt: config.task.maxPromptTokens,
      assumed: true,
      tokensEstimated: true,
    }
  const { train, test } = splitConversations(config.task)
  const { count, estimated } = tokenCounter(config)
  const rows = [...train, ...test]
  const judgedOf = ({ rubric }: ConversationRow) =>
    rubric.criteria.filter(criterion => needsJudge({ criteria: [criterion] })).length
  const plain = rows.map(({ messages }) => count(messages))
  const full = rows.map(({ messages, rubric }) =>
    count(withScaffold(messages, scaffoldText(rubric.criteria, config.scaffold))),
  )
  return {
    train: train.length,
    test: test.length,
    criteria: mean(rows.map(({ rubric }) => rubric.criteria.length)),
    judged: mean(rows.map(judgedOf)),
    promptTokens: mean(plain),
    scaffoldedTokens: mean(full),
    longestPrompt: Math.max(...plain),
    conversationCharacters: mean(
      rows.map(({ messages }) => messages.reduce((sum, { content }) => sum + content.length, 0)),
    ),
    assumed: false,
    tokensEstimated: estimated,
  }
}

const packingFigures = ({ world: seed }: RuscarlConfig): DataFigures => {
  const world = new PackingWorld(seed)
  const { train, test } = splitTrips()
  const rubrics = test.map(trip => world.rubric(trip))
  const full = test.map((trip, i) => tripPrompt(trip, hintsOf(rubrics[i].criteria)).length)
  const plain = tripPrompt(test[0]).length
  return {
    train: train.length,
    test: test.length,
    criteria: mean(rubrics.map(({ criteria }) => criteria.length)),
    judged: 0,
    promptTokens: plain,
    scaffoldedTokens: mean(full),
    longestPrompt: plain,
    conversationCharacters: 0,
    assumed: false,
    tokensEstimated: false,
  }
}

/** Figures of the configured task's data. @throws DataError for a file that is there and cannot be used */
export const dataFigures = (config: RuscarlConfig): DataFigures =>
  config.task.kind === 'packing' ? packingFigures(config) : conversationFigures(config)
