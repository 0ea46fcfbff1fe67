/** @file Public files of questions, each row into the one shape; and a plain format of our own. */

import { z } from 'zod'
import { rubricSchema } from '../../rubric/criterion.ts'
import { writingbench } from '../../rubric/formats/writingbench.ts'
import { DataError } from '../../util/errors.ts'
import type { JsonlLine } from '../../util/jsonl.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import { letterOf, QUESTION_KINDS, type Question } from './question.ts'
import { WRITING_QUALITY } from './writing.ts'

/** A row as a question; its id is absent where the row names none. */
type Loaded = Omit<Question, 'id'> & { id?: string }

/** Null for a row that the published file itself leaves empty. @throws DataError naming the key that cannot be used */
type Loader = (row: unknown) => Loaded | null

const text = z.string().refine(value => value.trim() !== '', 'text; write something')
const answer = z.union([text, z.number()], { error: 'an answer as text or as a number' }).transform(String)
const name = z
  .union([z.string().min(1), z.number()])
  .transform(String)
  .optional()

/** Rows of public files have keys that are not needed here: they are let be. */
const read = <S extends z.ZodType>(schema: S, row: unknown): z.output<S> =>
  parseWith(schema, row, '', DataError)

const dapoSchema = z.object({ prompt: text, answer, index: name })
const dapo: Loader = row => {
  const { prompt, answer: gold, index } = read(dapoSchema, row)
  return { id: index, question: prompt, kind: 'math', gold }
}

const problemSchema = z.object({ problem: text, answer, unique_id: name, id: name })
/** AIME, AMC and MATH-500 have the same keys. */
const problem: Loader = row => {
  const { problem: question, answer: gold, unique_id, id } = read(problemSchema, row)
  return { id: unique_id ?? id, question, kind: 'math', gold }
}

const strategySchema = z.object({ question: text, answer: z.boolean(), qid: name })
const strategyqa: Loader = row => {
  const { question, answer: holds, qid } = read(strategySchema, row)
  return { id: qid, question, kind: 'yes-no', gold: holds ? 'yes' : 'no' }
}

/** As many options as there are letters. */
const MOST_OPTIONS = 26

const truthfulSchema = z.object({
  question: text,
  mc1_targets: z
    .record(z.string(), z.union([z.literal(0), z.literal(1)]))
    // One row of the file has an empty option.
    .transform(targets =>
      Object.fromEntries(Object.entries(targets).filter(([option]) => option.trim() !== '')),
    )
    .refine(
      targets => Object.values(targets).filter(right => right === 1).length === 1,
      'exactly one option with 1; mc1 has one right answer',
    )
    .refine(
      targets => Object.keys(targets).length >= 2 && Object.keys(targets).length <= MOST_OPTIONS,
      `2 to ${MOST_OPTIONS} options`,
    ),
})

/** Options of a file that always names the right one first are shown in an order that depends on the question alone. */
const shuffledChoice = (format: string, question: string, right: string, given: string[]): Loaded => {
  const options = new Rng(`${format} options`).fork(question).shuffle(given.sort())
  return { question, kind: 'choice', gold: letterOf(options.indexOf(right)), options }
}

const truthfulqa: Loader = row => {
  const { question, mc1_targets } = read(truthfulSchema, row)
  const options = Object.keys(mc1_targets)
  return shuffledChoice('truthfulqa', question, options.find(option => mc1_targets[option] === 1)!, options)
}

const trimmed = text.transform(own => own.trim())
const gpqaSchema = z.object({
  ...{ Question: text, 'Correct Answer': trimmed, 'Record ID': name },
  ...{ 'Incorrect Answer 1': trimmed, 'Incorrect Answer 2': trimmed, 'Incorrect Answer 3': trimmed },
})
const gpqa: Loader = row => {
  const { Question: question, 'Record ID': id, 'Correct Answer': right, ...wrong } = read(gpqaSchema, row)
  return { id, ...shuffledChoice('gpqa', question, right, [right, ...Object.values(wrong)]) }
}

const superSchema = z.object({
  ...{ uuid: name, question: text, answer_letter: text },
  options: z.array(text).min(2).max(MOST_OPTIONS),
})
const supergpqa: Loader = row => {
  const { uuid: id, question, options, answer_letter } = read(superSchema, row)
  return { id, question, kind: 'choice', options, gold: letterAmong(options, answer_letter, 'answer_letter') }
}

/** LogiQA 2.0: an inference, or a choice; of the first version `logiqaLines` makes choices. */
const inferenceSchema = z.object({
  label: z.enum(['entailed', 'not entailed']),
  major_premise: z.union([z.string(), z.array(z.string())]),
  ...{ minor_premise: z.string(), conclusion: z.string() },
})
const logicalChoiceSchema = z.object({
  ...{ id: name, text: z.string(), question: z.string() },
  options: z.array(z.string()).min(2).max(MOST_OPTIONS),
  answer: z.int().min(0),
})
const isBlank = (own: string): boolean => own.trim() === ''
/** A row of its files for development has no conclusion, a few of the Chinese ones lack an option. */
const logiqa: Loader = row => {
  if (Object.hasOwn(Object(row), 'conclusion')) {
    const { label, major_premise, minor_premise, conclusion } = read(inferenceSchema, row)
    if (isBlank(conclusion)) return null
    const premises = [major_premise, minor_premise].flat().filter(own => !isBlank(own))
    const stated = [...premises, `Conclusion: ${conclusion}`].map(own => own.trim())
    const question = `${stated.join('\n')}\n\nDoes the conclusion follow from what stands before it?`
    return { question, kind: 'yes-no', gold: label === 'entailed' ? 'yes' : 'no' }
  }
  const { id, text: context, question, options, answer } = read(logicalChoiceSchema, row)
  if ([question, ...options].some(isBlank)) return null
  const gold = letterAmong(options, letterOf(answer), 'answer')
  return { id, question: `${context}\n\n${question}`, kind: 'choice', options, gold }
}

