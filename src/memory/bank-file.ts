/** @file A bank as a file of its own: JSON Lines that people read, and that other runs and inference start from. */

import { createHash, type Hash } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { z } from 'zod'
import { writeFileAtomic } from '../util/atomic.ts'
import { canonicalJson } from '../util/canonical.ts'
import { DataError } from '../util/errors.ts'
import { fileFailure, withFile } from '../util/file-failure.ts'
import { parseRow } from '../util/jsonl.ts'
import { streamJsonl } from '../util/jsonl-stream.ts'
import { isRecord } from '../util/own-value.ts'
import { describeKeys, describeValue, parseWith } from '../util/schema.ts'
import type { RubricBank } from './bank.ts'
import {
  type BankHeader,
  bankHeaderSchema,
  fitsEmbedder,
  type ReadOptions,
  refuseTwice,
} from './bank-state.ts'
import { type ReadItem, readItem } from './item.ts'
import type { Json } from './json.ts'

const fileHeaderSchema = bankHeaderSchema.extend({
  /** Lines that follow. */
  items: z.int().nonnegative(),
  /** Step of training after which it was written. */
  step: z.int().nonnegative(),
  /** Of what else stands in the first line, and of all other lines; absent where the file was written, or changed, by somebody else. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
})

/** A hash that has read a first line but for its digest; the other lines come after it. */
const hashAfter = ({ sha256: _, ...header }: z.output<typeof fileHeaderSchema>): Hash =>
  createHash('sha256').update(`${canonicalJson(header)}\n`)

export interface BankFileContent<Takeaways extends Json = Json> extends BankHeader {
  step: number
  items: ReadItem<Takeaways>[]
}

/** What is written of a bank. */
type Saved = Pick<RubricBank, 'save'>

/** Items whose lines become one piece of the file. */
const PIECE = 512

/**
 * Writes a bank: a first line about it, then an item a line, the one used longest ago first. A reader sees the file as it was
 * or as it is now, also when this is killed in between.
 * @param step of training that it stands after
 */
export const writeBankFile = (path: string, bank: Saved, step: number): void => {
  const { items, ...saved } = bank.save()
  const header = { ...saved, items: items.length, step }
  const hash = hashAfter(header)
  const pieces: Buffer[] = []
  for (let from = 0; from < items.length; from += PIECE)
    pieces.push(
      Buffer.from(
        items
          .slice(from, from + PIECE)
          .map(item => `${JSON.stringify(item)}\n`)
          .join(''),
      ),
    )
  for (const piece of pieces) hash.update(piece)
  const first = Buffer.from(`${JSON.stringify({ ...header, sha256: hash.digest('hex') })}\n`)
  try {
    writeFileAtomic(path, [first, ...pieces])
  } catch (error) {
    throw fileFailure(path, error, { doing: 'cannot be written' })
  }
}

const foreign = (place: string, value: unknown): DataError => {
  const got = isRecord(value) ? describeKeys(value) : describeValue(value)
  return new DataError(
    `${place}: expected the first line of a bank, {"gradus":"bank","version":1,...}, got ${got}`,
    { hint: 'name a bank.jsonl of a run' },
  )
}

const readHeader = (value: unknown, place: string): z.output<typeof fileHeaderSchema> => {
  const { gradus } = (value ?? {}) as { gradus?: unknown }
  if (gradus !== 'bank') throw foreign(place, value)
  return parseWith(fileHeaderSchema, value, place, DataError)
}

/** A first line is a few hundred bytes. */
const MAX_HEADER_BYTES = 64 * 1024

const beginningOf = (path: string): string =>
  withFile(path, () => {
    const fd = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(MAX_HEADER_BYTES)
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, MAX_HEADER_BYTES, 0))
    } finally {
      closeSync(fd)
    }
  })

/** Whether a file begins as a bank does, before anything is done with it. @throws DataError where it does not */
export const checkBankFile = (path: string): void => {
  const place = `${path}:1`
  const [line] = beginningOf(path).split('\n', 1)
  const { items } = readHeader(
    parseRow(line, place, row => row),
    place,
  )
  if (items === 0) throw noItems(path)
}

