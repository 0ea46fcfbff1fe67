/** @file Builds a search index: documents into passages, passages into terms, all of it into one file. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { eventLoopYield } from '../util/yield-to-event-loop.ts'
import { BM25_DEFAULTS } from './bm25.ts'
import type { SourceDocument } from './documents.ts'
import { GrowingUint32 } from './growing.ts'
import { bytesOf, IndexWriter, inBuffers } from './index-file.ts'
import { PASSAGE_CHARS, passagesOf } from './passages.ts'
import { PostingsBuilder } from './postings.ts'
import { termsOf } from './terms.ts'

/** How an index is made, as a configuration writes it. */
export const buildSchema = z.strictObject({
  /** Most characters of a passage; longer documents become several. */
  maxChars: z.int().min(50).max(1_000_000).default(PASSAGE_CHARS),
  /** Of BM25: how soon a repeated term adds nothing, and how much length counts. */
  k1: z.number().nonnegative().max(100).default(BM25_DEFAULTS.k1),
  b: z.number().min(0).max(1).default(BM25_DEFAULTS.b),
})

export interface BuildRuntime {
  /** Called with how many passages there are, at every ten thousandth. */
  onPassages?: (passages: number) => void
  /** Where the documents come from, for errors. */
  from?: string
  /** Ends the work; nothing is left behind. */
  signal?: AbortSignal
}

export interface BuiltIndex {
  documents: number
  passages: number
  terms: number
  bytes: number
}

const TOLD_EVERY = 10_000

/** A passage as a line of the file. */
export interface StoredPassage {
  id: string
  title?: string
  text: string
  /** The document that it is a part of, where that has another id. */
  document?: string
}

/** Passages' lines, with what is learnt of them on their way. */
class Collector {
  readonly postings = new PostingsBuilder()
  /** Bytes of each passage's line. */
  readonly lineBytes = new GrowingUint32()
  documents = 0
  readonly #ids = new Set<string>()
  readonly #maxChars: number
  readonly #runtime: BuildRuntime

  constructor(maxChars: number, runtime: BuildRuntime) {
    this.#maxChars = maxChars
    this.#runtime = runtime
  }

  async *lines(documents: AsyncIterable<SourceDocument> | Iterable<SourceDocument>): AsyncGenerator<Buffer> {
    const yieldToEventLoop = eventLoopYield()
    for await (const document of documents) {
      this.#runtime.signal?.throwIfAborted()
      await yieldToEventLoop()
      this.#claim(document.id, document.place)
      this.documents++
      for (const [part, text] of passagesOf(document.text, this.#maxChars).entries())
        yield this.#passage(document, text, part)
    }
  }

  #claim(id: string, place: string): void {
    if (this.#ids.has(id))
      throw new DataError(
        `${place}: expected an id that no other passage has, got ${JSON.stringify(id)} again`,
        {
          hint: 'name a key whose values are all different, or leave the id out',
        },
      )
    this.#ids.add(id)
  }

  #passage({ id, title, place }: SourceDocument, text: string, part: number): Buffer {
    const own = part === 0 ? id : `${id}/${part + 1}`
    if (part > 0) this.#claim(own, place)
    const stored: StoredPassage = {
      id: own,
      ...(title !== undefined && { title }),
      text,
      ...(part > 0 && { document: id }),
    }
    const line = Buffer.from(`${JSON.stringify(stored)}\n`)
    this.lineBytes.push(line.length)
    this.postings.add(termsOf(title === undefined ? text : `${title}\n${text}`))
    if (this.postings.passages % TOLD_EVERY === 0) this.#runtime.onPassages?.(this.postings.passages)
    return line
  }
}

/** Where each line begins, and where the last one ends. */
const offsetsOf = (lineBytes: Uint32Array): Float64Array => {
  const offsets = new Float64Array(lineBytes.length + 1)
  for (let line = 0; line < lineBytes.length; line++) offsets[line + 1] = offsets[line] + lineBytes[line]
  return offsets
}

/**
 * Builds an index of documents at `path`, whole or not at all. Documents are read once, and their texts are not held in memory.
 * @throws DataError for documents without any text, two of one id, or a path that cannot be written
 * @example
 * const text = 'The Aare flows through Bern.\n\nIt ends in the Rhine.'
 * const built = await buildIndex('rivers.index', [{ id: 'aare', text, place: 'rivers' }], { maxChars: 50 })
 * built.passages // 2
 */
export const buildIndex = async (
  path: string,
  documents: AsyncIterable<SourceDocument> | Iterable<SourceDocument>,
  options: z.input<typeof buildSchema> = {},
  runtime: BuildRuntime = {},
): Promise<BuiltIndex> => {
  const { maxChars, k1, b } = parseWith(buildSchema, options, 'search index')
  const collector = new Collector(maxChars, runtime)
  const writer = new IndexWriter(path)
  try {
    await writer.write('documents', inBuffers(collector.lines(documents)))
    if (collector.postings.passages === 0)
      throw new DataError(
        `${runtime.from ?? path}: expected documents with text to build an index of, got none`,
        { hint: 'check the files and folders' },
      )
    const { terms, starts, passages, counts, lengths } = collector.postings.build()
    await writer.write('offsets', bytesOf(offsetsOf(collector.lineBytes.toArray())))
    await writer.write('lengths', bytesOf(lengths))
    await writer.write('terms', [Buffer.from(terms.join('\n'))])
    await writer.write('starts', bytesOf(starts))
    await writer.write('passages', bytesOf(passages))
    await writer.write('counts', bytesOf(counts))
    const about = { passages: lengths.length, documents: collector.documents, maxChars, k1, b }
    const bytes = writer.finish(about)
    return { documents: collector.documents, passages: lengths.length, terms: terms.length, bytes }
  } catch (error) {
    writer.abandon()
    throw error
  }
}
