/** @file What a call to a judge brought and took: added up over its attempts, and kept beside judgements that are remembered. */

import type { ChatResponse } from '../../chat/chat-model.ts'
import type { JudgeCall } from '../../rubric/criterion.ts'
import { cutMiddle } from '../group/cut.ts'
import type { Judgement } from './templates/scale.ts'

/** Of a raw answer that is kept to be read. Most are shorter; those that think aloud are not. */
const RAW_CHARACTERS = 2000

/** A sum that is not known as soon as one of its parts is not. */
const plus = (sum: number | undefined, part: number | null | undefined): number | undefined =>
  sum === undefined || part === null || part === undefined ? undefined : sum + part

/** The answers that a call took. */
export class CallAccount {
  #judge: string
  #raw = ''
  #answers = 0
  #prompt: number | undefined = 0
  #completion: number | undefined = 0
  #cached: number | undefined = 0
  #cost: number | undefined = 0

  /** @param judge its name in the configuration */
  constructor(judge: string) {
    this.#judge = judge
  }

  add({ text, model, usage, cost }: ChatResponse): void {
    this.#answers++
    this.#raw = text
    this.#judge = model ?? this.#judge
    this.#prompt = plus(this.#prompt, usage.promptTokens)
    this.#completion = plus(this.#completion, usage.completionTokens)
    this.#cached = plus(this.#cached, usage.cachedTokens)
    this.#cost = plus(this.#cost, cost)
  }

  /** @param attempts those included that were not answered */
  call(attempts: number): JudgeCall {
    const known = this.#answers > 0
    return {
      judge: this.#judge,
      ...(this.#raw !== '' && { raw: cutMiddle(this.#raw, RAW_CHARACTERS) }),
      ...(known && this.#prompt !== undefined && { promptTokens: this.#prompt }),
      ...(known && this.#completion !== undefined && { completionTokens: this.#completion }),
      ...(known && this.#cached !== undefined && this.#cached > 0 && { cachedTokens: this.#cached }),
      ...(known && this.#cost !== undefined && { cost: this.#cost }),
      ...(attempts > 1 && { attempts }),
    }
  }
}

/** Judgements as they are remembered; the first one may hold the call, which readers that do not know of it pass over. */
export type Remembered = readonly (Judgement & { call?: unknown })[]

/** What is put into the cache. */
export const withCall = (judgements: readonly Judgement[], call: JudgeCall): Remembered =>
  judgements.map((judgement, i) => (i === 0 ? { ...judgement, call } : judgement))

/** The call of what comes from the cache; of what was put without one no more than whose it is. */
export const callOf = ([first]: Remembered, judge: string): JudgeCall =>
  isCall(first?.call) ? first.call : { judge }

/** What comes from the cache without its call. */
export const withoutCall = (remembered: Remembered): Judgement[] =>
  remembered.map(({ call: _call, ...judgement }) => judgement)

const isCall = (value: unknown): value is JudgeCall =>
  typeof value === 'object' && value !== null && typeof (value as JudgeCall).judge === 'string'
