/** @file Rewards that need no grader: overlong responses, repetition, the think format. */

import { ConfigError } from '../util/errors.ts'

export interface OverlongOptions {
  /** Longest response, tokens (Lmax). */
  maxLength: number
  /** Length of the soft zone before it, tokens (Lbuf). */
  buffer: number
  /** `trl`: -1 beyond the maximum, as DAPO prints it; `verl`: the line goes on falling. Default `trl`. */
  floor?: 'trl' | 'verl'
  /** Multiplies the penalty. Default 1. */
  factor?: number
}

/**
 * DAPO's soft overlong punishment: 0 up to maxLength - buffer, then falling linearly to -factor at maxLength (arXiv
 * 2503.14476 Eq. 13; TRL f2cd57710, verl 1dda039b9). The two projects differ beyond the maximum.
 * @param length response length in tokens
 * @throws ConfigError unless 0 < buffer <= maxLength.
 * @example
 * overlongPenalty(95, { maxLength: 100, buffer: 20 }) // -0.75
 */
export const overlongPenalty = (
  length: number,
  { maxLength, buffer, floor = 'trl', factor = 1 }: OverlongOptions,
): number => {
  if (!(buffer > 0 && buffer <= maxLength))
    throw new ConfigError(
      `overlong.buffer: expected more than 0 and at most maxLength ${maxLength}, got ${buffer}; the penalty falls within the last tokens`,
    )
  const excess = length - (maxLength - buffer)
  if (excess <= 0) return 0
  const fall = excess / buffer
  return -factor * (floor === 'trl' ? Math.min(fall, 1) : fall)
}

/**
 * N-gram repetition: maxPenalty x the share of n-grams that occurred before; 0 for a response shorter than n (Yeo et
 * al., arXiv 2502.03373 appendix B.2; TRL f2cd57710 `get_repetition_penalty_reward`).
 * @param ids token ids of the response
 * @param maxPenalty zero or below
 * @throws ConfigError for a positive penalty or an n below 1.
 * @example
 * repetitionPenalty([1, 2, 1, 2, 1], { n: 2 }) // -0.5
 */
export const repetitionPenalty = (
  ids: ArrayLike<number>,
  { n, maxPenalty = -1 }: { n: number; maxPenalty?: number },
): number => {
  if (maxPenalty > 0)
    throw new ConfigError(
      `repetition.maxPenalty: expected zero or below, got ${maxPenalty}; it is added to the reward`,
    )
  if (!(Number.isInteger(n) && n >= 1))
    throw new ConfigError(
      `repetition.n: expected an integer of at least 1, got ${n}; give the length of the n-gram`,
    )
  const total = ids.length - n + 1
  if (total <= 0) return 0
  const distinct = new Set<string>()
  const all = Array.from(ids)
  for (let start = 0; start < total; start++) distinct.add(all.slice(start, start + n).join(' '))
  return maxPenalty * (1 - distinct.size / total) + 0
}

const THINK = '<think>'
const END_THINK = '</think>'

/**
 * 1 when the text begins with `<think>`, has no second one, and closes it; else 0 (TRL f2cd57710
 * `think_format_reward`).
 * @example
 * thinkFormat('<think>2 + 2</think>4') // 1
 */
export const thinkFormat = (text: string): 0 | 1 => {
  const opensOnce = text.startsWith(THINK) && text.indexOf(THINK, THINK.length) < 0
  return opensOnce && text.indexOf(END_THINK, THINK.length) >= 0 ? 1 : 0
}
