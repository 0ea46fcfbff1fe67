/** @file A search index that is open: queries in, passages out. Terms are held in memory, texts stay in the file. */

import { DataError } from '../util/errors.ts'
import { Bm25, type ScoredPassage } from './bm25.ts'
import type { StoredPassage } from './build.ts'
import { IndexReader } from './index-file.ts'
import { type Postings, postingsFault } from './postings.ts'
import { SNIPPET_CHARS, snippetOf } from './snippet.ts'
import { termsOf } from './terms.ts'

export interface Hit {
  /** The passage's, to be cited by; unique in the index. */
  id: string
  /** Of the document that the passage is a part of. */
  document: string
  title?: string
  text: string
  /** The part of the text that says most about the query. */
  snippet: string
  score: number
}

export interface SearchOptions {
  /** Most passages. */
  top?: number
  /** Most characters of a snippet. */
  snippetChars?: number
}

export const SEARCH_DEFAULTS = { top: 10, snippetChars: SNIPPET_CHARS } as const

/** Most passages that a query is answered with. */
export const MAX_TOP = 1_000
/** Words of a query that count; whoever writes it may be a model that does not stop. */
const MAX_QUERY_CHARS = 10_000

const uint32 = (bytes: Buffer): Uint32Array =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 4))

const readPostings = (reader: IndexReader): Postings => {
  const terms = reader.read('terms').toString('utf8')
  return {
    terms: terms === '' ? [] : terms.split('\n'),
    starts: uint32(reader.read('starts')),
    passages: uint32(reader.read('passages')),
    counts: reader.read('counts'),
    lengths: uint32(reader.read('lengths')),
  }
}

/**
 * An index that is open for queries, until it is closed.
 * @example
 * const texts = { seine: 'The Seine flows through Paris.', aare: 'The Aare flows through Bern.', alps: 'High mountains.' }
 * await buildIndex('rivers.index', Object.entries(texts).map(([id, text]) => ({ id, text, place: 'rivers' })))
 * const index = new SearchIndex('rivers.index')
 * index.search('What flows through Bern?').map(({ id }) => id) // [ 'aare', 'seine' ]
 * index.close()
 */
export class SearchIndex {
  readonly path: string
  readonly passages: number
  readonly documents: number
  readonly #reader: IndexReader
  readonly #bm25: Bm25
  /** Where each passage's line begins and the last one ends, in bytes. [passages + 1] */
  readonly #offsets: Float64Array

  /** Opens an index and checks all of it. @throws DataError for a file that is no index, or not as it was written */
  constructor(path: string) {
    const reader = new IndexReader(path)
    try {
      const postings = readPostings(reader)
      const offsets = reader.read('offsets')
      this.#offsets = new Float64Array(offsets.buffer, offsets.byteOffset, Math.floor(offsets.byteLength / 8))
      reader.verify('documents')
      const fault = postingsFault(postings) ?? this.#offsetsFault(reader, postings.lengths.length)
      if (fault !== null)
        throw new DataError(`${path}: expected a search index, got one in which ${fault}`, {
          hint: 'build the index again',
        })
      this.#bm25 = new Bm25(postings, reader.table)
    } catch (error) {
      reader.close()
      throw error
    }
    this.path = path
    this.passages = reader.table.passages
    this.documents = reader.table.documents
    this.#reader = reader
  }

  #offsetsFault({ table }: IndexReader, passages: number): string | null {
    const offsets = this.#offsets
    if (table.passages !== passages || offsets.length !== passages + 1)
      return 'passages and their places differ in number'
    if (offsets[0] !== 0 || offsets[passages] !== table.parts.documents.bytes)
      return 'places do not cover the passages'
    for (let at = 0; at < passages; at++) if (!(offsets[at + 1] > offsets[at])) return 'places do not rise'
    return null
  }

  /**
   * The passages that answer a query best by BM25, best first; equal ones in the order of the index. None where no word of the
   * query is in the index.
   */
  search(query: string, options: SearchOptions = {}): Hit[] {
    const { top, snippetChars } = { ...SEARCH_DEFAULTS, ...options }
    const terms = termsOf(query.slice(0, MAX_QUERY_CHARS))
    return this.#bm25
      .best(terms, Math.max(1, Math.min(top, MAX_TOP)))
      .map(scored => this.#hit(scored, terms, snippetChars))
  }

  #hit({ passage, score }: ScoredPassage, terms: readonly string[], snippetChars: number): Hit {
    const line = this.#reader.slice('documents', this.#offsets[passage], this.#offsets[passage + 1])
    const { id, title, text, document = id } = this.#passageOf(line)
    const snippet = snippetOf(text, terms, term => this.#bm25.idf(term), snippetChars)
    return { id, document, ...(title !== undefined && { title }), text, snippet, score }
  }

  /** A passage's line; all were checked when the file was opened, so one that is none was written since. */
  #passageOf(line: Buffer): StoredPassage {
    try {
      return JSON.parse(line.toString('utf8')) as StoredPassage
    } catch (cause) {
      throw new DataError(`${this.path}: expected the search index that was opened, got other bytes`, {
        hint: 'build the index again, and open it again',
        cause,
      })
    }
  }

  /** Lets the file go. */
  close(): void {
    this.#reader.close()
  }
}
