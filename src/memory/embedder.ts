/** @file What turns texts into vectors whose inner products say how alike they are. */

import { DataError } from '../util/errors.ts'

/** Anything that embeds texts. A test's own takes five lines. */
export interface Embedder {
  /** Vectors may be compared where this is the same: it names the method with all that changes a vector, and no secret. */
  readonly name: string
  /** Length of a vector; null while only the first answer will tell. */
  readonly dims: number | null
  /** The same text has the same vector at any time, at little cost: vectors are not stored but made again. */
  readonly recomputed?: true
  /** One vector a text, in their order, each [dims] and of any length: who compares them normalises them. */
  embed(texts: readonly string[]): Promise<Float32Array[]>
  close?(): Promise<void>
}

/** What rounding to float32 leaves of a length of 1: a vector that was normalised once stays as it is. */
const UNIT_TOLERANCE = 1e-6

/**
 * The vectors of an embedder, each divided by its length; a zero vector, which is like nothing, stays zero.
 * @throws DataError for another number of vectors, another length, or numbers that are not finite
 */
export const embedUnit = async (embedder: Embedder, texts: readonly string[]): Promise<Float32Array[]> => {
  if (texts.length === 0) return []
  const vectors = await embedder.embed(texts)
  if (vectors.length !== texts.length)
    throw new DataError(
      `${embedder.name}: expected ${texts.length} vectors for as many texts, got ${vectors.length}`,
    )
  const dims = embedder.dims ?? vectors[0].length
  return vectors.map((vector, i) => {
    if (vector.length !== dims)
      throw new DataError(
        `${embedder.name}: text ${i}: expected a vector of ${dims} numbers, got ${vector.length}`,
      )
    return unitVector(vector, `${embedder.name}: text ${i}`)
  })
}

/** A vector divided by its Euclidean length; as it is where that is 1 or 0. @throws DataError naming `place` for NaN or infinity */
export const unitVector = (vector: Float32Array, place: string): Float32Array => {
  let squares = 0
  for (const x of vector) squares += x * x
  const length = Math.sqrt(squares)
  if (!Number.isFinite(length))
    throw new DataError(`${place}: expected finite numbers in its vector, got one that is not`)
  if (length === 0 || Math.abs(length - 1) < UNIT_TOLERANCE) return vector
  return vector.map(x => x / length)
}
