/** @file Do criteria go with being right? Correlation of satisfaction and correctness, and what chance alone would give. */

import { mean, pearson } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { logChoose } from '../util/special.ts'

/** Satisfaction of one criterion over the samples of one problem; the sign of its points says which way it should go. */
export interface CriterionColumn {
  points: number
  /** One a sample. */
  met: readonly boolean[]
}

/** The samples of one problem. */
export interface ValidityProblem {
  correct: readonly boolean[]
  criteria: readonly CriterionColumn[]
}

export interface ValidityOptions {
  /** Valid above this correlation. Default 0.2 (RLCER Eq. 7). */
  alpha?: number
  /** Count the absence of a penalised flaw as satisfaction. Default true (spec 2.4). */
  signAware?: boolean
}

const numbers = (flags: readonly boolean[]) => flags.map(Number)

/**
 * Pearson correlation (phi) of satisfaction and correctness; null where one of them does not vary (spec 2.4).
 * @throws DataError for lengths that differ.
 */
export const criterionCorrelation = (
  { points, met }: CriterionColumn,
  correct: readonly boolean[],
  { signAware = true }: ValidityOptions = {},
): number | null => {
  if (met.length !== correct.length)
    throw new DataError(`criterionCorrelation: ${met.length} verdicts for ${correct.length} samples`)
  const good = signAware && points < 0 ? met.map(flaw => !flaw) : met
  return pearson(numbers(good), numbers(correct))
}

/** Strictly above alpha: a correlation of exactly alpha is not valid (spec 11, case 8). */
export const isValidCriterion = (
  column: CriterionColumn,
  correct: readonly boolean[],
  options: ValidityOptions = {},
): boolean => {
  const correlation = criterionCorrelation(column, correct, options)
  // A correlation is a quotient of roots: rounding must not carry one that equals alpha across it.
  return correlation !== null && correlation > (options.alpha ?? 0.2) + 1e-12
}

export interface ValidityRates {
  /** Mean correlation over criteria where it is defined; null when it never is. */
  correlation: number | null
  /** Share of criteria that are valid. */
  validRate: number | null
  /** The same with correctness shuffled within each problem: what chance gives (spec 8.7). */
  nullCorrelation: number | null
  nullValidRate: number | null
  /** Share of problems whose samples are all right or all wrong. */
  constantShare: number
}

const rates = (problems: readonly ValidityProblem[], options: ValidityOptions) => {
  const all = problems.flatMap(({ criteria, correct }) =>
    criteria.map(column => ({
      correlation: criterionCorrelation(column, correct, options),
      valid: isValidCriterion(column, correct, options),
    })),
  )
  const defined = all.flatMap(({ correlation }) => (correlation === null ? [] : [correlation]))
  return {
    correlation: defined.length > 0 ? mean(defined) : null,
    validRate: all.length > 0 ? mean(all.map(({ valid }) => Number(valid))) : null,
  }
}

const meanOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter(value => value !== null)
  return known.length > 0 ? mean(known) : null
}

/** Correlations and valid rate of a step beside their permutation null. @param shuffles of correctness, 100 by default */
export const validityRates = (
  problems: readonly ValidityProblem[],
  {
    shuffles = 100,
    seed = 0,
    ...options
  }: ValidityOptions & { shuffles?: number; seed?: number | string } = {},
): ValidityRates => {
  const rng = new Rng(`${seed}/validity`)
  const shuffled = Array.from({ length: shuffles }, () =>
    rates(
      problems.map(({ correct, criteria }) => ({ criteria, correct: rng.shuffle(correct) })),
      options,
    ),
  )
  const constant = problems.filter(({ correct }) => new Set(correct).size < 2).length
  return {
    ...rates(problems, options),
    nullCorrelation: meanOf(shuffled.map(({ correlation }) => correlation)),
    nullValidRate: meanOf(shuffled.map(({ validRate }) => validRate)),
    constantShare: problems.length > 0 ? constant / problems.length : 0,
  }
}

/**
 * Exact chance that a criterion met by `met` of `samples` is valid although it has nothing to do with which `correct` of
 * them are right: the hypergeometric probability of phi > alpha (spec 2.4).
 */
export const chanceOfValidity = (samples: number, correct: number, met: number, alpha = 0.2): number => {
  const spread = Math.sqrt(correct * (samples - correct) * met * (samples - met))
  if (spread === 0) return 0
  let chance = 0
  for (let both = Math.max(0, correct + met - samples); both <= Math.min(correct, met); both++) {
    const phi = (samples * both - correct * met) / spread
    if (phi <= alpha + 1e-12) continue
    chance += Math.exp(
      logChoose(correct, both) + logChoose(samples - correct, met - both) - logChoose(samples, met),
    )
  }
  return chance
}

export interface Saturation {
  /** Share of criteria that all samples of their problem meet, or none does: they say nothing (spec 8.8). */
  constantShare: number | null
  /** Share that all samples meet. */
  alwaysMetShare: number | null
}

/** How many criteria have stopped telling samples apart. */
export const saturation = (problems: readonly ValidityProblem[]): Saturation => {
  const columns = problems.flatMap(({ criteria }) => criteria.map(({ met }) => met))
  const shareOf = (test: (met: readonly boolean[]) => boolean) =>
    columns.length > 0 ? mean(columns.map(met => Number(test(met)))) : null
  return {
    constantShare: shareOf(met => new Set(met).size < 2),
    alwaysMetShare: shareOf(met => met.every(Boolean)),
  }
}
