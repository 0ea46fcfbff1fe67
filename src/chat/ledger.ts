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
    .describe("For prompt tokens from the server's prefix cache; like other input where not given."),
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

/** Cost of tokens at a price; null for an unknown price. */
export const costOf = (
  tokens: { promptTokens: number; completionTokens: number; cachedTokens: number },
  price: Price | undefined,
): number | null => {
  if (price === undefined) return null
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = price
  const fresh = Math.max(0, tokens.promptTokens - tokens.cachedTokens)
  return (
    (fresh * inputPerMillion +
      tokens.cachedTokens * cachedInputPerMillion +
      tokens.completionTokens * outputPerMillion) /
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
  #calls = 0
  #attempts = 0
  #callsWithoutUsage = 0
  #promptTokens = 0
  #completionTokens = 0
  #cachedTokens = 0

  constructor(price?: Price) {
    this.#price = price
  }

  /** An attempt begins. */
  attempt(): void {
    this.#attempts++
  }

  add({ promptTokens, completionTokens, cachedTokens }: ChatUsage): void {
    this.#calls++
    if (promptTokens === null || completionTokens === null) this.#callsWithoutUsage++
    this.#promptTokens += promptTokens ?? 0
    this.#completionTokens += completionTokens ?? 0
    this.#cachedTokens += cachedTokens ?? 0
  }

  entry(): LedgerEntry {
    const tokens = {
      promptTokens: this.#promptTokens,
      completionTokens: this.#completionTokens,
      cachedTokens: this.#cachedTokens,
    }
    return {
      calls: this.#calls,
      attempts: this.#attempts,
      callsWithoutUsage: this.#callsWithoutUsage,
      ...tokens,
      cost: this.#callsWithoutUsage > 0 ? null : costOf(tokens, this.#price),
    }
  }
}

/** Adds entries up; the cost is null as soon as that of an entry with calls is. */
export const sumEntries = (entries: readonly LedgerEntry[]): LedgerEntry => {
  const sum = (pick: (entry: LedgerEntry) => number) =>
    entries.reduce((total, entry) => total + pick(entry), 0)
  const known =
    entries.every(entry => entry.calls === 0 || entry.cost !== null) &&
    entries.some(entry => entry.cost !== null)
  return {
    calls: sum(entry => entry.calls),
    attempts: sum(entry => entry.attempts),
    callsWithoutUsage: sum(entry => entry.callsWithoutUsage),
    promptTokens: sum(entry => entry.promptTokens),
    completionTokens: sum(entry => entry.completionTokens),
    cachedTokens: sum(entry => entry.cachedTokens),
    cost: known ? sum(entry => entry.cost ?? 0) : null,
  }
}
