/** @file Two rewards in one: thinking and response fused, and a gate that keeps thinking from paying for a poor response. */

import { ConfigError } from '../util/errors.ts'

/**
 * What the response may do to the fused reward (RiT Eq. 7-8 and Fig. 3a). The paper has all but the last in words alone:
 * - `none`: nothing; the fused reward as it is
 * - `max`: the larger of the fused reward and the response's
 * - `conditional`: the fused reward where the response has all of its reward, else the response's alone
 * - `min`: the smaller of the two, RiT's own
 */
export const GATES = ['none', 'max', 'conditional', 'min'] as const
export type FusionGate = (typeof GATES)[number]

/** What became of a rollout's two rewards; null where nothing is known. */
export interface Fusion {
  /** alpha T + (1 - alpha) R, before the gate. */
  fused: number | null
  /** After it. */
  reward: number | null
  /** Whether the gate changed the reward. */
  bit: boolean
  /** There was nothing to judge thinking by: the response's reward alone counts. */
  fellBack: boolean
}

export interface FusionOptions {
  /** Weight of thinking, in [0, 1]. */
  alpha: number
  gate: FusionGate
}

/** What a null verdict counts as: nothing, or unmet. */
export type NullVerdicts = 'drop' | 'as-false'

/**
 * Mean satisfaction of the criteria (RiT Eq. 4). Null verdicts are dropped, or count as unmet; null where all of them are
 * dropped, `none` where there are no criteria at all (K = 0), which is another matter: nobody failed.
 * @param satisfied one a criterion, in [0, 1]; null where there is no verdict
 * @example
 * meanSatisfaction([1, 0.5, null]) // 0.75
 */
export const meanSatisfaction = (
  satisfied: readonly (number | null)[],
  nulls: NullVerdicts = 'drop',
): number | null | 'none' => {
  if (satisfied.length === 0) return 'none'
  const counted = satisfied.flatMap(value => (value !== null ? [value] : nulls === 'as-false' ? [0] : []))
  return counted.length === 0 ? null : counted.reduce((sum, value) => sum + value, 0) / counted.length
}

/**
 * The gate itself (RiT Eq. 4 to 8), on the fused reward or on thinking alone: alpha T + (1 - alpha) R through it is
 * alpha T' + (1 - alpha) R with T through it, for `min` because min(alpha T + (1 - alpha) R, R) = R - alpha max(R - T, 0).
 * @example
 * gated('min', 0.9, 0.4) // 0.4
 */
export const gated = (gate: FusionGate, value: number, response: number): number => {
  switch (gate) {
    case 'none':
      return value
    case 'max':
      return Math.max(value, response)
    case 'conditional':
      return response === 1 ? value : response
    case 'min':
      return Math.min(value, response)
  }
}

/**
 * The reward of one rollout (RiT Eq. 7-8). Without criteria the response's reward counts alone; where thinking or response
 * could not be judged nothing is known, but for what is paid nothing: thinking at alpha 0, the response at alpha 1 without a gate.
 * @throws ConfigError for a weight outside [0, 1]
 * @example
 * fuse(0.5, 1, { alpha: 0.5, gate: 'none' }).reward // 0.75
 */
export const fuse = (
  thinking: number | null | 'none',
  response: number | null,
  { alpha, gate }: FusionOptions,
): Fusion => {
  if (!(alpha >= 0 && alpha <= 1))
    throw new ConfigError(`fusion.alpha: expected a weight from 0 to 1, got ${alpha}`)
  if (thinking === 'none') return { fused: response, reward: response, bit: false, fellBack: true }
  const judged = thinking ?? (alpha === 0 ? 0 : null)
  const known = response ?? (alpha === 1 && gate === 'none' ? 0 : null)
  if (judged === null || known === null) return { fused: null, reward: null, bit: false, fellBack: false }
  const fused = alpha * judged + (1 - alpha) * known
  const reward = gated(gate, fused, known)
  return { fused, reward, bit: Math.abs(reward - fused) > ROUNDING, fellBack: false }
}

/** Rounding of the sum is no bite: alpha T + (1 - alpha) R may differ from R in the last digit where T = R. */
const ROUNDING = 1e-12
