/** @file What judging used and cost. What is not known is null, never 0. */

import { z } from 'zod'
import type { ChatUsage } from './chat-model.ts'

const price = z.number().nonnegative()

/** Prices per million tokens, in whatever currency the user counts in. */
export const priceSchema = z.strictObject({
  inputPerMillion: price.describe('Price of a million tokens of prompts.'),
  outputPerMillion: price.describe('Price of a million tokens of answers.'),
  cachedInputPerMillion: price
    .optional()
    .describe("Price of a million prompt tokens from the server's prefix cache; absent: `inputPerMillion`."),
})
export type Price = z.output<typeof priceSchema>

export interface LedgerEntry {
  /** Answered calls. */
  calls: number
  /** Attempts, also those that were not answered: a provider may charge for some of these, and says nothing of it. */
  attempts: number
  /** Of them, without token counts from the server. */
  callsWithoutUsage: number
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  /** Null where the price is unknown, or the tokens of any call are. */
  cost: number | null
}

type Sums = Omit<LedgerEntry, 'cost'>

const NOTHING: Sums = {
  ...{ calls: 0, attempts: 0, callsWithoutUsage: 0 },
  ...{ promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
}

/** Cost of tokens at a price; null for an unknown price. */
export const costOf = (
  { promptTokens, completionTokens, cachedTokens }: Pick<Sums, keyof ChatUsage>,
  price: Price | undefined,
): number | null => {
  if (price === undefined) return null
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = price
  const fresh = Math.max(0, promptTokens - cachedTokens)
  return (
    (fresh * inputPerMillion + cachedTokens * cachedInputPerMillion + completionTokens * outputPerMillion) /
    1e6
  )
}

/** Cost of a call at a price; null where the price or its tokens are not known. */
export const callCost = (
  { promptTokens, completionTokens, cachedTokens }: ChatUsage,
  price: Price | undefined,
): number | null =>
  promptTokens === null || completionTokens === null
    ? null
    : costOf({ promptTokens, completionTokens, cachedTokens: cachedTokens ?? 0 }, price)

/** Sums of one endpoint. */
export class Ledger {
  readonly #price: Price | undefined
  readonly #sums = { ...NOTHING }

  constructor(price?: Price) {
    this.#price = price
  }

  /** An attempt begins. */
  attempt(): void {
    this.#sums.attempts++
  }

  add({ promptTokens, completionTokens, cachedTokens }: ChatUsage): void {
    const sums = this.#sums
    sums.calls++
    if (promptTokens === null || completionTokens === null) sums.callsWithoutUsage++
    sums.promptTokens += promptTokens ?? 0
    sums.completionTokens += completionTokens ?? 0
    sums.cachedTokens += cachedTokens ?? 0
  }

  entry(): LedgerEntry {
    const cost = this.#sums.callsWithoutUsage > 0 ? null : costOf(this.#sums, this.#price)
    return { ...this.#sums, cost }
  }
}

/** Adds entries up; the cost is null as soon as that of an entry with calls is. */
export const sumEntries = (entries: readonly LedgerEntry[]): LedgerEntry => {
  const sums = { ...NOTHING }
  for (const entry of entries)
    for (const name of Object.keys(NOTHING) as (keyof Sums)[]) sums[name] += entry[name]
  const known =
    entries.every(({ calls, cost }) => calls === 0 || cost !== null) &&
    entries.some(({ cost }) => cost !== null)
  return { ...sums, cost: known ? entries.reduce((total, { cost }) => total + (cost ?? 0), 0) : null }
}
