/** @file Questions for research agents from files: with a right answer, with criteria for the answer, with both or neither. */

import { z } from 'zod'
import { persistentRubrics, type StageRubric } from '../../grade/evolving/index.ts'
import { uniqueNames } from '../../rubric/unique.ts'
import { type Columns, columnsSchema } from '../../util/columns.ts'
import { ConfigError, DataError } from '../../util/errors.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { type RowSplit, splitRows } from '../questions/split.ts'

export interface ResearchQuestion {
  /** Unique in its file. */
  id: string
  question: string
  /** Right answers, of which one is enough; empty where none is known. */
  answers: readonly string[]
  /** Given for the answer; never removed by a judge. */
  persistent: readonly StageRubric[]
}

const text = z.string().refine(value => value.trim() !== '', 'text; write something')
const answer = z.union([text, z.number()], { error: 'an answer as text or as a number' }).transform(String)
const answers = z.union([answer.transform(one => [one]), z.array(answer).min(1)])

const criterionSchema = z.strictObject({
  title: text,
  description: text,
  weight: z.number().positive().max(100).default(1),
  /** `negative`: a flaw. */
  sign: z.enum(['positive', 'negative']).default('positive'),
})

/** Rows may have keys that are not needed here: they are let be. */
const rowSchema = z.object({
  question: text,
  id: z
    .union([z.string().min(1), z.number()])
    .transform(String)
    .optional(),
  answer: answers.optional(),
  /** Another name for `answer`. */
  reference: answers.optional(),
  criteria: z.array(criterionSchema).default([]),
})

type Loaded = Omit<ResearchQuestion, 'id'> & { id?: string }

const loadRow = (row: unknown): Loaded => {
  const { question, id, answer, reference, criteria } = parseWith(rowSchema, row, '', DataError)
  if (answer && reference)
    throw new DataError('expected answer or reference, which mean the same, got both; leave one out')
  return {
    question,
    ...(id !== undefined && { id }),
    answers: answer ?? reference ?? [],
    persistent: persistentRubrics(
      criteria.map(({ title, description, weight, sign }) => ({
        ...{ id: title, title, text: description },
        points: sign === 'positive' ? weight : -weight,
      })),
    ),
  }
}

/**
 * The questions of a JSON Lines file. Rows without an id are named by their number.
 * @throws DataError naming file and line of what cannot be used
 */
export const readResearchQuestions = (path: string, columns?: Columns): ResearchQuestion[] => {
  const unique = uniqueNames()
  return someJsonlLines(path, 'question', columns).map(({ place, text: line }, index) => {
    const row = parseRow(line, place, loadRow)
    return { ...row, id: unique(row.id ?? `question-${index + 1}`) }
  })
}

/** Where questions come from, as a `task` section has it. */
export const researchFilesShape = {
  file: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('Questions to train on: rows {question, answer or criteria}.'),
  testFile: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('Questions for the test, from a file of their own.'),
  columns: columnsSchema.optional(),
  holdOut: z
    .number()
    .min(0)
    .default(0.1)
    .describe(
      'Without `testFile`: so many of `file` are kept for the test, or, below 1, such a share; always the same ones.',
    ),
}
export type ResearchFiles = z.output<z.ZodObject<typeof researchFilesShape>>

const canBeScored = ({ answers, persistent }: ResearchQuestion): boolean =>
  answers.length > 0 || persistent.length > 0

/**
 * Questions to train on and to test on. Test questions that nothing says anything about are left out, and counted.
 * @throws ConfigError for no file, and where a side has no questions; DataError for rows that cannot be used
 */
export const researchQuestions = ({
  file,
  testFile,
  holdOut,
  columns,
}: ResearchFiles): RowSplit<ResearchQuestion> => {
  if (file === null)
    throw new ConfigError('task.file: expected the file of the questions, got nothing', {
      hint: 'name a JSON Lines file of rows {question, id?, answer?, criteria?}',
    })
  const split = splitRows({
    rows: readResearchQuestions(file, columns),
    testRows: testFile === null ? null : readResearchQuestions(testFile, columns),
    heldOut: rows => ({ count: holdOut < 1 ? Math.round(holdOut * rows) : Math.floor(holdOut) }),
    textOf: ({ question }) => question,
    label: 'research questions split',
  })
  const test = split.test.filter(canBeScored)
  const mute = split.test.length - test.length
  const key = testFile === null ? 'holdOut' : 'testFile'
  if (split.train.length === 0 || test.length === 0)
    throw new ConfigError(
      `task.${key}: expected questions on both sides, got ${split.train.length} to train on and ${test.length} to test on${mute > 0 ? `; ${mute} more have neither an answer nor criteria` : ''}`,
      { hint: 'name another file, hold out another number, or give rows an answer or criteria' },
    )
  const notes = mute > 0 ? [`${mute} test questions left out: neither an answer nor criteria`] : []
  return { train: split.train, test, notes: [...split.notes, ...notes] }
}
