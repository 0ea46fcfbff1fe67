/** @file Questions for research agents from files: with a right answer, with criteria for the answer, with both or neither; rows of benchmarks. */

import { z } from 'zod'
import { persistentRubrics, type StageRubric } from '../../grade/evolving/index.ts'
import { validateVerifiers } from '../../grade/rubric-grader.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import {
  type FormatName,
  firstRubricRow,
  type PromptMessage,
  type RubricItem,
  readRubricFile,
} from '../../rubric/formats/index.ts'
import { uniqueNames } from '../../rubric/unique.ts'
import type { Columns } from '../../util/column-names.ts'
import { columnsSchema } from '../../util/columns.ts'
import { ConfigError, DataError } from '../../util/errors.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { conversationText } from '../conversation/task.ts'
import { type RowSplit, splitRows } from '../questions/split.ts'
import { ofBothArticles, RACE_LEVELS, type ReferenceArticles, readReferenceArticles } from './race.ts'
import { listedMembers } from './short-answer.ts'

export interface ResearchQuestion {
  /** Unique in its file. */
  id: string
  question: string
  /** Right answers, of which one is enough; empty where none is known. */
  answers: readonly string[]
  /** Of a question that asks for a set: all that belong to it; `answers` then has them as one text. */
  members?: readonly string[]
  /** Given for the answer; never removed by a judge. */
  persistent: readonly StageRubric[]
  /** Of a file of rubrics: what is asked, and the rubric by which evaluations grade the answer. */
  benchmark?: {
    prompt: readonly PromptMessage[]
    rubric: Rubric
    /** Of DeepResearch Bench: the article beside which the answer is judged; null where none was given. */
    reference?: string | null
  }
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
  answer: answers.nullish(),
  /** `Set Answer` (google/deepsearchqa): `answer` lists the members of a set with commas, or is missing for an empty one. */
  answer_type: z.string().nullish(),
  /** Another name for `answer`. */
  reference: answers.optional(),
  criteria: z.array(criterionSchema).default([]),
})

type Loaded = Omit<ResearchQuestion, 'id'> & { id?: string }

const loadRow = (row: unknown): Loaded => {
  const { question, id, answer, answer_type, reference, criteria } = parseWith(rowSchema, row, '', DataError)
  const isSet = answer_type === 'Set Answer'
  if (answer && reference)
    throw new DataError('expected answer or reference, which mean the same, got both; leave one out')
  const named = answer ?? reference ?? []
  const given = isSet && named.flatMap(listedMembers).length === 0 ? ['None'] : named
  return {
    question,
    ...(id !== undefined && { id }),
    answers: isSet ? [given.join(', ')] : given,
    ...(isSet && { members: given.flatMap(listedMembers) }),
    persistent: persistentRubrics(
      criteria.map(({ title, description, weight, sign }) => ({
        ...{ id: title, title, text: description },
        points: sign === 'positive' ? weight : -weight,
      })),
    ),
  }
}

/** A row of a benchmark. @throws DataError for a rubric without a question, and for a verifier that does not exist */
const benchmarkQuestion = (
  { id, prompt = [], rubric: own }: RubricItem,
  path: string,
  format: FormatName,
  articles: ReferenceArticles | undefined,
) => {
  const place = `${path}: item ${id}`
  const question = conversationText({ messages: prompt })
  if (question.trim() === '')
    throw new DataError(`${place}: expected a question, got a rubric without a prompt`)
  validateVerifiers(own, place)
  const common = { id, question, answers: [] }
  if (format !== 'deep-research-bench')
    return { ...common, persistent: persistentRubrics(own.criteria), benchmark: { prompt, rubric: own } }
  // RACE shows a criterion's name and what it means.
  const criteria = own.criteria.map(each => ({
    ...each,
    text: `${each.title}: ${each.text}`,
    levels: RACE_LEVELS,
  }))
  const reference = articles?.(question, place) ?? null
  const rubric = { criteria: reference === null ? criteria : ofBothArticles(criteria) }
  return { ...common, persistent: persistentRubrics(criteria), benchmark: { prompt, rubric, reference } }
}

/** Rows with a question of ours stay ours, whatever else they have, and so do those with an answer to it. */
const isQuestionRow = ({ row, format }: { row: object; format: FormatName }): boolean =>
  'question' in row && (format === 'native' || 'answer' in row || 'reference' in row)

/**
 * The questions of a JSON Lines file, or of a file in a format of rubrics. Rows without an id are named by their number.
 * @param articles beside which answers to questions of DeepResearch Bench are judged
 * @throws DataError naming file and line of what cannot be used
 */
