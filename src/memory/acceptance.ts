/** @file Which reflection is kept: two definitions of its utility, and the gate before the bank (RubricEM). */

import { ConfigError, NumericError } from '../util/errors.ts'

/** What a judge says of a reflection (appendix D.6.2), each from 0 to 1. */
export interface ReflectionScores {
  diagnosticAccuracy: number
  /** How much it helps the next attempt at the same question. */
  specificity: number
  /** How well it carries over to other questions. */
  scopeAndBalance: number
}

/**
 * - `d62`: .4 diagnostic accuracy + .3 specificity + .3 scope and balance, as the judge's prompt has it (D.6.2)
 * - `alg1`: the mean of the use within and across questions (Algorithm 1), for which specificity and scope stand
 */
export const UTILITIES = ['d62', 'alg1'] as const
export type Utility = (typeof UTILITIES)[number]

/** Use of a reflection for the same question and for others, each from 0 to 1. */
export interface EpisodeUse {
  within: number
  cross: number
}

/** Which scores stand for which use. */
export const episodeUse = ({ specificity, scopeAndBalance }: ReflectionScores): EpisodeUse => ({
  within: specificity,
  cross: scopeAndBalance,
})

const shares = (scores: Readonly<Record<string, number>>): void => {
  for (const [name, score] of Object.entries(scores))
    if (!(score >= 0 && score <= 1))
      throw new NumericError(`utility: ${name}: expected a number from 0 to 1, got ${score}`, {
        hint: 'a score that the judge did not give is null, and so is the utility',
      })
}

/**
 * .4 accuracy + .3 specificity + .3 scope; null where the judge gave no scores. @throws NumericError outside 0 to 1
 * @example
 * d62Utility({ diagnosticAccuracy: 1, specificity: 0.5, scopeAndBalance: 0.5 }) // 0.7
 */
export const d62Utility = (scores: ReflectionScores | null): number | null => {
  if (scores === null) return null
  const { diagnosticAccuracy, specificity, scopeAndBalance } = scores
  shares({ diagnosticAccuracy, specificity, scopeAndBalance })
  return 0.4 * diagnosticAccuracy + 0.3 * specificity + 0.3 * scopeAndBalance
}

/**
 * .5 (within + cross); null where the judge gave no scores. @throws NumericError outside 0 to 1
 * @example
 * alg1Utility({ within: 1, cross: 0 }) // 0.5
 */
export const alg1Utility = (use: EpisodeUse | null): number | null => {
  if (use === null) return null
  const { within, cross } = use
  shares({ within, cross })
  return 0.5 * (within + cross)
}

/** The utility of a judge's scores by its name. */
export const utilityOf = (utility: Utility, scores: ReflectionScores | null): number | null =>
  utility === 'd62' ? d62Utility(scores) : alg1Utility(scores && episodeUse(scores))

/** A reflection before the gate. */
export interface ReflectionCandidate {
  /** Its format is as it should be (`readReflection`). */
  valid: boolean
  /** Null where the judge failed. */
  u: number | null
}

export interface Gated {
  /** What each candidate is worth in its group: 0 where it is invalid, null where nothing is known. */
  rewards: (number | null)[]
  /** The candidate that goes into the bank, or none. */
  accepted: number | null
}

/** Least utility that is kept. */
export const ACCEPT_THRESHOLD = 0

/**
 * Gate A: valid, u at least the threshold, and the largest u of the group; of equal ones the first. Invalid candidates are
 * worth 0, stay in the group, so that they are discouraged, and are never kept. One that the judge said nothing about is
 * neither kept nor worth anything.
 * @throws NumericError for a u that is not finite: that is no judgement
 */
export const gate = (candidates: readonly ReflectionCandidate[], threshold = ACCEPT_THRESHOLD): Gated => {
  if (!Number.isFinite(threshold))
    throw new ConfigError(`acceptThreshold: expected a finite number, got ${threshold}`)
  let accepted: number | null = null
  let best = Number.NEGATIVE_INFINITY
  const rewards = candidates.map(({ valid, u }, i) => {
    if (u !== null && !Number.isFinite(u))
      throw new NumericError(`reflection ${i}: expected a finite utility, got ${u}`)
    if (!valid) return 0
    if (u !== null && u >= threshold && u > best) {
      best = u
      accepted = i
    }
    return u
  })
  return { rewards, accepted }
}
