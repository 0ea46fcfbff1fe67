/** @file What a judging job will take, before it is started. */

import { parseWith } from '../util/schema.ts'
import type { ChatRequest, ChatUsage } from './chat-model.ts'
import { type EndpointSettings, type FleetOptions, fleetSchema } from './fleet-config.ts'
import { costOf } from './ledger.ts'

/** English prose in the tokenizers of current models; only the start of the estimate. */
export const TOKENS_PER_CHARACTER = 0.25
/** A verdict with its reasoning; only the start of the estimate. */
export const COMPLETION_TOKENS = 256
/** Weight of a new observation in the running means. */
const NEW_SHARE = 0.05

/** Characters of all messages: UTF-16 code units, which is enough for an estimate. */
export const charactersOf = ({ messages }: Pick<ChatRequest, 'messages'>): number => {
  let characters = 0
  for (const { content } of messages) characters += content.length
  return characters
}

export class TokenEstimator {
  #perCharacter = TOKENS_PER_CHARACTER
  #completion = COMPLETION_TOKENS

  /** Prompt and completion together. @param characters of the prompt */
  tokens(characters: number, maxTokens = Number.POSITIVE_INFINITY): number {
    return Math.ceil(characters * this.#perCharacter + Math.min(maxTokens, this.#completion))
  }

  observe(characters: number, { promptTokens, completionTokens }: ChatUsage): void {
    if (promptTokens !== null && characters > 0)
      this.#perCharacter += NEW_SHARE * (promptTokens / characters - this.#perCharacter)
    if (completionTokens !== null) this.#completion += NEW_SHARE * (completionTokens - this.#completion)
  }
}

export interface JudgingPlan {
  calls: number
  /** Characters of the prompt of one call, on average. */
  promptCharacters: number
  /** Tokens of one answer, on average. */
  completionTokens?: number
  /** Share of the prompt that the server has in its prefix cache. */
  cachedShare?: number
  /** Seconds of one call, where they are known: bounds what `concurrency` lets through. */
  secondsPerCall?: number
  tokensPerCharacter?: number
}

export interface JudgingEstimate {
  calls: number
  promptTokens: number
  completionTokens: number
  /** Null when an endpoint that gets a share of the calls has no price. */
  cost: number | null
  /** At the limits of all endpoints together; null when no limit is known. */
  minutes: number | null
}

/** Calls a minute that an endpoint lets through; Infinity without a limit. */
const callsPerMinute = (endpoint: EndpointSettings, tokensPerCall: number, secondsPerCall?: number): number =>
  Math.min(
    endpoint.requestsPerMinute ?? Number.POSITIVE_INFINITY,
    (endpoint.tokensPerMinute ?? Number.POSITIVE_INFINITY) / tokensPerCall,
    secondsPerCall ? (endpoint.concurrency * 60) / secondsPerCall : Number.POSITIVE_INFINITY,
  )

/** Shares of the calls: by weight where all are free, by speed where limits hold them back. */
const sharesOf = (endpoints: readonly EndpointSettings[], rates: readonly number[]): number[] => {
  const limited = rates.every(Number.isFinite)
  const parts = limited ? rates : endpoints.map(({ weight }) => weight)
  const total = parts.reduce((sum, part) => sum + part, 0)
  return parts.map(part => part / total)
}

/**
 * Calls, tokens, cost and minutes of a judging job; makes no call. Without measured values a token is four characters and an
 * answer 256 tokens.
 * @throws ConfigError for settings that cannot be used
 */
export const estimateJudging = (options: FleetOptions, plan: JudgingPlan): JudgingEstimate => {
  const { endpoints } = parseWith(fleetSchema, options, 'judges')
  const { calls, cachedShare = 0, completionTokens = COMPLETION_TOKENS } = plan
  const promptPerCall = plan.promptCharacters * (plan.tokensPerCharacter ?? TOKENS_PER_CHARACTER)
  const rates = endpoints.map(endpoint =>
    callsPerMinute(endpoint, promptPerCall + completionTokens, plan.secondsPerCall),
  )
  const costs = sharesOf(endpoints, rates).map((share, i) => {
    const promptTokens = calls * share * promptPerCall
    const tokens = {
      promptTokens,
      completionTokens: calls * share * completionTokens,
      cachedTokens: promptTokens * cachedShare,
    }
    return costOf(tokens, endpoints[i].price)
  })
  const perMinute = rates.reduce((sum, rate) => sum + rate, 0)
  return {
    calls,
    promptTokens: Math.ceil(calls * promptPerCall),
    completionTokens: Math.ceil(calls * completionTokens),
    cost: costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    minutes: Number.isFinite(perMinute) ? calls / perMinute : null,
  }
}