const noItems = (path: string): DataError =>
  new DataError(`${path}: expected at least one item, got a bank without any`, {
    hint: 'take the bank of a run that has accepted reflections',
  })

/**
 * Reads a bank from its file.
 * @throws DataError naming the file, and the line where that is known, for one that cannot be read, was cut off, is damaged, or is
 * no bank
 */
export const readBankFile = async <Takeaways extends Json = Json>(
  path: string,
  { takeaways }: Pick<ReadOptions<Takeaways>, 'takeaways'> = {},
): Promise<BankFileContent<Takeaways>> => {
  let header: z.output<typeof fileHeaderSchema> | null = null
  let hash: Hash | null = null
  const items: ReadItem<Takeaways>[] = []
  const seen = new Set<string>()
  for await (const { text, place } of streamJsonl(path)) {
    // What `parseRow` throws has the place already; what is checked after it says its own.
    const value = parseRow(text, place, row => row)
    if (header === null) {
      header = readHeader(value, place)
      hash = hashAfter(header)
      continue
    }
    hash!.update(`${text}\n`)
    if (items.length === header.items)
      throw new DataError(`${place}: expected ${header.items} items, as the first line says, got more`, {
        hint: 'two files may have been joined: have it written again by its run',
      })
    const read = readItem(value, place, { dims: header.dims, takeaways, ErrorKind: DataError })
    refuseTwice(seen, read.item.qHash, place, DataError)
    items.push(read)
  }
  if (header === null)
    throw new DataError(`${path}:1: expected the first line of a bank, got an empty file`, {
      hint: 'name a bank.jsonl of a run',
    })
  if (items.length < header.items)
    throw new DataError(
      `${path}:${items.length + 2}: expected ${header.items} items, as the first line says, got ${items.length}`,
      { hint: 'the file was cut off: have it written again by its run' },
    )
  const { sha256, ...about } = header
  if (sha256 !== undefined && sha256 !== hash!.digest('hex'))
    throw new DataError(
      `${path}: expected the lines that were written, by the sha256 in the first one, got others`,
      {
        hint: 'put the file back from a copy; if it was changed on purpose, take sha256 out of its first line',
      },
    )
  return { ...about, items }
}

/**
 * Has a bank start from a file, whatever run wrote it. Vectors of another embedder are refused or made anew.
 * @throws DataError naming file and line; also for a file without any item, which most likely was written too early
 */
export const startFromFile = async <Takeaways extends Json>(
  bank: RubricBank<Takeaways>,
  path: string,
  { takeaways, otherEmbedder = 're-embed' }: ReadOptions<Takeaways> = {},
): Promise<void> => {
  const { items, ...header } = await readBankFile<Takeaways>(path, { takeaways })
  if (items.length === 0) throw noItems(path)
  const usable = fitsEmbedder(header, bank.embedder, otherEmbedder, `${path}:1`, DataError)
  bank.take(usable ? items : items.map(read => ({ ...read, vector: null })))
}

/** Steps between two writings. */
export const WRITE_EVERY_STEPS = 10

/**
 * The bank's file in a run. It is written every so many steps, with every checkpoint, and once a checkpoint was restored: the
 * checkpoint's state says what the bank is, and this file is for people and for later use.
 */
export class BankFile {
  readonly path: string
  readonly #everySteps: number

  constructor(path: string, { everySteps = WRITE_EVERY_STEPS }: { everySteps?: number } = {}) {
    this.path = path
    this.#everySteps = everySteps
  }

  get exists(): boolean {
    return existsSync(this.path)
  }

  /** Writes after a step where its turn has come. @returns whether it did */
  afterStep(bank: Saved, step: number): boolean {
    if (step % this.#everySteps !== 0) return false
    this.write(bank, step)
    return true
  }

  /** Writes now: with a checkpoint, at the end, and after a checkpoint was restored. */
  write(bank: Saved, step: number): void {
    writeBankFile(this.path, bank, step)
  }
}
