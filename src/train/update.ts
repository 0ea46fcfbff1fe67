/** @file From groups and advantages to optimiser steps: datums, reference log-probs, mini-batches. */

import type { OptimizerSettings, Policy } from '../policy/policy.ts'
import { type UpdateStats, updateOnce } from '../policy/update.ts'
import type { Datum } from '../rl/datum.ts'
import type { LossSpec } from '../rl/loss.ts'
import type { Rng } from '../util/rng.ts'
import type { Group, RatioMode } from './rollout.ts'

/** Per-token advantages of every rollout: [problem][sample] of one number a token. */
export type TokenAdvantages = readonly (readonly Float32Array[])[]

/** A rollout's datum with the problem that it answers. */
export interface PromptedDatum {
  datum: Datum
  prompt: number
}

/**
 * One datum a rollout. Those whose advantages are all zero are left out when `dropZero`: they have no policy gradient, but they
 * would have a part in KL and entropy terms, and in means over tokens.
 * @param ratio which prompt rollouts are trained on that were sampled from a scaffold; the plain one by default
 */
export const toDatums = (
  groups: readonly Group<unknown, unknown>[],
  advantages: TokenAdvantages,
  dropZero: boolean,
  ratio: RatioMode = 'plain',
): PromptedDatum[] =>
  groups.flatMap(({ promptTokens, samples, sampledPrompts, oldLogprobs }, prompt) =>
    samples.flatMap((sample, i) => {
      const own = advantages[prompt][i]
      if (dropZero && own.every(a => a === 0)) return []
      const datum: Datum = {
        promptTokens: ratio === 'sampled' ? (sampledPrompts?.[i] ?? promptTokens) : promptTokens,
        tokens: sample.tokens,
        mask: new Float32Array(sample.tokens.length).fill(1),
        oldLogprobs: oldLogprobs?.[i] ?? sample.logprobs,
        advantages: own,
      }
      return [{ datum, prompt }]
    }),
  )

export interface UpdateSettings {
  loss: LossSpec
  optimizer: OptimizerSettings
  temperature: number
  /** Optimiser steps a pass over the batch. */
  minibatches: number
  /** Passes over the batch. */
  epochs: number
}

/** Cuts whole prompts into mini-batches, so that a group's shared prompt is computed once. */
const minibatchesOf = (datums: readonly PromptedDatum[], count: number, rng: Rng): PromptedDatum[][] => {
  const prompts = rng.shuffle([...new Set(datums.map(({ prompt }) => prompt))])
  const size = Math.ceil(prompts.length / count)
  return Array.from({ length: count }, (_, b) => {
    const chosen = new Set(prompts.slice(b * size, (b + 1) * size))
    return datums.filter(({ prompt }) => chosen.has(prompt))
  }).filter(batch => batch.length > 0)
}

/** Fills in the reference's log-probs where the loss has a KL term. */
const addReference = async (policy: Policy, datums: readonly PromptedDatum[], settings: UpdateSettings) => {
  const { kl } = settings.loss
  if (kl.kind === 'none' || kl.coef === 0) return
  const scores = await policy.score(
    datums.map(({ datum }) => datum),
    { weights: 'reference', temperature: settings.temperature },
  )
  datums.forEach(({ datum }, i) => {
    datum.refLogprobs = scores[i].logprobs
  })
}

/** All optimiser steps of one training step; the first one's statistics show how well sampler and trainer agree. */
export const updatePolicy = async (
  policy: Policy,
  datums: readonly PromptedDatum[],
  settings: UpdateSettings,
  rng: Rng,
): Promise<UpdateStats[]> => {
  await addReference(policy, datums, settings)
  const stats: UpdateStats[] = []
  for (let epoch = 0; epoch < settings.epochs; epoch++) {
    for (const batch of minibatchesOf(datums, settings.minibatches, rng.fork(epoch))) {
      const { loss, optimizer, temperature } = settings
      const prompts = batch.map(({ prompt }) => prompt)
      stats.push(
        await updateOnce(
          policy,
          batch.map(({ datum }) => datum),
          { loss, optimizer, temperature, prompts },
        ),
      )
    }
  }
  return stats
}
