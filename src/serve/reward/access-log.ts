/** @file A JSON line for each request. Texts of prompts and responses are in it only when asked for. */

import type { RewardItem, RewardResult } from './item.ts'

/** What is written about a request. */
export interface AccessEntry {
  id: string
  method: string
  /** Path of a known route; anything else is `unknown`, so that nobody writes into the log by asking for odd paths. */
  route: string
  status: number
  ms: number
  items?: number
  /** Criteria without a verdict. */
  nulls?: number
  /** Kind of the error that the client got; `client_gone` where it did not wait for an answer. */
  error?: string
  samples?: { prompt: RewardItem['prompt']; response: string; reward: number | null }[]
}

/** Prompts, responses and rewards of a request. */
export const samplesOf = (items: readonly RewardItem[], results: readonly RewardResult[]) =>
  items.map(({ prompt, response }, index) => ({ prompt, response, reward: results[index]?.reward ?? null }))

/** Writes lines with the time, in the order of calls. */
export class AccessLog {
  private readonly write: (line: string) => void
  private readonly requests: boolean

  /** @param requests whether requests are logged; events are in any case */
  constructor(write: (line: string) => void, { requests = true }: { requests?: boolean } = {}) {
    this.write = write
    this.requests = requests
  }

  request(entry: AccessEntry): void {
    if (!this.requests) return
    this.line({ event: 'request', ...entry, ms: Math.round(entry.ms * 100) / 100 })
  }

  /** Something that the operator should know. */
  event(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.line({ event, ...fields })
  }

  private line(fields: Readonly<Record<string, unknown>>): void {
    this.write(`${JSON.stringify({ time: new Date().toISOString(), ...fields })}\n`)
  }
}
