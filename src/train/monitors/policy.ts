/** @file Monitors of the policy and its engine: entropy, groups without a difference, sampler against trainer, ratios. */

import type { MetricsRow } from '../../runs/rows.ts'
import { countEach } from '../../util/descriptive.ts'
import { percent, threeDigits } from '../../util/format.ts'
import { mean, median } from '../../util/statistics.ts'
import { defineMonitor, type Sign, type WatchedRollout } from './monitor.ts'
import { changeSinceStart, latestValues } from './series.ts'

/** Strongest level that is reported: a divisor near 0 says no more. */
const MOST = 1e6

export const entropyCollapse = defineMonitor({
  name: 'entropyCollapse',
  title: 'Entropy collapse',
  why: 'the policy has all but stopped exploring: the samples of a group are alike, advantages vanish, and what it does not do now it will not find',
  advice:
    'lower the learning rate, clip higher (loss clip-higher), add an entropy bonus or a KL term, sample at a higher temperature, or start from a model that knows more ways; training on costs time and gains little',
  look: ({ rows }, { left }, { window, sigmas }): Sign | null => {
    // Supervised learning lowers entropy by its nature.
    const change = changeSinceStart(rows, window, row => (row.rollouts === undefined ? null : row.entropy))
    if (change === null || !(change.before > 0)) return null
    return {
      level: Math.min((left * change.before) / Math.max(change.after, 0), change.sigmas / sigmas, MOST),
      seen: `entropy fell from ${threeDigits(change.before)} to ${threeDigits(change.after)} nats a token, ${percent(change.after / change.before)} of what it was`,
      figures: { before: change.before, now: change.after },
    }
  },
  together: true,
  evidence: rollouts => timesSaid(rollouts),
})

/** Extremes sit where the sampler was least sure: that is what can be told of single rollouts. */
const leastLikely = (rollouts: readonly WatchedRollout[]): number[] =>
  rollouts.map(({ logprobs }) => logprobs.reduce((least, logprob) => Math.max(least, -logprob), 0))

export const hotSampling = defineMonitor({
  name: 'hotSampling',
  title: 'Sampling temperature too high',
  why: 'many words are drawn that the model itself finds unlikely: samples are hard to read, score low whatever was meant, and teach how to be readable before anything else',
  advice:
    'sample at .7 to .8 (rollout.temperature), or rollout.topP below 1; a model with fresh weights is like this at any temperature',
  confirm: 1,
  look: ({ rows }, { nats }): Sign | null => {
    const [{ step, entropy, rollouts }] = rows
    if (step !== 1 || rollouts === undefined || typeof entropy !== 'number') return null
    return {
      level: entropy / nats,
      seen: `before any update the entropy is ${threeDigits(entropy)} nats a token`,
      figures: { entropy },
    }
  },
  evidence: leastLikely,
})

/** How often a group says exactly the same, beyond once. */
const timesSaid = (rollouts: readonly WatchedRollout[]): number[] => {
  const keys = rollouts.map(({ tokens, group }) => `${group}:${Array.from(tokens).join()}`)
  const counts = countEach(keys)
  return keys.map(key => counts.get(key)! - 1)
}

export const zeroVariance = defineMonitor({
  name: 'zeroVariance',
  title: 'Groups of equal rewards',
  why: 'where all samples of a prompt earn the same there is nothing to learn: the sampling is in vain and the batch that remains is small and noisy',
  advice:
    'choose problems that the policy solves sometimes (curriculum, or dynamic sampling), use more samples a prompt or a finer reward; if almost everything is solved, training is done',
  look: ({ rows }, { share }, { window }): Sign | null => {
    const values = latestValues(rows, window, row => row.zeroVarianceGroups)
    if (values.length < Math.ceil(window / 2)) return null
    const now = mean(values)
    return {
      level: now / share,
      seen: `in ${percent(now)} of groups all rewards are equal`,
      figures: { share: now },
    }
  },
  together: true,
  evidence: rollouts => {
    const rewards = new Map<number, Set<number>>()
    for (const { group, row } of rollouts)
      if (row.reward !== null) rewards.set(group, (rewards.get(group) ?? new Set<number>()).add(row.reward))
    return rollouts.map(({ group }) => (rewards.get(group)?.size === 1 ? 1 / (1 + group) : 0))
  },
})

/** Median over the window: a single odd step does not move it. */
const typical = (rows: readonly MetricsRow[], window: number, pick: (row: MetricsRow) => unknown) => {
  const values = latestValues(rows, window, pick)
  return values.length < Math.ceil(window / 2) ? null : median(values)
}

export const samplerMismatch = defineMonitor({
  name: 'samplerMismatch',
  title: 'Sampler against trainer',
  why: 'the log-probs that the ratios start from are not those of the policy that is trained, so every ratio is wrong before the first update',
  advice:
    'check that sampler and trainer have the same weights, precision, temperature and prompt; recompute old log-probs with the trainer; a known coarse sampler needs a higher threshold here',
  look: ({ rows }, { gap }, { window }): Sign | null => {
    const now = typical(rows, window, row => row.logprobGapMax)
    if (now === null) return null
    return {
      level: now / gap,
      seen: `a token's log-prob at training is up to ${threeDigits(now)} nats from that at sampling`,
      figures: { gap: now },
    }
  },
  evidence: leastLikely,
})

export const ratioExtremes = defineMonitor({
  name: 'ratioExtremes',
  title: 'Extreme ratios',
  why: 'a few tokens that the sampling policy thought unlikely carry the update, or none of it: the gradient is mostly noise',
  advice:
    'sample with the newest policy (pipeline: false), take fewer passes over a batch, lower the learning rate, or choose another ratio mode; dual clipping bounds the worst',
  look: ({ rows }, { ratio }, { window }): Sign | null => {
    const now = typical(rows, window, farthest)
    if (now === null) return null
    return {
      level: Math.log(now) / Math.log(ratio),
      seen: `a token's ratio to the policy that sampled it is up to ${threeDigits(now)} (or one over it)`,
      figures: { ratio: now },
    }
  },
  evidence: leastLikely,
})

const farthest = ({ ratioMax, ratioMin }: MetricsRow): number | null =>
  typeof ratioMax === 'number' && typeof ratioMin === 'number'
    ? Math.min(Math.max(ratioMax, 1 / Math.max(ratioMin, 1 / MOST)), MOST)
    : null
