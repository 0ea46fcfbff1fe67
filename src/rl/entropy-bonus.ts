/** @file Exploration by entropy: advantages raised where the policy was unsure. */

import { NumericError, ShapeError } from '../util/errors.ts'

export interface EntropyBonusOptions {
  /** Advantage for each nat of entropy. Default 0.4. */
  kappa1?: number
  /** The bonus is at most the size of the advantage divided by this; above 1 it never turns the sign. Default 2. */
  kappa2?: number
}

/**
 * `A_t + min(kappa1 H_t, |A_t| / kappa2)` for each token, the entropy taken as a constant (Cheng et al., arXiv 2506.14758).
 * A token without advantage gets no bonus.
 * @param entropies nats, one a token
 * @throws ShapeError unless there is one entropy a token; NumericError for one that is not finite.
 */
export const withEntropyBonus = (
  advantages: Float32Array,
  entropies: Float32Array,
  { kappa1 = 0.4, kappa2 = 2 }: EntropyBonusOptions = {},
): Float32Array => {
  if (entropies.length !== advantages.length)
    throw new ShapeError(
      `entropy bonus: expected ${advantages.length} entropies, one a token, got ${entropies.length}; score the same tokens`,
    )
  return advantages.map((advantage, t) => {
    const bonus = Math.min(kappa1 * entropies[t], Math.abs(advantage) / kappa2)
    if (!Number.isFinite(bonus))
      throw new NumericError(
        `entropy bonus: token ${t}: expected finite numbers, got entropy ${entropies[t]} and advantage ${advantage}; check the model`,
      )
    return advantage + bonus
  })
}
