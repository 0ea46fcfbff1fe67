/** @file Rows that are decoded together: samples on their way, and which of them compute a token in a step. */

import type { Feeds } from '../../tensor/index.ts'
import type { Rng } from '../../util/rng.ts'
import type { NextTurn, TokenAlternative } from '../policy.ts'
import type { StopSearch } from '../stop-search.ts'
import type { Cache } from './cache.ts'

/** The batch is rearranged when at most this share of its places is still in use. */
const REARRANGE_BELOW = 0.75

/** A sample on its way, or a turn of one. */
export interface Row {
  prompt: number
  index: number
  /** Position of the next token to be computed. */
  position: number
  /** Tokens that are known and not computed yet: the one drawn last, and after a turn what was said to it. */
  ahead: number[]
  /** Most tokens that may be drawn. */
  maxTokens: number
  tokens: number[]
  logprobs: number[]
  top: TokenAlternative[][]
  rng: Rng
  /** State of the automaton that the sample is held to. */
  state: number
  search: StopSearch | null
  /** What follows its turn, where that has ended. */
  reply: Promise<NextTurn | null> | null
}

/** Rows [P, G] of a wave; places of finished samples stay empty until the batch is compacted. */
export class RunningBatch {
  rows: (Row | null)[]
  /** Rows that are not finished, those included that wait for what follows their turn. */
  live: number
  #samples: number
  readonly #cache: Cache
  readonly #mayPart: boolean

  /**
   * @param mayPart groups whose rows end far from each other, as those of several turns do, are parted: each row with keys and
   * values of the prompt for itself. That gives places free which the fullest group would keep.
   */
  constructor(rows: (Row | null)[], samples: number, cache: Cache, mayPart: boolean) {
    this.rows = rows
    this.live = rows.length
    this.#samples = samples
    this.#cache = cache
    this.#mayPart = mayPart
  }

  finish(at: number): void {
    this.rows[at] = null
    this.live--
  }

  /** Inputs of a step in which every row that waits for nothing computes its next token. */
  values(): { values: Feeds; computed: boolean[] } {
    const dims = [this.rows.length / this.#samples, this.#samples]
    const computed = this.rows.map(row => row !== null && row.reply === null)
    const tokens = BigInt64Array.from(this.rows, (row, at) => BigInt(computed[at] ? row!.ahead.shift()! : 0))
    const positions = BigInt64Array.from(this.rows, (row, at) => BigInt(computed[at] ? row!.position++ : 0))
    const values = { tokens: { data: tokens, dims }, positions: { data: positions, dims } }
    return { values: { ...values, ...this.#cache.values() }, computed }
  }

  /** Lets finished rows leave the batch when that frees enough places: prompts without live rows go, groups shrink. */
  async compact(): Promise<void> {
    if (this.live > REARRANGE_BELOW * this.rows.length) return
    const groups = Array.from({ length: this.rows.length / this.#samples }, (_, p) => this.#liveRows(p))
    const prompts = groups.flatMap((rows, p) => (rows.length > 0 ? [p] : []))
    const samples = Math.max(...groups.map(rows => rows.length))
    const places = prompts.length * samples
    if (this.#mayPart && samples > 1 && this.live <= REARRANGE_BELOW * places) {
      await this.#part(groups)
      return
    }
    if (places > REARRANGE_BELOW * this.rows.length) return
    const kept = prompts.map(p => groups[p])
    const filled = kept.map(rows =>
      Array.from({ length: samples }, (_, g) => rows[g] ?? rows[rows.length - 1]),
    )
    await this.#cache.keep(prompts, filled)
    this.rows = kept.flatMap(rows =>
      Array.from({ length: samples }, (_, g) => (rows[g] === undefined ? null : this.rows[rows[g]])),
    )
    this.#samples = samples
  }

  async #part(groups: readonly number[][]): Promise<void> {
    const rows = groups.flat()
    await this.#cache.keep(
      groups.flatMap((own, p) => own.map(() => p)),
      rows.map(row => [row]),
    )
    this.rows = rows.map(row => this.rows[row])
    this.#samples = 1
  }

  #liveRows(prompt: number): number[] {
    const first = prompt * this.#samples
    return Array.from({ length: this.#samples }, (_, g) => first + g).filter(row => this.rows[row])
  }
}
