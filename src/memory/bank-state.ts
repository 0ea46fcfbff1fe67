/** @file A bank inside a checkpoint: plain JSON, with vectors only where they cannot simply be made again. */

import { z } from 'zod'
import { CheckpointError, type GradusError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import type { Embedder } from './embedder.ts'
import {
  type BankItem,
  type ReadItem,
  readItem,
  type StoredItem,
  storedItem,
  type TakeawaysSchema,
} from './item.ts'
import type { Json } from './json.ts'

/** A bank whose vectors are another embedder's is refused, or embedded anew by this one. */
export type OtherEmbedder = 'refuse' | 're-embed'

const VERSION = 1

/** What a bank says of itself, in a checkpoint and in the first line of its file. */
export const bankHeaderSchema = z.strictObject({
  gradus: z.literal('bank'),
  version: z.literal(VERSION),
  /** `Embedder.name`: vectors may be compared with those of the same one alone. */
  embedder: z.string(),
  /** Of the vectors that are stored; null where none are. */
  dims: z.int().positive().nullable(),
})
export type BankHeader = z.output<typeof bankHeaderSchema>

const stateSchema = bankHeaderSchema.extend({ items: z.array(z.unknown()) })

export interface BankState extends BankHeader {
  /** The one used longest ago first. */
  items: StoredItem[]
}

export interface BankRow {
  item: BankItem
  /** Null where vectors are not stored. */
  vector: Float32Array | null
}

export const bankState = (embedder: Embedder, rows: readonly BankRow[]): BankState => ({
  ...{ gradus: 'bank', version: VERSION, embedder: embedder.name },
  dims: rows[0]?.vector?.length ?? null,
  items: rows.map(({ item, vector }) => storedItem(item, vector)),
})

/**
 * Whether stored vectors may be used with an embedder.
 * @throws ErrorKind where they are another one's and that is to be refused, and where they are of another length than its own
 */
export const fitsEmbedder = (
  { embedder: name, dims }: BankHeader,
  embedder: Embedder,
  other: OtherEmbedder,
  place: string,
  ErrorKind: new (message: string, options?: { hint?: string }) => GradusError,
): boolean => {
  if (name === embedder.name) {
    if (dims !== null && embedder.dims !== null && dims !== embedder.dims)
      throw new ErrorKind(`${place}: dims: expected ${embedder.dims}, as its embedder has, got ${dims}`)
    return true
  }
  if (other === 're-embed') return false
  throw new ErrorKind(
    `${place}: expected a bank of the embedder ${JSON.stringify(embedder.name)}, got one of ${JSON.stringify(name)}`,
    { hint: 'use the embedder that it was made with, or have it embedded anew (otherEmbedder: re-embed)' },
  )
}

export interface ReadOptions<Takeaways extends Json> {
  takeaways?: TakeawaysSchema<Takeaways>
  otherEmbedder?: OtherEmbedder
}

/** Checks what `bankState` gave. @throws CheckpointError */
export const readBankState = <Takeaways extends Json>(
  value: unknown,
  embedder: Embedder,
  { takeaways, otherEmbedder = 'refuse' }: ReadOptions<Takeaways> = {},
): ReadItem<Takeaways>[] => {
  const place = "recipe's state: bank"
  const { items, ...header } = parseWith(stateSchema, value, place, CheckpointError)
  const fits = fitsEmbedder(header, embedder, otherEmbedder, place, CheckpointError)
  const seen = new Set<string>()
  return items.map((row, i) => {
    const at = `${place}: items[${i}]`
    const read = readItem(row, at, { dims: header.dims, takeaways, ErrorKind: CheckpointError })
    refuseTwice(seen, read.item.qHash, at, CheckpointError)
    return fits ? read : { ...read, vector: null }
  })
}

/** @throws ErrorKind for a question that was there before: a bank has one item a question */
export const refuseTwice = (
  seen: Set<string>,
  qHash: string,
  place: string,
  ErrorKind: new (message: string) => GradusError,
): void => {
  if (seen.has(qHash)) throw new ErrorKind(`${place}: expected one item a question, got a second one`)
  seen.add(qHash)
}
