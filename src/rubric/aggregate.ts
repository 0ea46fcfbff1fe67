/** @file The score of a data set: mean over examples as HealthBench reports it, and how often judges failed. */

import { std } from '../util/descriptive.ts'
import { Rng } from '../util/rng.ts'
import type { RubricScore } from './score.ts'

export interface AggregateScore {
  /** Mean over the scored examples, clipped to [0, 1]; null when none was scored. */
  mean: number | null
  /** Standard deviation of the clipped mean over bootstrap resamples. */
  bootstrapStd: number
  scored: number
  skipped: number
}

/**
 * Data-set score as HealthBench reports it: single scores may be negative, only the mean is clipped;
 * undefined scores are skipped and counted.
 */
export const aggregateScores = (
  scores: readonly (number | null)[],
  { resamples = 1000, seed = 0 }: { resamples?: number; seed?: number | string } = {},
): AggregateScore => {
  const scored = scores.filter(score => score !== null)
  if (scored.length === 0) return { mean: null, bootstrapStd: 0, scored: 0, skipped: scores.length }
  const clip = (sum: number) => Math.min(1, Math.max(0, sum / scored.length))
  const rng = new Rng(`${seed}/aggregate`)
  const draws = Array.from({ length: resamples }, () => {
    let sum = 0
    for (let i = 0; i < scored.length; i++) sum += scored[rng.int(scored.length)]
    return clip(sum)
  })
  const sum = scored.reduce((total, score) => total + score, 0)
  return {
    mean: clip(sum),
    bootstrapStd: std(draws),
    scored: scored.length,
    skipped: scores.length - scored.length,
  }
}

/** Share of verdicts that graders failed to give, by the sign of points; null where there is no criterion of that sign. */
export const nullRates = (scores: readonly Pick<RubricScore, 'nulls' | 'counts'>[]) => {
  const rate = (sign: 'positive' | 'negative') => {
    const whole = scores.reduce((sum, { counts }) => sum + counts[sign], 0)
    const failed = scores.reduce((sum, { nulls }) => sum + nulls[sign], 0)
    return whole > 0 ? failed / whole : null
  }
  return { positive: rate('positive'), negative: rate('negative') }
}
