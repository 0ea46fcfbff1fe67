/** @file One lesson of the bank: what was learnt from a question, and how a file holds it. */

import { hash } from 'node:crypto'
import { z } from 'zod'
import { DataError, type GradusError } from '../util/errors.ts'
import { wellFormed } from '../util/json.ts'
import { parseWith } from '../util/schema.ts'
import { unitVector } from './embedder.ts'
import { copyJson, type Json } from './json.ts'

/** An accepted reflection. */
export interface Reflection<Takeaways extends Json = Json> {
  question: string
  /** What matters for the question: text, or a structure of the task's own. */
  rubrics: Json
  /** Lessons that carry over to other questions: text, or a structure of the task's own. */
  takeaways: Takeaways
  /** Usefulness by the judge that accepted it. */
  u: number
  /** Step of training that it was made in. */
  step: number
}

export interface BankItem<Takeaways extends Json = Json> extends Reflection<Takeaways> {
  /** SHA-256 of the question, 64 hexadecimal digits. */
  qHash: string
}

/** SHA-256 of a question as UTF-8: what one item a question is known by. */
export const questionHash = (question: string): string => hash('sha256', wellFormed(question), 'hex')

/** Checks the takeaways of a task; whatever is JSON unless a bank is given one. */
export type TakeawaysSchema<Takeaways extends Json> = z.ZodType<Takeaways>

/** @throws DataError for a reflection that a file could not hold */
export const bankItem = <Takeaways extends Json>(reflection: Reflection<Takeaways>): BankItem<Takeaways> => {
  const { question, rubrics, takeaways, u, step } = reflection
  const place = `reflection of step ${step}`
  if (typeof question !== 'string')
    throw new DataError(`${place}: expected a question, got ${typeof question}`)
  if (!Number.isFinite(u)) throw new DataError(`${place}: expected a finite u, got ${u}`)
  if (!(Number.isSafeInteger(step) && step >= 0)) throw new DataError(`${place}: expected a step, 0 or later`)
  return {
    qHash: questionHash(question),
    question: wellFormed(question),
    rubrics: copyJson(rubrics, `${place}: rubrics`),
    takeaways: copyJson(takeaways, `${place}: takeaways`) as Takeaways,
    u,
    step,
  }
}

const present = z.unknown().refine(value => value !== undefined, 'JSON')

const storedSchema = z.strictObject({
  qHash: z.string(),
  question: z.string(),
  rubrics: present,
  takeaways: present,
  u: z.number(),
  step: z.int().nonnegative(),
  /** float32, little-endian, in base64. */
  embedding: z.string().optional(),
})

/** An item as checkpoints and files hold it. */
export type StoredItem = z.output<typeof storedSchema>

export interface ReadItem<Takeaways extends Json> {
  item: BankItem<Takeaways>
  /** Unit vector, where it was stored. */
  vector: Float32Array | null
}

type ErrorClass = new (message: string, options?: { hint?: string }) => GradusError

export interface ItemOptions<Takeaways extends Json> {
  /** What stored vectors have. */
  dims: number | null
  takeaways?: TakeawaysSchema<Takeaways>
  ErrorKind: ErrorClass
}

export const storedItem = (item: BankItem, vector: Float32Array | null): StoredItem => ({
  ...item,
  ...(vector && { embedding: encodeVector(vector) }),
})

/** Checks an item from outside. @throws `ErrorKind` naming `place` */
export const readItem = <Takeaways extends Json>(
  value: unknown,
  place: string,
  { dims, takeaways, ErrorKind }: ItemOptions<Takeaways>,
): ReadItem<Takeaways> => {
  const { embedding, ...stored } = parseWith(storedSchema, value, place, ErrorKind)
  const expected = questionHash(stored.question)
  if (stored.qHash !== expected)
    throw new ErrorKind(`${place}: qHash: expected ${expected}, the SHA-256 of its question, got another`, {
      hint: 'the question was changed, or the line is damaged',
    })
  if (takeaways) parseWith(takeaways, stored.takeaways, `${place}: takeaways`, ErrorKind)
  const vector = embedding === undefined ? null : decodeVector(embedding, dims, place, ErrorKind)
  return { item: stored as BankItem<Takeaways>, vector }
}

const encodeVector = (vector: Float32Array): string => {
  const bytes = Buffer.alloc(4 * vector.length)
  for (let d = 0; d < vector.length; d++) bytes.writeFloatLE(vector[d], 4 * d)
  return bytes.toString('base64')
}

const decodeVector = (
  text: string,
  dims: number | null,
  place: string,
  ErrorKind: ErrorClass,
): Float32Array => {
  const bytes = Buffer.from(text, 'base64')
  if (dims === null || bytes.length !== 4 * dims || bytes.toString('base64') !== text)
    throw new ErrorKind(
      `${place}: embedding: expected ${dims ?? 'no'} numbers of 4 bytes in base64, got ${text.length} characters for ${bytes.length} bytes`,
    )
  const vector = Float32Array.from({ length: dims }, (_, d) => bytes.readFloatLE(4 * d))
  try {
    return unitVector(vector, `${place}: embedding`)
  } catch (error) {
    throw new ErrorKind((error as Error).message)
  }
}