const LINES_A_QUESTION = 7
/** Rows of the first version's text: of each question the letter of the answer, the text, the question, four options. */
export const logiqaLines = (lines: readonly JsonlLine[]): readonly JsonlLine[] => {
  if (lines[0].text.startsWith('{')) return lines
  return Array.from({ length: Math.ceil(lines.length / LINES_A_QUESTION) }, (_, i) => {
    const [letter, ...rest] = lines.slice(i * LINES_A_QUESTION, (i + 1) * LINES_A_QUESTION)
    const { place } = letter
    const [context = '', question = '', ...given] = rest.map(own => own.text.trim())
    if (!/^\s*[a-d]\s*$/.test(letter.text) || rest.length < LINES_A_QUESTION - 1)
      throw new DataError(
        `${place}: expected the letter of an answer and six more lines, got ${JSON.stringify(letter.text)} and ${rest.length}`,
      )
    const options = given.map(option => option.replace(/^[A-D](?:\s*[.?:]\s*|\s+)/, ''))
    const answer = letter.text.trim().charCodeAt(0) - 'a'.charCodeAt(0)
    return { place, text: JSON.stringify({ text: context, question, options, answer }) }
  })
}

const longbenchSchema = z.object({
  prompt: text,
  length: z.number().positive(),
  type: z.string().default(''),
})
const longbenchWrite: Loader = row => {
  const { prompt, length, type } = read(longbenchSchema, row)
  // As text they stand in the order of their lengths.
  const stratum = `${type}/${String(length).padStart(9, '0')}`
  return { question: prompt, kind: 'open', rubric: WRITING_QUALITY, requiredLength: length, stratum }
}

const label = z.string().default('')
const domainSchema = z.object({ domain1: label, domain2: label, lang: label })

const writingBench: Loader = row => {
  const mismatch = writingbench.mismatch(row)
  if (mismatch !== null)
    throw new DataError(`expected a row of WritingBench with query and checklist, got one with ${mismatch}`)
  const { id, prompt = [], rubric } = writingbench.read(row, 'row', '')
  if (rubric.criteria.length === 0)
    throw new DataError('checklist: expected criteria, got none; an open question is graded by them')
  const { domain1, domain2, lang } = read(domainSchema, row)
  const stratum = [domain1, domain2, lang].join('/')
  return { ...(id !== '' && { id }), question: prompt[0].content, kind: 'open', rubric, stratum }
}

const plainSchema = z
  .strictObject({
    id: name,
    question: text,
    /** Default: `choice` with options, `open` with a rubric, else `math`. */
    kind: z.enum(QUESTION_KINDS).optional(),
    answer: z.union([answer, z.boolean().transform(holds => (holds ? 'yes' : 'no'))]).optional(),
    options: z.array(text).min(2).max(MOST_OPTIONS).optional(),
    rubric: rubricSchema.optional(),
    /** Words that the answer is to have. */
    length: z.number().positive().optional(),
  })
  .transform(({ kind, options, rubric, ...row }) => ({
    ...row,
    options,
    rubric,
    kind: kind ?? (options ? ('choice' as const) : rubric ? ('open' as const) : ('math' as const)),
  }))

const letterAmong = (options: readonly string[], given: string, key: string): string => {
  const letters = options.map((_, at) => letterOf(at))
  if (letters.includes(given.toUpperCase())) return given.toUpperCase()
  throw new DataError(
    `${key}: expected one of the options or a letter from A to ${letters.at(-1)}, got ${JSON.stringify(given)}; correct it`,
  )
}

/** The letter of a choice's right answer, which may be given as a letter or as the option itself. */
const choiceGold = (options: readonly string[], given: string): string => {
  const place = options.indexOf(given)
  return place >= 0 ? letterOf(place) : letterAmong(options, given, 'answer')
}

const plain: Loader = row => {
  const { id, question, kind, answer: gold, options, rubric, length } = read(plainSchema, row)
  const common = { id, question, kind }
  if (kind === 'open') {
    if (rubric === undefined || rubric.criteria.length === 0)
      throw new DataError('rubric: expected criteria, got none; an open question is graded by its rubric')
    return { ...common, rubric, ...(length !== undefined && { requiredLength: length }) }
  }
  if (gold === undefined)
    throw new DataError('answer: expected the right answer, got nothing; or give a rubric, and kind "open"')
  if (kind === 'choice') {
    if (options === undefined) throw new DataError('options: expected the options of a choice, got nothing')
    return { ...common, options, gold: choiceGold(options, gold) }
  }
  if (kind === 'yes-no' && !/^(?:yes|no)$/i.test(gold))
    throw new DataError(`answer: expected yes or no, got ${JSON.stringify(gold)}; or leave out kind`)
  return { ...common, gold: kind === 'yes-no' ? gold.toLowerCase() : gold }
}

const LOADERS = {
  plain,
  dapo,
  aime: problem,
  amc: problem,
  math500: problem,
  strategyqa,
  truthfulqa,
  gpqa,
  supergpqa,
  logiqa,
  'longbench-write': longbenchWrite,
  writingbench: writingBench,
} as const satisfies Record<string, Loader>

export type QuestionFormat = keyof typeof LOADERS
export const QUESTION_FORMATS = Object.keys(LOADERS) as QuestionFormat[]

/** A row of a file in this format; null where the file leaves it empty. @throws DataError naming the key that cannot be used */
export const loadQuestion = (format: QuestionFormat, row: unknown): Loaded | null => LOADERS[format](row)
