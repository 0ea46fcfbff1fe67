/** @file Real logic data as problems: ProntoQA and ProofWriter rows (Logic-LM's format) and FOLIO rows. */

import { z } from 'zod'
import { logicSentences, parseSentence } from '../../grade/logic/english.ts'
import type { Formula } from '../../grade/logic/formula.ts'
import { parseFormula } from '../../grade/logic/parse.ts'
import type { LogicLabel } from '../../grade/logic/problem.ts'
import { DataError } from '../../util/errors.ts'
import { jsonlLines, parseRow, readJsonl } from '../../util/jsonl.ts'
import { isRecord } from '../../util/own-value.ts'
import { describeValue, parseWith } from '../../util/schema.ts'
import type { LogicTaskExample } from './example.ts'

const logicLmRow = z.object({
  id: z.string(),
  context: z.string(),
  question: z.string(),
  options: z.array(z.string()),
  answer: z.string(),
  explanation: z.array(z.string()).optional(),
})

/** A row as Logic-LM publishes ProntoQA and ProofWriter; `explanation` is ProntoQA's gold proof. */
export type LogicLmRow = z.infer<typeof logicLmRow>

const folioRow = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  example_id: z.union([z.string(), z.number()]).optional(),
  premises: z.array(z.string()),
  'premises-FOL': z.array(z.string()),
  conclusion: z.string(),
  'conclusion-FOL': z.string().optional(),
  label: z.string(),
})

const checkRow = <T>(schema: z.ZodType<T>, row: unknown): T => parseWith(schema, row, '', DataError)

const LABELS: Readonly<Record<string, LogicLabel>> = {
  true: 'True',
  false: 'False',
  unknown: 'Unknown',
  uncertain: 'Unknown',
}

const labelOf = (text: string, field: string): LogicLabel => {
  const label = LABELS[text.trim().toLowerCase()]
  if (!label)
    throw new DataError(`${field}: expected True, False, Unknown or Uncertain, got ${describeValue(text)}`)
  return label
}

/** The label that the answer's letter stands for among options such as "A) True". */
const answerLabel = ({ options, answer }: LogicLmRow): LogicLabel => {
  const option = options.find(text => text.startsWith(`${answer})`))
  if (option === undefined) {
    throw new DataError(
      `answer: expected the letter of one of ${describeValue(options.join(', '))}, got ${describeValue(answer)}`,
    )
  }
  return labelOf(option.slice(answer.length + 1), 'options')
}

const sentenceFol = (text: string, field: string): Formula => {
  try {
    return parseSentence(text)
  } catch (error) {
    throw new DataError(`${field}: ${(error as Error).message}`, { cause: error })
  }
}

const statementOf = (question: string): string => {
  const at = question.lastIndexOf('? ')
  if (at < 0) throw new DataError(`question: expected "...? STATEMENT", got ${describeValue(question)}`)
  return question.slice(at + 2).trim()
}

/**
 * A Logic-LM row as a problem: premises and statement read as controlled English; a gold proof of n steps has (n - 1) / 2 hops.
 * @throws DataError naming the field, what was expected and what came.
 */
export const fromLogicLmRow = (row: unknown, source: string): LogicTaskExample => {
  const checked = checkRow(logicLmRow, row)
  const premises = logicSentences(checked.context)
  const conclusion = statementOf(checked.question)
  const proof = checked.explanation
  return {
    id: checked.id,
    premises,
    premisesFol: premises.map((text, i) => sentenceFol(text, `context, sentence ${i + 1}`)),
    conclusion,
    conclusionFol: sentenceFol(conclusion, 'question'),
    label: answerLabel(checked),
    ...(proof && { proof, hops: (proof.length - 1) / 2 }),
    source,
    context: checked.context,
    question: checked.question,
  }
}

/**
 * ProntoQA rows `{id, context, question, options, answer, explanation?}`, two-way.
 * @throws DataError naming file and line for a row of another shape or a sentence outside the controlled English.
 */
export const loadProntoQa = (path: string): LogicTaskExample[] =>
  readJsonl(path, row => fromLogicLmRow(row, 'prontoqa'))

/** ProofWriter rows in the same format, three-way, without proofs. @throws DataError as `loadProntoQa`. */
export const loadProofWriter = (path: string): LogicTaskExample[] =>
  readJsonl(path, row => fromLogicLmRow(row, 'proofwriter'))

/** How a file writes its problems. */
export const LOGIC_FILE_FORMATS = ['prontoqa', 'proofwriter', 'folio'] as const
export type LogicFileFormat = (typeof LOGIC_FILE_FORMATS)[number]

/** A row that is not used, and why. */
export interface LeftOutRow {
  id: string
  reason: string
}

