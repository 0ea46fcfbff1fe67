/** @file Our losses as a server computes them: by one of the protocol's names, or by weights on log-probs; and what it refuses. */

import type { LossSpec } from '../../rl/loss.ts'

/**
 * What a server makes of the losses of a batch. `crossEntropy`: the sum over tokens, or that divided by the sum of the sequence's
 * weights. `policy`: the sum, or that divided by the positions of the sequence, prompt included. `sequences`: their sum or mean.
 * `requests`: whether the mean is of a request, or of everything since the last step (of no meaning for sums).
 */
export interface Normalisation {
  crossEntropy: 'sum' | 'weights'
  policy: 'sum' | 'positions'
  sequences: 'sum' | 'mean'
  requests: 'each' | 'together'
}

/** As the hosted service has it, and the protocol's documents say. */
export const PLAIN_SUMS: Normalisation = {
  crossEntropy: 'sum',
  policy: 'sum',
  sequences: 'sum',
  requests: 'each',
}

/** A loss of the protocol that is ours: token by token the same, times what a token weighs. */
export interface NamedLoss {
  name: 'cross_entropy' | 'ppo' | 'cispo'
  config?: Record<string, number>
  /** What cross-entropy weighs a token by: 1, or its advantage. */
  by?: 'one' | 'advantage'
}

/**
 * The protocol's loss that is the same as ours; null where there is none, and where the server divides cross-entropy by the weights,
 * so that these cannot say how much a sequence counts.
 */
export const namedLoss = (
  { policy, kl, crossEntropyCoef }: LossSpec,
  { crossEntropy }: Normalisation,
): NamedLoss | null => {
  if (kl.kind !== 'none' && kl.coef > 0) return null
  const sums = crossEntropy === 'sum'
  if (policy.kind === 'none') return sums ? { name: 'cross_entropy', by: 'one' } : null
  if (crossEntropyCoef > 0 || policy.dualClip !== null) return null
  if (policy.kind === 'reinforce') return sums ? { name: 'cross_entropy', by: 'advantage' } : null
  const config = {
    clip_low_threshold: Math.max(0, 1 - policy.clipLow),
    clip_high_threshold: 1 + policy.clipHigh,
  }
  if (policy.kind === 'clip') return { name: 'ppo', config }
  return policy.kind === 'cispo' ? { name: 'cispo', config } : null
}

/**
 * What a sequence's weights are multiplied by, so that the server's divisions come to nothing.
 * @param count sequences that the server takes the mean of
 * @param positions of this one
 */
export const undoing = (
  { policy, sequences }: Normalisation,
  lossFn: string,
  count: number,
  positions: number,
): number =>
  (sequences === 'mean' ? count : 1) * (lossFn !== 'cross_entropy' && policy === 'positions' ? positions : 1)

/** Why no server of the protocol can compute a loss, in words that follow the setting's name; null where it can. */
export const tinkerRefusal = ({ value, entropyCoef }: LossSpec): string | null => {
  if (value !== null)
    return '.value: expected null with policy.kind tinker, whose policy has no value head; leave the term out (advantages relative to the group need none), take a recipe with the setting critic, or train with policy.kind local'
  if (entropyCoef !== 0)
    return `.entropyCoef: expected 0 with policy.kind tinker, whose server returns log-probs of tokens and not the entropy of their distributions, got ${entropyCoef}; leave it out, or train with policy.kind local`
  return null
}
