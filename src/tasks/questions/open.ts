/** @file Questions of files for the model in a folder: prompts that are too long left out, answers graded. */

import { needsJudge } from '../../grade/rubric-grader.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { ConfigError } from '../../util/errors.ts'
import type { TaskWith } from '../task.ts'
import type { QuestionTaskConfig } from './config.ts'
import { type Question, questionText } from './question.ts'
import { splitQuestions } from './rows.ts'
import { type QuestionTaskOptions, questionTask } from './task.ts'

export interface OpenQuestionsOptions extends Pick<QuestionTaskOptions, 'grader' | 'binary'> {
  task: QuestionTaskConfig
  /** Of the model that answers. */
  folder: string
  /** Most tokens of a response. */
  maxTokens: number
  /** Rubrics are asked for as well: questions that leave no room for that are left out too. Default false. */
  rubricator?: boolean
}

export const QUESTIONS_TEST = 'unseen questions'

const NO_RESPONSE = { text: '', thinking: '', answer: '', closed: true }

/** What a byte of a question may become in a quotation, where markup is written as entities. */
const MOST_TOKENS_A_BYTE = 8

/**
 * Whether a prompt about a question has at most so many tokens. A token is at least a byte, so most questions need not be
 * encoded to see that: tens of thousands would take minutes.
 */
const fitting = (limit: number, count: (question: Question) => number): ((question: Question) => boolean) => {
  const beside = new Map<Question['kind'], number>()
  return question => {
    const { kind } = question
    if (!beside.has(kind)) beside.set(kind, count({ id: '', question: 'x', kind }))
    const most = beside.get(kind)! + MOST_TOKENS_A_BYTE * Buffer.byteLength(questionText(question))
    return most <= limit || count(question) <= limit
  }
}

/** Whether some question is open, and has criteria that only a judge can decide. */
export const needResponseJudge = (questions: readonly Question[]): boolean =>
  questions.some(({ kind, rubric }) => kind === 'open' && rubric !== undefined && needsJudge(rubric))

/**
 * What to change where no question is left on one side.
 * @param short there are some whose prompts would fit: it is the rubricators' that do not
 */
const noneLeft = (
  { maxPromptTokens, maxRubricatorTokens }: QuestionTaskConfig,
  maxTokens: number,
  places: number,
  short: boolean,
): ConfigError => {
  const room = places - maxTokens
  const of = `with room for a response of ${maxTokens} in a context of ${places}`
  if (room < 1)
    return new ConfigError(
      `rollout.maxTokens: expected room for a question in a context of ${places}, got responses of up to ${maxTokens}`,
      { hint: 'lower rollout.maxTokens, and rubricator.maxTokens where there is one' },
    )
  const [key, most] = short
    ? ['task.maxRubricatorTokens', maxRubricatorTokens]
    : ['task.maxPromptTokens', maxPromptTokens]
  const what = short ? 'questions about which a rubricator is asked in' : 'questions of'
  return new ConfigError(
    `${key}: expected ${what} at most ${Math.min(most, room)} tokens, ${of}, got none to train on, or none to test on`,
    { hint: `raise ${key}, or lower rollout.maxTokens` },
  )
}

/**
 * The questions of a configuration.
 * @throws ConfigError, DataError, CheckpointError for a file or a model that cannot be used, for open questions without a
 * grader, and where no question is left
 */
export const openQuestions = ({
  task: config,
  folder,
  maxTokens,
  rubricator = false,
  ...graders
}: OpenQuestionsOptions): TaskWith<Question, 'thinking' | 'rubricator'> => {
  const format = chatFormatOf(folder, 'task "questions"')
  const room = format.maxPositions - maxTokens
  const options = { ...config, ...graders, maxRubricatorTokens: Math.min(config.maxRubricatorTokens, room) }
  const asked = questionTask(format, options)
  const split = splitQuestions(config)
  const tests = { [QUESTIONS_TEST]: split.test, ...split.tests }
  const all = [...split.train, ...Object.values(tests).flat()]
  if (graders.grader === undefined && all.some(({ kind }) => kind === 'open'))
    throw new ConfigError(
      `task.format: expected a judge for the open questions of ${config.file}, got none`,
      {
        hint: 'configure a judge, or choose questions that have one right answer',
      },
    )
  const limit = Math.min(config.maxPromptTokens, room)
  const fitsReasoner = fitting(limit, question => asked.prompt(question).length)
  const fitsRubricator = fitting(
    options.maxRubricatorTokens,
    question => asked.rubricator.prompt(question, NO_RESPONSE).length,
  )
  const fits = (question: Question) => fitsReasoner(question) && (!rubricator || fitsRubricator(question))
  const train = split.train.filter(fits)
  const kept = Object.fromEntries(Object.entries(tests).map(([name, own]) => [name, own.filter(fits)]))
  const test = kept[QUESTIONS_TEST]
  if (train.length === 0 || test.length === 0) {
    const short = [split.train, split.test].every(side => side.some(fitsReasoner))
    throw noneLeft(options, maxTokens, format.maxPositions, short)
  }
  const leftOut = (side: string, before: readonly Question[], after: readonly Question[]): string[] =>
    before.length === after.length
      ? []
      : [`${before.length - after.length} ${side} questions left out: longer than ${limit} tokens`]
  const notes = [
    ...split.notes,
    ...leftOut('training', split.train, train),
    ...leftOut('test', Object.values(tests).flat(), Object.values(kept).flat()),
  ]
  return questionTask(format, options, { train, tests: kept, notes })
}