/** What could be read of a file, and the rows that could not: sentences that are not controlled English, faulty formulas. */
export interface LogicFile {
  problems: LogicTaskExample[]
  unread: LeftOutRow[]
}

/**
 * The rows of a file, those left out that cannot be read. FOLIO rows `{premises, premises-FOL, conclusion, conclusion-FOL?, label}`
 * ("Uncertain" is Unknown) without a formula of the conclusion are there, with none, as those of its training set are.
 * @throws DataError naming file and line for a row of another shape.
 */
export const readLogicFile = (path: string, format: LogicFileFormat): LogicFile =>
  format === 'folio'
    ? readTolerantly(path, readFolio, folioId, fromFolioRow)
    : readTolerantly(
        path,
        readLogicLm,
        ({ id }) => id,
        row => fromLogicLmRow(row, format),
      )

/** How a file writes its problems, told from its first row: FOLIO, or the form that ProntoQA and ProofWriter share. */
export const formatOfFile = (path: string): LogicFileFormat => {
  const [first] = jsonlLines(path)
  const row = first === undefined ? null : parseRow(first.text, first.place, value => value)
  return isRecord(row) && 'premises-FOL' in row ? 'folio' : 'prontoqa'
}

/** The problems of a file that can be graded; FOLIO rows without a formula of the conclusion, or with faulty ones, are left out. */
export const loadLogicRows = (path: string, format: LogicFileFormat): LogicTaskExample[] => {
  if (format === 'prontoqa') return loadProntoQa(path)
  if (format === 'proofwriter') return loadProofWriter(path)
  return readLogicFile(path, format).problems.filter(({ conclusionFol }) => conclusionFol !== null)
}

const OPTIONS = ['True', 'False', 'Unknown'] as const

/** The row that `loadProntoQa` reads back, to save generated problems for `gradus eval`. Three options when the question names three. */
export const toLogicLmRow = (example: LogicTaskExample): LogicLmRow => {
  const options = OPTIONS.slice(0, /unknown/i.test(example.question) ? 3 : 2)
  return {
    id: example.id,
    context: example.context,
    question: example.question,
    options: options.map((label, i) => `${'ABC'[i]}) ${label}`),
    answer: 'ABC'[OPTIONS.indexOf(example.label)],
    ...(example.proof && { explanation: example.proof }),
  }
}

const formulaOf = (text: string, field: string): Formula => {
  try {
    return parseFormula(text, { repair: true }).formula
  } catch (error) {
    throw new DataError(`${field}: ${(error as Error).message} in "${text}"`, { cause: error })
  }
}

const QUESTION = 'Based on the above information, is the following statement true, false, or unknown?'

type FolioRow = z.infer<typeof folioRow>

const folioId = (row: FolioRow) => `folio-${row.id ?? row.example_id ?? 'without-id'}`

const fromFolioRow = (row: FolioRow): LogicTaskExample => {
  const premises = row.premises.map(text => text.trim())
  const formulas = row['premises-FOL']
  if (premises.length !== formulas.length) {
    throw new DataError(
      `premises-FOL: expected ${premises.length} formulas, one a premise, got ${formulas.length}`,
    )
  }
  const conclusionText = row['conclusion-FOL']
  return {
    id: folioId(row),
    premises,
    premisesFol: formulas.map((text, i) => formulaOf(text, `premises-FOL[${i}]`)),
    conclusion: row.conclusion.trim(),
    conclusionFol: conclusionText === undefined ? null : formulaOf(conclusionText, 'conclusion-FOL'),
    label: labelOf(row.label, 'label'),
    source: 'folio',
    context: premises.join(' '),
    question: `${QUESTION} ${row.conclusion.trim()}`,
  }
}

const readFolio = (row: unknown): FolioRow => {
  const checked = checkRow(folioRow, row)
  labelOf(checked.label, 'label')
  return checked
}

const readLogicLm = (row: unknown): LogicLmRow => {
  const checked = checkRow(logicLmRow, row)
  answerLabel(checked)
  statementOf(checked.question)
  return checked
}

/**
 * @param read throws DataError for a row of another shape, which ends the reading
 * @param convert throws DataError for a row that is left out
 */
const readTolerantly = <Row>(
  path: string,
  read: (row: unknown) => Row,
  idOf: (row: Row) => string,
  convert: (row: Row) => LogicTaskExample,
): LogicFile => {
  const file: LogicFile = { problems: [], unread: [] }
  for (const row of readJsonl(path, read)) {
    try {
      file.problems.push(convert(row))
    } catch (error) {
      if (!(error instanceof DataError)) throw error
      file.unread.push({ id: idOf(row), reason: error.message })
    }
  }
  return file
}
