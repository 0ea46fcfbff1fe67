/** @file What an endpoint of embeddings sent back: one vector a text, in the order of the texts, or the error that it is. */

import { JudgeError } from '../util/errors.ts'
import type { ChatUsage } from './chat-model.ts'
import { bodyExcerpt, embeddedError, isFields, type JsonFields, parseBody, usageOf } from './response.ts'

export interface EmbeddingAnswer {
  vectors: Float32Array[]
  usage: ChatUsage
}

const malformed = (where: string, what: string): JudgeError =>
  new JudgeError('malformed', `${where}: expected embeddings, got ${what}`, {
    hint: 'check that the URL and the model are those of embeddings',
  })

const numbersOf = (embedding: unknown): Float32Array | null => {
  if (Array.isArray(embedding))
    return embedding.every(x => typeof x === 'number') ? Float32Array.from(embedding) : null
  // Some servers send base64 of float32, little-endian, whatever was asked for.
  if (typeof embedding !== 'string') return null
  const bytes = Buffer.from(embedding, 'base64')
  if (bytes.length % 4 !== 0 || bytes.toString('base64') !== embedding) return null
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))
}

const vectorOf = (row: JsonFields, place: string, dims: number | null): Float32Array => {
  const vector = numbersOf(row.embedding)
  if (vector === null || vector.length === 0) throw malformed(place, 'a vector that is no list of numbers')
  if (dims !== null && vector.length !== dims)
    throw new JudgeError(
      'malformed',
      `${place}: expected a vector of ${dims} numbers, got ${vector.length}`,
      {
        hint: 'check dims, and that all requests reach the same model',
        retryable: false,
      },
    )
  if (!vector.every(Number.isFinite)) throw malformed(place, 'a vector with a number that is not finite')
  if (vector.every(x => x === 0)) throw malformed(place, 'a vector of zeros')
  return vector
}

/**
 * Reads the body of a 2xx answer; rows are put in order by their `index`.
 * @throws JudgeError `malformed` unless there is one vector for each text, finite, not zero, all of one length
 */
export const embeddingAnswer = (
  where: string,
  body: string,
  { count, dims }: { count: number; dims: number | null },
  secret?: string,
): EmbeddingAnswer => {
  const root = parseBody(body)
  if (!isFields(root))
    throw malformed(where, body === '' ? 'an empty body' : bodyExcerpt(body, secret).slice(0, 80))
  if (!Array.isArray(root.data)) {
    if (root.error) throw embeddedError(where, root.error, secret)
    throw malformed(where, 'JSON without data')
  }
  const rows = root.data
  if (rows.length !== count) throw malformed(where, `${rows.length} vectors for ${count} texts`)
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined)
  for (const [i, row] of rows.entries()) {
    if (!isFields(row)) throw malformed(where, `no object in data[${i}]`)
    const { index = i } = row
    if (typeof index !== 'number' || !(index in vectors) || vectors[index] !== undefined)
      throw malformed(where, `index ${JSON.stringify(index)?.slice(0, 40)} in data[${i}]`)
    const expected = dims ?? vectors.find(vector => vector !== undefined)?.length ?? null
    vectors[index] = vectorOf(row, `${where}: data[${i}]`, expected)
  }
  // An answer is all prompt: what a server leaves out of completion tokens is none.
  const usage = usageOf({ ...root, usage: { completion_tokens: 0, ...(root.usage as object) } })
  return { vectors: vectors as Float32Array[], usage }
}
