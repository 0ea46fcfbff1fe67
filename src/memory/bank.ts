/** @file The rubric bank (RubricEM): one lesson a question, found again by the same question or by similar ones. */

import { ConfigError, DataError } from '../util/errors.ts'
import { type BankState, bankState, type OtherEmbedder, readBankState } from './bank-state.ts'
import { type Embedder, embedUnit } from './embedder.ts'
import {
  type BankItem,
  bankItem,
  questionHash,
  type ReadItem,
  type Reflection,
  type TakeawaysSchema,
} from './item.ts'
import type { Json } from './json.ts'
import { VectorStore } from './vectors.ts'

export interface BankOptions<Takeaways extends Json = Json> {
  embedder: Embedder
  /** Most items; the one that was retrieved longest ago goes first. Unlimited where absent, as in the paper. */
  maxItems?: number
  /** Checks the takeaways of items from outside. */
  takeaways?: TakeawaysSchema<Takeaways>
  /** What to do with items whose vectors are another embedder's. Default `refuse`. */
  otherEmbedder?: OtherEmbedder
}

/** `within`: the very same question; `cross`: similar ones, never itself; `both`: one after the other. */
export type RetrievalMode = 'within' | 'cross' | 'both'

export interface RetrieveOptions {
  mode: RetrievalMode
  /** Similar questions a question. Default 2. */
  top?: number
  /** With `within`: similar questions in place of what is missing. Default true. */
  fallback?: boolean
}

export interface Retrieved<Takeaways extends Json = Json> {
  item: BankItem<Takeaways>
  how: 'within' | 'cross'
  /** Inner product of the unit vectors; 1 for the same question. */
  score: number
}

/** What was found for a question. */
export interface Retrieval<Takeaways extends Json = Json> {
  question: string
  items: readonly Retrieved<Takeaways>[]
  /** The question's own item was asked for and missing. */
  fellBack: boolean
}

export interface Added {
  /** Questions that were new, and those whose item was replaced. */
  added: number
  replaced: number
  /** Items that had to go. */
  evicted: number
}

/** Similar questions that are shown. */
export const TOP = 2

/** What a bank holds at a time; `load` replaces all of it at once. */
class Contents<Takeaways extends Json> {
  /** In the order of use, the longest ago first. */
  readonly places = new Map<string, number>()
  readonly items: (BankItem<Takeaways> | null)[] = []
  vectors: VectorStore | null = null
  /** Places whose vectors are still to be made. */
  missing: number[] = []
  embedding: Promise<void> | null = null
  /** Places to be used again, and those that a search may still look at. */
  readonly #free: number[] = []
  #retired: number[] = []
  #searches = 0

  itemOf(qHash: string): BankItem<Takeaways> | null {
    const place = this.places.get(qHash)
    return place === undefined ? null : this.items[place]
  }

  /** Says that an item was used just now. */
  use(qHash: string): void {
    const place = this.places.get(qHash)
    if (place === undefined) return
    this.places.delete(qHash)
    this.places.set(qHash, place)
  }

  /** Puts an item where its question has its place, or in a new one. @returns the place, and whether it is new */
  put(item: BankItem<Takeaways>): { place: number; isNew: boolean } {
    const known = this.places.get(item.qHash)
    const place = known ?? this.#free.pop() ?? this.items.length
    this.items[place] = item
    this.places.delete(item.qHash)
    this.places.set(item.qHash, place)
    return { place, isNew: known === undefined }
  }

  setVector(place: number, vector: Float32Array): void {
    this.vectors ??= new VectorStore(vector.length)
    this.vectors.set(place, vector)
  }

