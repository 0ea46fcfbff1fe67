/** @file What a judging job will take, before it is started. */

import { parseWith } from '../util/schema.ts'
import { type EndpointSettings, type FleetOptions, fleetSchema } from './fleet-config.ts'
import { costOf } from './ledger.ts'
import { COMPLETION_TOKENS, TOKENS_PER_CHARACTER } from './token-estimate.ts'

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
