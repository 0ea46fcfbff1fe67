/** @file Sizes of questions that a plan reckons with: from the real files where they are there, as published where they are not. */

import { judgedCount } from '../../grade/rubric-grader.ts'
import { hasRows } from '../../util/prefetched-rows.ts'
import { mean } from '../../util/statistics.ts'
import { CHARACTERS_PER_TOKEN, type PromptCounter, promptCounter } from '../prompt-tokens.ts'
import type { QuestionTaskConfig } from './config.ts'
import type { QuestionFormat } from './formats.ts'
import { reasonerMessages, rubricatorMessages } from './prompts.ts'
import { type Question, questionText } from './question.ts'
import { questionFiles, splitQuestions } from './rows.ts'

/** Sizes of data: means over all questions, training and tests. */
export interface QuestionSizes {
  train: number
  /** Of all sets. */
  test: number
  /** Of a question's prompt, on average and at most. */
  promptTokens: number
  longestPrompt: number
  /** Of a rubricator's prompt beside the response that it shows, on average. */
  rubricatorTokens: number
  questionCharacters: number
  /** Criteria on the answer that a judge must see, on average. */
  judged: number
  /** The file is not there: sizes as published. */
  assumed: boolean
  /** There is no tokenizer: four characters a token. */
  tokensEstimated: boolean
  /** What a person should know of the files. */
  notes: string[]
}

interface Published {
  train: number
  test: number
  questionCharacters: number
  longestCharacters: number
  judged: number
}

const mathematics = { questionCharacters: 250, longestCharacters: 2500, judged: 0 }

/** Rows as published (RLCER); lengths as in samples of the files. */
const PUBLISHED: Record<QuestionFormat, Published> = {
  plain: { train: 1000, test: 100, ...mathematics },
  // Tested on AIME and AMC.
  dapo: { train: 17_000, test: 100, ...mathematics },
  // A year has 30.
  aime: { train: 918, test: 30, ...mathematics },
  amc: { train: 1000, test: 40, ...mathematics },
  math500: { train: 12_000, test: 500, ...mathematics },
  strategyqa: { train: 2061, test: 229, questionCharacters: 56, longestCharacters: 110, judged: 0 },
  truthfulqa: { train: 653, test: 164, questionCharacters: 303, longestCharacters: 750, judged: 0 },
  gpqa: { train: 198, test: 198, questionCharacters: 800, longestCharacters: 6000, judged: 0 },
  supergpqa: { train: 26_529, test: 100, questionCharacters: 700, longestCharacters: 6000, judged: 0 },
  logiqa: { train: 30_908, test: 3942, questionCharacters: 610, longestCharacters: 1900, judged: 0 },
  'longbench-write': { train: 60, test: 60, questionCharacters: 338, longestCharacters: 3100, judged: 6 },
  writingbench: { train: 500, test: 500, questionCharacters: 3640, longestCharacters: 27_000, judged: 5 },
}

/** Prompts of rubricators are long and much alike: so many of them are counted. */
const RUBRICATOR_SAMPLE = 200

/** What a plan knows of its questions. */
export interface QuestionSizeSettings {
  task: QuestionTaskConfig
  /** Of the model that is to answer; null, or without a tokenizer: characters are counted instead. */
  folder: string | null
}

const published = (
  { format, testFile, testFormat, holdOut, maxPromptTokens, prompts, tests = {} }: QuestionTaskConfig,
  count: PromptCounter['count'],
): QuestionSizes => {
  const { train, questionCharacters, longestCharacters, judged } = PUBLISHED[format]
  const { test } = PUBLISHED[(testFile !== null && testFormat) || format]
  const sample: Question = { id: '', question: 'x', kind: judged > 0 ? 'open' : 'math' }
  const beside = count(reasonerMessages(sample, [], { prompts }))
  return {
    train,
    test: Object.values(tests).reduce((sum, own) => sum + PUBLISHED[own.format].test, holdOut ?? test),
    promptTokens: Math.round(beside + questionCharacters / CHARACTERS_PER_TOKEN),
    longestPrompt: Math.min(maxPromptTokens, Math.round(beside + longestCharacters / CHARACTERS_PER_TOKEN)),
    rubricatorTokens: Math.round(
      count(rubricatorMessages(sample, '', prompts)) + questionCharacters / CHARACTERS_PER_TOKEN,
    ),
    questionCharacters,
    judged,
    assumed: true,
    tokensEstimated: true,
    notes: [],
  }
}

const judgedOf = ({ kind, rubric }: Question): number => (kind === 'open' && rubric ? judgedCount(rubric) : 0)

/** The files of a task, for people. */
export const describeQuestionFiles = (task: QuestionTaskConfig): string =>
  questionFiles(task).join(' and ') || 'no file'

/**
 * Sizes of the files, or as published where they are not there yet. Questions that are too long are left out, as in training.
 * @throws ConfigError, DataError for a file that is there and cannot be used
 */
export const questionSizes = ({ task, folder }: QuestionSizeSettings): QuestionSizes => {
  const { count, estimated } = promptCounter(folder, 'task "questions"')
  const there = questionFiles(task).every(hasRows)
  if (!there) return published(task, count)
  const { train, test, tests, notes } = splitQuestions(task)
  const sized = (side: readonly Question[]) =>
    side
      .map(question => ({ question, tokens: count(reasonerMessages(question, [], task)) }))
      .filter(({ tokens }) => tokens <= task.maxPromptTokens)
  const sides = [sized(train), sized([...test, ...Object.values(tests).flat()])]
  const all = sides.flat()
  return {
    train: sides[0].length,
    test: sides[1].length,
    promptTokens: mean(all.map(({ tokens }) => tokens)),
    longestPrompt: all.reduce((most, { tokens }) => Math.max(most, tokens), 0),
    rubricatorTokens: mean(
      all
        .slice(0, RUBRICATOR_SAMPLE)
        .map(({ question }) => count(rubricatorMessages(question, '', task.prompts))),
    ),
    questionCharacters: mean(all.map(({ question }) => questionText(question).length)),
    judged: mean(all.map(({ question }) => judgedOf(question))),
    assumed: false,
    tokensEstimated: estimated,
    notes,
  }
}
