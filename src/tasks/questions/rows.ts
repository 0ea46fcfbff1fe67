/** @file Questions from files: read, checked, split into those to train on and those to test on. */

import { validateVerifiers } from '../../grade/rubric-grader.ts'
import { uniqueNames } from '../../rubric/unique.ts'
import type { Columns } from '../../util/column-names.ts'
import { ConfigError } from '../../util/errors.ts'
import { formatInteger, plural } from '../../util/format.ts'
import { noRows, parseRow, someJsonlLines } from '../../util/jsonl.ts'
import type { QuestionTaskConfig } from './config.ts'
import { loadQuestion, logiqaLines, type QuestionFormat } from './formats.ts'
import { type Question, questionText } from './question.ts'
import { type RowSplit, splitRows } from './split.ts'

/**
 * The questions of a JSON Lines file. Rows without an id are named by the format and their line's number among the rows. Rows that the
 * published file leaves empty are left out, and counted in a note for people.
 * @throws DataError naming file and line of what cannot be used, and for a file without questions
 */
export const readQuestions = (
  path: string,
  format: QuestionFormat,
  columns?: Columns,
): { questions: Question[]; notes: string[] } => {
  const unique = uniqueNames()
  const lines = someJsonlLines(path, 'question', columns)
  const rows = format === 'logiqa' ? logiqaLines(lines) : lines
  const questions = rows.flatMap(({ place, text }, index) => {
    const question = parseRow(text, place, row => loadQuestion(format, row))
    if (question?.rubric) validateVerifiers(question.rubric, place)
    return question ? [{ ...question, id: unique(question.id ?? `${format}-${index + 1}`) }] : []
  })
  if (questions.length === 0) throw noRows(path, 'question')
  const empty = rows.length - questions.length
  const notes = empty > 0 ? [`${plural(empty, 'row')} of ${path} left out: nothing is asked there`] : []
  return { questions, notes }
}

/** How many rows a paper trains on and tests on (RiT A.1), not which. AIME comes from files of its own. */
export const PAPER_SPLITS: Partial<Record<QuestionFormat, { train: number; test: number }>> = {
  'longbench-write': { train: 60, test: 60 },
  writingbench: { train: 500, test: 500 },
  strategyqa: { train: 2061, test: 229 },
  truthfulqa: { train: 653, test: 164 },
  // As inferences.
  logiqa: { train: 30_908, test: 3942 },
}

type FileKey = 'format' | 'file' | 'testFile' | 'testFormat' | 'holdOut' | 'columns' | 'tests'
/** Where questions come from. */
export type QuestionFiles = Pick<QuestionTaskConfig, FileKey>

/** The files that are named. */
export const questionFiles = ({
  file,
  testFile,
  tests = {},
}: Pick<QuestionFiles, 'file' | 'testFile' | 'tests'>): string[] =>
  [file, testFile, ...Object.values(tests).map(own => own.file)].filter(path => path !== null)

export interface QuestionSplit extends RowSplit<Question> {
  /** Further sets, by name. */
  tests: Record<string, Question[]>
}

const heldOut = ({ format, holdOut }: QuestionFiles, rows: number): { count: number; note?: string } => {
  if (holdOut !== null) return { count: holdOut }
  const paper = PAPER_SPLITS[format]
  if (paper === undefined)
    throw new ConfigError(
      `task.holdOut: expected how many questions of a ${format} file to test on, got nothing; no paper says it`,
      { hint: 'set task.holdOut, or name a file for evaluation in task.testFile' },
    )
  const all = paper.train + paper.test
  const count = Math.round((rows * paper.test) / all)
  if (rows === all) return { count }
  const [of, there] = [paper, { train: rows - count, test: count }].map(
    ({ train, test }) =>
      `${formatInteger(train)} questions to train on and ${formatInteger(test)} to test on`,
  )
  return {
    count,
    note: `the paper has ${of}; of this file's ${formatInteger(rows)} in the same proportion: ${there}`,
  }
}

/**
 * Questions to train on and to test on: by a shuffle (even in the strata of the format) that depends on the file's rows alone, so that every seed and every arm
 * has the same test questions. No question is on both sides, and none is there twice.
 * @throws ConfigError for no file, for a file without a split, and when nothing is left to train on or to test on
 */
export const splitQuestions = (task: QuestionFiles): QuestionSplit => {
  if (task.file === null)
    throw new ConfigError('task.file: expected the file of the questions, got nothing', {
      hint: `name a file in format ${task.format}, or another format in task.format`,
    })
  const { testFile, tests = {} } = task
  const told: string[] = []
  const read = (file: string, format: QuestionFormat) => {
    const { questions, notes } = readQuestions(file, format, task.columns)
    told.push(...notes)
    return questions
  }
  const more = Object.entries(tests).map(([name, { file, format }]) => [name, read(file, format)] as const)
  const split = splitRows({
    rows: read(task.file, task.format),
    testRows: testFile === null ? null : read(testFile, task.testFormat ?? task.format),
    neverTrained: more.flatMap(([, questions]) => questions),
    heldOut: rows => heldOut(task, rows),
    textOf: questionText,
    stratumOf: ({ stratum }) => stratum,
    label: 'questions split',
  })
  return { ...checked(task, split), tests: Object.fromEntries(more), notes: [...told, ...split.notes] }
}

const checked = (task: QuestionFiles, split: RowSplit<Question>): RowSplit<Question> => {
  const { train, test } = split
  if (train.length > 0 && test.length > 0) return split
  throw new ConfigError(
    `task.${task.testFile === null ? 'holdOut' : 'testFile'}: expected questions on both sides, got ${train.length} to train on and ${test.length} to test on`,
    { hint: 'hold out fewer questions, or name another file' },
  )
}
