/** @file Novelty: how much likelier a policy makes its own responses than the policy that it started from. */

import { mean, median } from '../util/descriptive.ts'
import { DataError, NumericError } from '../util/errors.ts'

/**
 * log rho of one response: the mean over its tokens of log p_new - log p_init, both on the plain prompt (RuscaRL Eq. 5; spec
 * 4.7). Its exponential is the paper's rho.
 * @param newLogprobs one a token, under the policy that wrote the response
 * @param initLogprobs one a token, under the initial policy
 * @throws DataError for lengths that differ or an empty response; NumericError for values that are not finite.
 */
export const logNovelty = (newLogprobs: ArrayLike<number>, initLogprobs: ArrayLike<number>): number => {
  const { length } = newLogprobs
  if (length !== initLogprobs.length || length === 0)
    throw new DataError(
      `logNovelty: expected one log-prob a token of both, got ${length} and ${initLogprobs.length}`,
    )
  let sum = 0
  for (let t = 0; t < length; t++) sum += newLogprobs[t] - initLogprobs[t]
  if (!Number.isFinite(sum))
    throw new NumericError(`logNovelty: the log-probs sum to ${sum}; check both policies`)
  return sum / length
}

export interface NoveltySummary {
  n: number
  /** Median of rho: the value to report first, since single responses dominate the mean. */
  median: number
  /** exp(mean log rho). */
  logMean: number
  mean: number
  /** Responses with rho above 2, 10 and 100. */
  above: { 2: number; 10: number; 100: number }
}

/** Summary over test items (RuscaRL), from the items' log rho. @throws DataError for no items. */
export const noveltySummary = (logRhos: readonly number[]): NoveltySummary => {
  if (logRhos.length === 0) throw new DataError('noveltySummary: expected at least one response, got none')
  const above = (bound: number) => logRhos.filter(x => x > Math.log(bound)).length
  return {
    n: logRhos.length,
    median: Math.exp(median(logRhos)),
    logMean: Math.exp(mean(logRhos)),
    mean: mean(logRhos.map(Math.exp)),
    above: { 2: above(2), 10: above(10), 100: above(100) },
  }
}

/** One response with its novelty and what it gained. */
export interface NovelResponse {
  id: string
  logRho: number
  /** Its score less that of the initial policy's response to the same item. */
  scoreDifference: number
}

/** The most novel responses, most novel first: whether what the start would never write is any good (RuscaRL table 8). */
export const mostNovel = (responses: readonly NovelResponse[], count = 10): NovelResponse[] =>
  responses.toSorted((a, b) => b.logRho - a.logRho).slice(0, count)
