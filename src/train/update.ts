/** @file From a phase's datums to optimiser steps: reference log-probs, correction for the sampler, mini-batches. */

import type { OptimizerSettings, Policy } from '../policy/policy.ts'
import { tokenStatistics } from '../policy/token-statistics.ts'
import { type UpdateStats, updateOnce } from '../policy/update.ts'
import type { Datum } from '../rl/datum.ts'
import { type ImportanceOptions, importanceWeights } from '../rl/offpolicy.ts'
import type { GroupedDatum } from '../rl/rollout.ts'
import type { Rng } from '../util/rng.ts'
import type { Phase } from './recipe.ts'

/** Cuts whole groups into mini-batches, so that a group's shared prompt is computed once. */
const minibatchesOf = (datums: readonly GroupedDatum[], count: number, rng: Rng): GroupedDatum[][] => {
  const groups = rng.shuffle([...new Set(datums.map(({ group }) => group))])
  const size = Math.ceil(groups.length / count)
  return Array.from({ length: count }, (_, b) => {
    const chosen = new Set(groups.slice(b * size, (b + 1) * size))
    return datums.filter(({ group }) => chosen.has(group))
  }).filter(batch => batch.length > 0)
}

/** Fills in the reference's log-probs where the loss has a KL term. */
const addReference = async (policy: Policy, { datums, loss: { kl }, temperature }: Phase): Promise<void> => {
  if (kl.kind === 'none' || kl.coef === 0) return
  const scores = await policy.score(
    datums.map(({ datum }) => datum),
    { weights: 'reference', temperature },
  )
  datums.forEach(({ datum }, i) => {
    datum.refLogprobs = scores[i].logprobs
  })
}

/** How far sampler and trainer are apart, before anything is learnt. */
type Mismatch = Omit<ReturnType<typeof tokenStatistics>, 'tokens' | 'oldKl'>

/**
 * Weighs the policy's loss of each token by the trainer's probability of it over the sampler's, within bounds, and has ratios start at
 * the trainer's log-probs: the clip then bounds what the update does, and not what two engines, or two versions of the weights,
 * make of the same tokens (verl's rollout correction, decoupled).
 * @returns how far they were apart; null for a loss without ratios
 */
const correct = async (
  policy: Policy,
  { datums: grouped, loss, temperature }: Phase,
  options: ImportanceOptions,
): Promise<Mismatch | null> => {
  if (loss.policy.kind === 'none') return null
  const datums: Datum[] = grouped.map(({ datum }) => datum)
  const scores = await policy.score(datums, { temperature })
  const {
    tokens: _,
    oldKl: __,
    ...mismatch
  } = tokenStatistics(
    datums.map(({ mask, oldLogprobs }, i) => ({ mask, oldLogprobs, logprobs: scores[i].logprobs })),
  )
  datums.forEach((datum, i) => {
    const { logprobs } = scores[i]
    const ratios = importanceWeights(logprobs, datum.oldLogprobs, datum.mask, options)
    datum.weights = ratios.map((ratio, t) => ratio * (datum.weights?.[t] ?? 1))
    datum.oldLogprobs = logprobs
  })
  return mismatch
}

export interface LearnOptions {
  optimizer: OptimizerSettings
  /** Phases of the same step that the gradient is compared with, where the phase says so. */
  against?: readonly string[]
  correction?: ImportanceOptions | null
}

/** All optimiser steps of a phase; the first one's statistics show how well sampler and trainer agree. */
export const learnPhase = async (
  policy: Policy,
  phase: Phase,
  { optimizer, against = [], correction }: LearnOptions,
  rng: Rng,
): Promise<UpdateStats[]> => {
  const { datums, loss, temperature, minibatches = 1, epochs = 1 } = phase
  if (datums.length === 0) return []
  await addReference(policy, phase)
  const mismatch = correction ? await correct(policy, phase, correction) : null
  const stats: UpdateStats[] = []
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const batch of minibatchesOf(datums, minibatches, rng.fork(epoch))) {
      const prompts = batch.map(({ group }) => group)
      // The first: later ones are of weights that the phase itself has changed.
      const gradient = phase.compared && stats.length === 0 ? { keepAs: phase.name, against } : undefined
      stats.push(
        await updateOnce(
          policy,
          batch.map(({ datum }) => datum),
          { loss, optimizer: { ...optimizer, ...(gradient && { gradient }) }, temperature, prompts },
        ),
      )
    }
  }
  if (mismatch) stats[0] = { ...stats[0], ...mismatch }
  return stats
}
