/** @file Generalised advantage estimation and whitening, over the tokens of sequences. */

import { NumericError, ShapeError } from '../util/errors.ts'

export interface GaeOptions {
  gamma?: number
  lambda?: number
  /**
   * What a masked token does to the recursion: `carry` skips it, handing value and advantage of the next token on
   * (verl 1dda039b9); `plain` treats it as any other token (SkyRL a9564572e). Default `carry`: tool output is not the
   * policy's doing.
   */
  masked?: 'carry' | 'plain'
}

export interface Gae {
  advantages: Float64Array
  /** advantages + values, the critic's target, before any whitening. */
  returns: Float64Array
}

/**
 * GAE of one sequence: delta_t = r_t + gamma V_{t+1} - V_t; A_t = delta_t + gamma lambda A_{t+1} (Schulman et al. 2016,
 * arXiv 1506.02438 Eq. 16). The value after the last token is 0.
 * @param rewards per token; values per token; mask 1 where the policy generated the token
 * @throws ShapeError when the lengths differ; NumericError for a reward or value of an unmasked token that is not finite.
 * @example
 * gae([0, 0, 1], [0.5, 0.5, 0.5], [1, 1, 1]).advantages // [ 0.5, 0.5, 0.5 ]
 */
export const gae = (
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  mask: ArrayLike<number>,
  { gamma = 1, lambda = 1, masked = 'carry' }: GaeOptions = {},
): Gae => {
  const length = rewards.length
  if (values.length !== length || mask.length !== length)
    throw new ShapeError(
      `gae: expected rewards, values and mask of one length, got ${length}, ${values.length}, ${mask.length}; pad them together`,
    )
  const advantages = new Float64Array(length)
  const returns = new Float64Array(length)
  let nextValue = 0
  let nextAdvantage = 0
  for (let t = length - 1; t >= 0; t--) {
    if ((mask[t] !== 0 || masked === 'plain') && !Number.isFinite(rewards[t] + values[t]))
      throw new NumericError(
        `gae: token ${t}: expected finite reward and value, got ${rewards[t]} and ${values[t]}; check the critic`,
      )
    const delta = rewards[t] + gamma * nextValue - values[t]
    const advantage = delta + gamma * lambda * nextAdvantage
    const skip = masked === 'carry' && mask[t] === 0
    if (!skip) {
      nextAdvantage = advantage
      nextValue = values[t]
    }
    advantages[t] = nextAdvantage
    returns[t] = skip ? nextAdvantage + nextValue : advantage + values[t]
  }
  return { advantages, returns }
}

/**
 * Whitens values over the masked tokens of all sequences together: (x - mean) / sqrt(var + epsilon), unbiased variance
 * (verl and SkyRL `masked_whiten`). Tokens outside the mask are transformed too, but do not enter the statistics. With
 * fewer than two tokens the values are only centred. Call it once per role where roles have different reward scales.
 * @param values_B_T [sequence][token]
 * @example
 * whiten([[1, 3]], [[1, 1]]) // [ [ -0.7071, 0.7071 ] ]
 */
export const whiten = (
  values_B_T: readonly ArrayLike<number>[],
  mask_B_T: readonly ArrayLike<number>[],
  epsilon = 1e-8,
): Float64Array[] => {
  let count = 0
  let sum = 0
  for (const [b, values] of values_B_T.entries())
    for (let t = 0; t < values.length; t++) {
      if (mask_B_T[b][t] === 0) continue
      count += 1
      sum += values[t]
    }
  const mean = count > 0 ? sum / count : 0
  let squares = 0
  for (const [b, values] of values_B_T.entries())
    for (let t = 0; t < values.length; t++) if (mask_B_T[b][t] !== 0) squares += (values[t] - mean) ** 2
  const scale = count > 1 ? 1 / Math.sqrt(squares / (count - 1) + epsilon) : 1
  return values_B_T.map(values => Float64Array.from(values, value => (value - mean) * scale))
}