export const readResearchQuestions = (
  path: string,
  columns?: Columns,
  articles?: ReferenceArticles,
): ResearchQuestion[] => {
  const first = firstRubricRow(path, columns)
  if (first && !isQuestionRow(first)) {
    const { items, format } = readRubricFile(path, { columns })
    return items.map(item => benchmarkQuestion(item, path, format, articles))
  }
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
    .describe(
      'File of questions to train on: rows {question, answer or criteria}, or rubrics with their questions.',
    ),
  testFile: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('File of questions for evaluation, in place of `holdOut`.'),
  tests: z
    .record(
      z.string().regex(/^(?!unseen$)[a-z]/i, 'a name that begins with a letter, other than unseen'),
      z.strictObject({ file: z.string().min(1).describe('File of the questions of the set.') }),
    )
    .optional()
    .describe('Further sets of questions for evaluation, by name; each is reported separately.'),
  columns: columnsSchema.optional(),
  articles: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Reference articles of DeepResearch Bench (its `reference.jsonl`): evaluations judge answers to its questions beside them, and the score is the share of RACE; absent: the points of its rubric.',
    ),
  holdOut: z
    .number()
    .min(0)
    .default(0.1)
    .describe(
      'Number of questions of the file kept for evaluation, always the same ones; below 1: a share of them. Not with `testFile`.',
    ),
}
export type ResearchFiles = z.output<z.ZodObject<typeof researchFilesShape>>

/** The files of a task. */
export const researchFiles = ({ file, testFile, tests = {}, articles }: ResearchFiles): string[] =>
  [file, testFile, ...Object.values(tests).map(own => own.file), articles ?? null].filter(
    path => path !== null,
  )

const canBeScored = ({ answers, persistent }: ResearchQuestion): boolean =>
  answers.length > 0 || persistent.length > 0

export interface ResearchSplit extends RowSplit<ResearchQuestion> {
  /** Further sets, by name. */
  tests?: Readonly<Record<string, readonly ResearchQuestion[]>>
}

/**
 * Questions to train on and to test on. Test questions that nothing says anything about are left out, and counted.
 * @throws ConfigError for no file, and where a side has no questions; DataError for rows that cannot be used
 */
export const researchQuestions = ({
  file,
  testFile,
  tests: named = {},
  holdOut,
  columns,
  articles,
}: ResearchFiles): ResearchSplit => {
  if (file === null)
    throw new ConfigError('task.file: expected the file of the questions, got nothing', {
      hint: 'name a JSON Lines file of rows {question, id?, answer?, criteria?}',
    })
  const references = readReferenceArticles(articles)
  const read = (path: string) => readResearchQuestions(path, columns, references)
  const more = Object.entries(named).map(([name, own]) => [name, read(own.file)] as const)
  const split = splitRows({
    // Articles are for evaluations: rows that are only trained on need none.
    rows: testFile === null ? read(file) : readResearchQuestions(file, columns),
    testRows: testFile === null ? null : read(testFile),
    neverTrained: more.flatMap(([, questions]) => questions),
    heldOut: rows => ({ count: holdOut < 1 ? Math.round(holdOut * rows) : Math.floor(holdOut) }),
    textOf: ({ question }) => question,
    label: 'research questions split',
  })
  const test = split.test.filter(canBeScored)
  const tests = Object.fromEntries(more.map(([name, questions]) => [name, questions.filter(canBeScored)]))
  const empty = more.find(([name]) => tests[name].length === 0)
  if (empty !== undefined)
    throw new ConfigError(
      `task.tests.${empty[0]}: expected questions with an answer or criteria, got none among ${empty[1].length}`,
      { hint: 'give them one, or take the file out' },
    )
  const tested = [split.test, ...more.map(([, questions]) => questions)].flat()
  const mute = tested.filter(question => !canBeScored(question)).length
  const key = testFile === null ? 'holdOut' : 'testFile'
  if (split.train.length === 0 || test.length === 0)
    throw new ConfigError(
      `task.${key}: expected questions on both sides, got ${split.train.length} to train on and ${test.length} to test on${mute > 0 ? `; ${mute} more have neither an answer nor criteria` : ''}`,
      { hint: 'name another file, hold out another number, or give rows an answer or criteria' },
    )
  const notes = mute > 0 ? [`${mute} test questions left out: neither an answer nor criteria`] : []
  return { train: split.train, test, notes: [...split.notes, ...notes], tests }
}
