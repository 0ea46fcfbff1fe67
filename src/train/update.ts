/** @file From a phase's datums to optimiser steps: reference log-probs, mini-batches. */

import type { OptimizerSettings, Policy } from '../policy/policy.ts'
import { type UpdateStats, updateOnce } from '../policy/update.ts'
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

/**
 * All optimiser steps of a phase; the first one's statistics show how well sampler and trainer agree.
 * @param against phases of the same step that its gradient is compared with, where it says so
 */
export const learnPhase = async (
  policy: Policy,
  phase: Phase,
  optimizer: OptimizerSettings,
  rng: Rng,
  against: readonly string[] = [],
): Promise<UpdateStats[]> => {
  const { datums, loss, temperature, minibatches = 1, epochs = 1 } = phase
  if (datums.length === 0) return []
  await addReference(policy, phase)
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
  return stats
}
