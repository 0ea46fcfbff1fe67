/** @file A datum: one rollout with everything its update needs, and how advantages spread over its tokens. */

import { DataError, NumericError, ShapeError } from '../util/errors.ts'

export type TokenIds = number[] | Int32Array
export type Floats = number[] | Float32Array | Float64Array

/** One sequence to train on; every array but the prompt has one entry per response token. */
export interface Datum {
  promptTokens: TokenIds
  /** Response tokens, tool output included. */
  tokens: TokenIds
  /** What is to be predicted in place of each token, which then is only read. A policy elsewhere may know `tokens` alone. */
  targets?: TokenIds
  /** 1 where the policy generated the token, 0 for tool output. */
  mask: Floats
  /** Of the policy that sampled, under the prompt that is trained on, or under the one that was sampled from (`true-is`). */
  oldLogprobs: Floats
  refLogprobs?: Floats
  advantages: Floats
  /** Critic's targets. */
  returns?: Floats
  oldValues?: Floats
  /** Extra factor on policy and cross-entropy terms. */
  weights?: Floats
}

/** Tokens [start, end) of a response. */
export interface TokenSpan {
  start: number
  end: number
}

/**
 * The same advantage on every policy token, 0 elsewhere.
 * @example
 * broadcastAdvantage(0.5, [1, 1, 0]) // [ 0.5, 0.5, 0 ]
 */
export const broadcastAdvantage = (advantage: number, mask: ArrayLike<number>): Float32Array => {
  if (!Number.isFinite(advantage))
    throw new NumericError(`advantage: expected a finite number, got ${advantage}; check the rewards`)
  return Float32Array.from(mask, m => (m === 0 ? 0 : advantage))
}

/**
 * Stepwise credit: each step's policy tokens carry that step's own advantage; policy tokens outside all steps carry
 * `rest` (tags, the answer), masked ones 0.
 * @param spans token span of each step, in any order
 * @param advantages advantage of each step
 * @throws DataError for a span outside the response or overlapping another; ShapeError unless there is one advantage a span.
 */
export const stepwiseCredit = (
  spans: readonly TokenSpan[],
  advantages: readonly number[],
  mask: ArrayLike<number>,
  rest = 0,
): Float32Array => {
  if (spans.length !== advantages.length)
    throw new ShapeError(
      `stepwiseCredit: expected one advantage a step, got ${advantages.length} for ${spans.length} steps; pair them`,
    )
  const credit = broadcastAdvantage(rest, mask)
  const taken = new Uint8Array(mask.length)
  for (const [step, { start, end }] of spans.entries()) {
    if (!(start >= 0 && start <= end && end <= mask.length))
      throw new DataError(
        `stepwiseCredit: step ${step}: expected a span within 0..${mask.length}, got ${start}..${end}; map steps to tokens of this response`,
      )
    if (!Number.isFinite(advantages[step]))
      throw new NumericError(
        `stepwiseCredit: step ${step}: expected a finite advantage, got ${advantages[step]}; check the verdicts`,
      )
    for (let t = start; t < end; t++) {
      if (taken[t])
        throw new DataError(
          `stepwiseCredit: step ${step}: token ${t} belongs to another step already; expected disjoint spans, correct the segmentation`,
        )
      taken[t] = 1
      credit[t] = mask[t] === 0 ? 0 : advantages[step]
    }
  }
  return credit
}

const PER_TOKEN = [
  'targets',
  'mask',
  'oldLogprobs',
  'refLogprobs',
  'advantages',
  'returns',
  'oldValues',
  'weights',
] as const

/**
 * Checks a datum before it is trained on: lengths agree, and numbers under the mask are finite.
 * @param name says which datum in errors
 * @throws ShapeError, NumericError
 */
export const checkDatum = (datum: Datum, name = 'datum'): void => {
  for (const key of PER_TOKEN) {
    const values = datum[key]
    if (values === undefined) continue
    if (values.length !== datum.tokens.length)
      throw new ShapeError(
        `${name}.${key}: expected ${datum.tokens.length} values, one a token, got ${values.length}; build it from one rollout`,
      )
    for (let t = 0; t < values.length; t++)
      if (datum.mask[t] !== 0 && !Number.isFinite(values[t]))
        throw new NumericError(
          `${name}.${key}[${t}]: expected a finite number, got ${values[t]}; training on it would spoil the model`,
        )
  }
}

/** Policy tokens in a datum. */
export const policyTokens = ({ mask }: Pick<Datum, 'mask'>): number => {
  let count = 0
  for (let t = 0; t < mask.length; t++) count += Number(mask[t] !== 0)
  return count
}

/** One demonstration: learn `responseTokens` after `promptTokens`. */
export interface SupervisedDatum {
  promptTokens: TokenIds
  responseTokens: TokenIds
  /** Loss weight of each response token; 1 where absent. */
  responseWeights?: Float32Array
}