  /** Removes what was used longest ago until so many are left. @returns how many went */
  shrink(maxItems: number): number {
    let evicted = 0
    for (const [qHash, place] of this.places) {
      if (this.places.size <= maxItems) break
      this.places.delete(qHash)
      this.items[place] = null
      if (this.#searches > 0) this.#retired.push(place)
      else this.#free.push(place)
      evicted++
    }
    return evicted
  }

  /** Runs a search that may wait: places that are freed meanwhile keep their vectors until it is over. */
  async during<T>(search: () => Promise<T>): Promise<T> {
    this.#searches++
    try {
      return await search()
    } finally {
      if (--this.#searches === 0) this.#free.push(...this.#retired.splice(0))
    }
  }
}

/**
 * Retrieval sees the bank as it is at the moment of the call, whatever is added while the questions are being embedded, and
 * changes nothing; what should count as used is said by `used`. So a recipe may ask in `rollOut` and say so in `learn`.
 */
export class RubricBank<Takeaways extends Json = Json> {
  readonly embedder: Embedder
  readonly #options: BankOptions<Takeaways>
  #contents = new Contents<Takeaways>()
  #adding: Promise<unknown> = Promise.resolve()

  /** @throws ConfigError for a `maxItems` below 1 */
  constructor(options: BankOptions<Takeaways>) {
    const { maxItems = 1 } = options
    if (!(Number.isSafeInteger(maxItems) && maxItems > 0))
      throw new ConfigError(`maxItems: expected a positive integer, got ${maxItems}`, {
        hint: 'leave it out for a bank without a limit',
      })
    this.#options = options
    this.embedder = options.embedder
  }

  get size(): number {
    return this.#contents.places.size
  }

  /** All items, the one used longest ago first. */
  items(): BankItem<Takeaways>[] {
    const { places, items } = this.#contents
    return [...places.values()].map(place => items[place]!)
  }

  /** The item of this very question. */
  within(question: string): BankItem<Takeaways> | null {
    return this.#contents.itemOf(questionHash(question))
  }

  /** The items of the k most similar other questions, most similar first. @throws JudgeError and others of the embedder */
  async cross(question: string, k = TOP): Promise<Retrieved<Takeaways>[]> {
    const [{ items }] = await this.retrieve([question], { mode: 'cross', top: k })
    return [...items]
  }

  /**
   * What the bank has for each question, with at most one call of the embedder for all of them. The same similarity is
   * ordered by the questions' hashes.
   * @throws JudgeError and others of the embedder
   */
  async retrieve(
    questions: readonly string[],
    { mode, top = TOP, fallback = true }: RetrieveOptions,
  ): Promise<Retrieval<Takeaways>[]> {
    const contents = this.#contents
    const found = questions.map((question): Retrieval<Takeaways> => {
      const own = mode === 'cross' ? null : contents.itemOf(questionHash(question))
      const items = own ? [{ item: own, how: 'within' as const, score: 1 }] : []
      return { question, items, fellBack: mode === 'within' && own === null }
    })
    const isSearched = ({ fellBack }: Retrieval<Takeaways>) => mode !== 'within' || (fellBack && fallback)
    const searched = found.filter(isSearched).map(({ question }) => question)
    const similar = await this.#similar(searched, top, contents)
    return found.map(each =>
      isSearched(each) ? { ...each, items: [...each.items, ...(similar.get(each.question) ?? [])] } : each,
    )
  }

  /** By question, the most similar items of the contents as they are when this is called. */
  async #similar(
    questions: readonly string[],
    top: number,
    contents: Contents<Takeaways>,
  ): Promise<Map<string, Retrieved<Takeaways>[]>> {
    const unique = [...new Set(questions)]
    if (unique.length === 0 || contents.places.size === 0 || !(top > 0)) return new Map()
    const items = contents.items.slice()
    return contents.during(async () => {
      const [queries] = await Promise.all([embedUnit(this.embedder, unique), this.#embedded(contents)])
      return new Map(
        unique.map((question, i) => [question, search(contents.vectors!, items, question, queries[i], top)]),
      )
    })
  }

  /** Says that what was retrieved counts as used, in this order. */
  used(retrievals: readonly Retrieval<Takeaways>[]): void {
    for (const { items } of retrievals) for (const { item } of items) this.#contents.use(item.qHash)
  }

  /**
   * Takes accepted reflections in; one of a question that has an item replaces it, and of several the last counts. New
   * questions are embedded by one call. When that fails nothing has changed.
   * @throws DataError for a reflection that is no JSON; JudgeError and others of the embedder
   */
  add(reflections: readonly Reflection<Takeaways>[]): Promise<Added> {
    const items = new Map(reflections.map(bankItem<Takeaways>).map(item => [item.qHash, item]))
    const added = this.#adding.then(() => this.#add([...items.values()]))
    this.#adding = added.catch(() => {})
    return added
  }

  async #add(items: readonly BankItem<Takeaways>[]): Promise<Added> {
    const contents = this.#contents
    const fresh = items.filter(({ qHash }) => !contents.places.has(qHash))
    const [vectors] = await Promise.all([
      embedUnit(
        this.embedder,
        fresh.map(({ question }) => question),
      ),
      this.#embedded(contents),
    ])
    checkLengths(vectors, contents.vectors)
    const vectorOf = new Map(fresh.map(({ qHash }, i) => [qHash, vectors[i]]))
    let added = 0
    for (const item of items) {
      const { place, isNew } = contents.put(item)
      if (!isNew) continue
      contents.setVector(place, vectorOf.get(item.qHash)!)
      added++
    }
    const evicted = contents.shrink(this.#maxItems)
    return { added, replaced: items.length - added, evicted }
  }

  get #maxItems(): number {
    return this.#options.maxItems ?? Number.POSITIVE_INFINITY
  }

  /** Makes the vectors that were not stored, by one call. */
  #embedded(contents: Contents<Takeaways>): Promise<void> {
    if (contents.missing.length === 0) return Promise.resolve()
    contents.embedding ??= this.#embedMissing(contents).finally(() => {
      contents.embedding = null
    })
    return contents.embedding
  }

  async #embedMissing(contents: Contents<Takeaways>): Promise<void> {
    const places = contents.missing
    const vectors = await embedUnit(
      this.embedder,
      places.map(place => contents.items[place]!.question),
    )
    for (const [i, place] of places.entries()) contents.setVector(place, vectors[i])
    contents.missing = []
  }

  /** Everything as plain JSON, for a checkpoint. */
  save(): BankState {
    const { places, items, vectors, missing } = this.#contents
    const isStored = this.embedder.recomputed !== true && missing.length === 0
    const rows = [...places.values()].map(place => ({
      item: items[place]!,
      vector: isStored && vectors ? vectors.at(place) : null,
    }))
    return bankState(this.embedder, rows)
  }

  /**
   * Replaces everything by what `save` gave. Vectors that are not stored are made when they are first needed.
   * @throws CheckpointError for something else, and for a bank of another embedder where that is to be refused
   */
  load(value: unknown): void {
    this.take(readBankState(value, this.embedder, this.#options))
  }

  /**
   * Replaces everything by items that were read and checked, the one used longest ago first, with vectors of this bank's
   * embedder or none. Of more than `maxItems` the last stay.
   */
  take(read: readonly ReadItem<Takeaways>[]): void {
    const contents = new Contents<Takeaways>()
    const kept = read.slice(Math.max(0, read.length - this.#maxItems))
    // Vectors are appended in order: where one is missing, all are made anew.
    const isWhole = kept.every(({ vector }) => vector !== null)
    for (const { item, vector } of kept) {
      const { place } = contents.put(item)
      if (isWhole) contents.setVector(place, vector!)
      else contents.missing.push(place)
    }
    this.#contents = contents
  }
}

/** An embedder that does not say how long its vectors are may change that: before anything is taken in. */
const checkLengths = (vectors: readonly Float32Array[], store: VectorStore | null): void => {
  const dims = store?.dims ?? vectors[0]?.length
  const other = vectors.find(({ length }) => length !== dims)
  if (other)
    throw new DataError(
      `vectors: expected ${dims} dimensions, as those of the bank have, got ${other.length}`,
      {
        hint: 'the embedding model is another one than before; set it back, or begin another bank',
      },
    )
}

const search = <Takeaways extends Json>(
  vectors: VectorStore,
  items: readonly (BankItem<Takeaways> | null)[],
  question: string,
  query: Float32Array,
  top: number,
): Retrieved<Takeaways>[] => {
  const own = questionHash(question)
  const isOpen = (place: number) => {
    const item = items[place]
    return item != null && item.qHash !== own
  }
  const before = (a: number, b: number) => items[a]!.qHash < items[b]!.qHash
  return vectors
    .nearest(query, top, isOpen, before)
    .map(({ place, score }) => ({ item: items[place]!, how: 'cross', score }))
}
