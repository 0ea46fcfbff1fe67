/** @file `gradus rubric generate`: rubrics for questions, written by a model from reference answers. */

import { z } from 'zod'
import { type AuthorOptions, generateRubric, type QuestionWithAnswer } from '../../grade/author/index.ts'
import type { RubricItem } from '../../rubric/formats/index.ts'
import { userPrompt } from '../../rubric/formats/item.ts'
import { DataError, JudgeError, UsageError } from '../../util/errors.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { EXIT, type Io } from '../io.ts'
import { type ModelOptions, withAuthor } from './model.ts'
import { writeRubrics } from './output.ts'

export interface GenerateCommandOptions extends ModelOptions {
  question?: string
  reference?: string
  data?: string
  concurrency: number
}

interface Question extends QuestionWithAnswer {
  id: string
}

/**
 * Writes a rubric for every question. A question without a usable rubric is named, and the exit code becomes 1.
 * @throws UsageError, ConfigError, DataError before any call; JudgeError when every call would fail.
 */
export const generateCommand = async (options: GenerateCommandOptions, io: Io): Promise<number> => {
  const questions = questionsOf(options)
  const { result, interrupted } = await withAuthor(options, io, author =>
    generateAll(questions, author, options, io),
  )
  const items = (result ?? []).filter(item => item !== null)
  if (items.length > 0) {
    const layout = options.data === undefined ? 'single' : 'rows'
    writeRubrics({ format: 'native', layout, items }, { out: options.out }, io)
  }
  if (interrupted) return EXIT.interrupted
  return items.length < questions.length ? EXIT.failed : EXIT.ok
}

const generateAll = async (
  questions: readonly Question[],
  author: AuthorOptions,
  { concurrency }: GenerateCommandOptions,
  io: Io,
): Promise<(RubricItem | null)[]> => {
  const work = async (item: Question): Promise<RubricItem | null> => {
    try {
      const { value, attempts } = await generateRubric(item, author)
      io.err.write(`${item.id}: ${value.criteria.length} criteria${attempts > 1 ? ', second answer' : ''}\n`)
      return { id: item.id, prompt: userPrompt(item.question), reference: item.reference, rubric: value }
    } catch (error) {
      // One question that the model cannot be had for must not take the others' rubrics with it.
      const passing = error instanceof JudgeError && !error.fatal
      if (!(error instanceof DataError || passing)) throw error
      io.err.write(`gradus: ${item.id}: ${error.message}\n`)
      return null
    }
  }
  const items: (RubricItem | null)[] = []
  for await (const item of mapInOrder(questions, work, { concurrency })) items.push(item)
  return items
}

const questionsOf = ({ question, reference, data }: GenerateCommandOptions): Question[] => {
  if (data === undefined) {
    if (question === undefined || reference === undefined)
      throw new UsageError('rubric generate: expected --question and --reference, or --data FILE.jsonl')
    return [{ id: 'rubric', question, reference }]
  }
  if (question !== undefined || reference !== undefined)
    throw new UsageError('--data: expected no --question or --reference beside it, got both')
  return someJsonlLines(data, 'question').map(({ place, text }, index) =>
    parseRow(text, place, value => parseQuestion(value, index)),
  )
}

// Loose: data sets carry fields of their own.
const questionSchema = z
  .looseObject({
    id: z.union([z.string(), z.number()]).optional(),
    question: z.string().min(1).optional(),
    prompt: z.string().min(1).optional(),
    reference: z.union([z.string().min(1), z.number()]).optional(),
    answer: z.union([z.string().min(1), z.number()]).optional(),
  })
  .refine(row => row.question ?? row.prompt, 'a "question" or "prompt"; add one')
  .refine(row => row.reference ?? row.answer, 'a "reference" or "answer"; add one')

const parseQuestion = (value: unknown, index: number): Question => {
  const { id, question, prompt, reference, answer } = parseWith(questionSchema, value, '', DataError)
  return {
    id: String(id ?? `row${index + 1}`),
    question: question ?? prompt ?? '',
    reference: String(reference ?? answer),
  }
}
