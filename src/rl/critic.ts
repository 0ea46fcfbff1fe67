/** @file Credit by a critic: advantages and value targets of rollouts from its estimates, whitened role by role. */

import { NumericError, ShapeError } from '../util/errors.ts'
import { type GaeOptions, gae, whiten } from './gae.ts'

/** What a critic's credit needs of a rollout; arrays have one entry per response token. */
export interface ValuedRollout {
  /** Rollouts of one role are whitened together: rewards of different roles have different scales. */
  role: string
  /** 1 where the policy wrote the token, 0 where the environment did. */
  mask: ArrayLike<number>
  /** The critic's estimate before each token, of before the update; what stands at the environment's tokens is not read. */
  values: ArrayLike<number>
  /**
   * One number: for the whole rollout, given to the policy's last token. An array: for each token; what an environment's token
   * earns belongs to the policy's last token before it, the action that it answers.
   */
  reward: number | ArrayLike<number>
}

export interface CriticOptions extends Pick<GaeOptions, 'gamma' | 'lambda'> {
  /** `role`, the default: advantages of each role to mean 0 and variance 1; `none`: as they are. */
  whitening?: 'role' | 'none'
}

/** The part of a datum that a critic gives, per token; 0 at the environment's tokens. */
export interface CriticCredit {
  advantages: Float32Array
  /** Targets of the value loss: advantage + value, before whitening. */
  returns: Float32Array
  /** Where the value loss clips from. */
  oldValues: Float32Array
}

/** Rewards at the policy's tokens alone. @throws ShapeError, NumericError */
const policyRewards = ({ mask, reward }: ValuedRollout, name: string): Float64Array => {
  const rewards = new Float64Array(mask.length)
  if (typeof reward !== 'number' && reward.length !== mask.length)
    throw new ShapeError(`${name}: expected ${mask.length} rewards, one a token, got ${reward.length}`)
  let acted = -1
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] !== 0) acted = t
    const earned = typeof reward === 'number' ? 0 : reward[t]
    if (!Number.isFinite(earned))
      throw new NumericError(`${name}: token ${t}: expected a finite reward, got ${earned}; check the grader`)
    if (acted >= 0) rewards[acted] += earned
    else if (earned !== 0)
      throw new NumericError(
        `${name}: token ${t}: expected no reward before the policy's first token, got ${earned}; no action earned it`,
      )
  }
  if (typeof reward !== 'number') return rewards
  if (!Number.isFinite(reward))
    throw new NumericError(`${name}: expected a finite reward, got ${reward}; check the grader`)
  if (acted >= 0) rewards[acted] = reward
  return rewards
}

const onPolicyTokens = (values: ArrayLike<number>, mask: ArrayLike<number>): Float32Array =>
  Float32Array.from(mask, (m, t) => (m === 0 ? 0 : values[t]))

/** Whitens each role's advantages over all its policy tokens. */
const whitenRoles = (
  rollouts: readonly ValuedRollout[],
  advantages: readonly Float64Array[],
): Float64Array[] => {
  const whitened = [...advantages]
  for (const role of new Set(rollouts.map(rollout => rollout.role))) {
    const own = rollouts.flatMap((rollout, i) => (rollout.role === role ? [i] : []))
    const rows = whiten(
      own.map(i => advantages[i]),
      own.map(i => rollouts[i].mask),
    )
    own.forEach((i, row) => {
      whitened[i] = rows[row]
    })
  }
  return whitened
}

/**
 * Advantages, value targets and old values of rollouts, to be spread into their datums: GAE over the policy's tokens (`gae`
 * with its defaults, gamma and lambda 1, verl's), then whitening by role (RLCER). An environment's token is no
 * action: the step goes from a policy token to the next one, whose value is the next value, and is discounted once however
 * many tokens the environment wrote between. After the last policy token the value is 0.
 * @returns one entry a rollout, in order
 * @throws ShapeError when lengths differ; NumericError for a reward, or a value at a policy token, that is not finite.
 */
export const criticCredit = (
  rollouts: readonly ValuedRollout[],
  { whitening = 'role', ...options }: CriticOptions = {},
): CriticCredit[] => {
  const estimates = rollouts.map((rollout, i) =>
    gae(policyRewards(rollout, `rollout ${i}`), rollout.values, rollout.mask, options),
  )
  const raw = estimates.map(({ advantages }) => advantages)
  const advantages = whitening === 'role' ? whitenRoles(rollouts, raw) : raw
  return rollouts.map(({ mask, values }, i) => ({
    advantages: onPolicyTokens(advantages[i], mask),
    returns: onPolicyTokens(estimates[i].returns, mask),
    oldValues: onPolicyTokens(values, mask),
  }))
}
