/** @file Do criteria go with being right? Correlation of satisfaction and correctness, and what chance alone would give. */

import { meanKnown } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { logChoose } from '../util/special.ts'

/** Satisfaction of one criterion over the samples of one problem; the sign of its points says which way it should go. */
export interface CriterionColumn {
  points: number
  /** One a sample; null where no verdict was given. */
  met: readonly (boolean | null)[]
}

/** The samples of one problem. */
export interface ValidityProblem {
  /** Null where nobody knows. */
  correct: readonly (boolean | null)[]
  criteria: readonly CriterionColumn[]
}

export interface ValidityOptions {
  /** Valid above this correlation. Default 0.2 (RLCER Eq. 7). */
  alpha?: number
  /** Count the absence of a penalised flaw as satisfaction. Default true (RLCER Eq. 7). */
  signAware?: boolean
}

/**
 * Pearson correlation (phi) of satisfaction and correctness; null where one of them does not vary (RLCER Eq. 7). Samples of which
 * either is not known are left out.
 * @throws DataError for lengths that differ.
 * @example
 * criterionCorrelation({ points: 1, met: [true, true, false, false] }, [true, false, false, false]) // 0.5774
 */
export const criterionCorrelation = (
  { points, met }: CriterionColumn,
  correct: readonly (boolean | null)[],
  { signAware = true }: ValidityOptions = {},
): number | null => {
  if (met.length !== correct.length)
    throw new DataError(`criterionCorrelation: ${met.length} verdicts for ${correct.length} samples`)
  let known = 0
  let right = 0
  let satisfied = 0
  let both = 0
  for (let i = 0; i < met.length; i++) {
    const [v, z] = [met[i], correct[i]]
    if (v === null || z === null) continue
    known++
    right += Number(z)
    satisfied += Number(v)
    both += Number(v && z)
  }
  const spread = right * (known - right) * satisfied * (known - satisfied)
  if (spread === 0) return null
  const phi = (known * both - right * satisfied) / Math.sqrt(spread)
  return signAware && points < 0 ? -phi : phi
}

/**
 * Strictly above alpha: a correlation of exactly alpha is not valid.
 * @example
 * isValidCriterion({ points: 1, met: [true, true, false, false] }, [true, true, false, false]) // true
 */
export const isValidCriterion = (
  column: CriterionColumn,
  correct: readonly (boolean | null)[],
  options: ValidityOptions = {},
): boolean => {
  const correlation = criterionCorrelation(column, correct, options)
  return correlation !== null && exceeds(correlation, options)
}

/** A correlation is a quotient of roots: rounding must not carry one that equals alpha across it. */
const exceeds = (correlation: number, { alpha = 0.2 }: ValidityOptions): boolean =>
  correlation > alpha + 1e-12

export interface ValidityRates {
  /** Mean correlation over criteria where it is defined; null when it never is. */
  correlation: number | null
  /** Share of criteria that are valid. */
  validRate: number | null
  /** The same with correctness shuffled within each problem: what chance gives. */
  nullCorrelation: number | null
  nullValidRate: number | null
  /** Share of problems whose samples are all right or all wrong. */
  constantShare: number
}

const rates = (problems: readonly ValidityProblem[], options: ValidityOptions) => {
  const counts = { all: 0, defined: 0, valid: 0, sum: 0 }
  for (const { criteria, correct } of problems)
    for (const column of criteria) {
      const correlation = criterionCorrelation(column, correct, options)
      counts.all++
      if (correlation === null) continue
      counts.defined++
      counts.sum += correlation
      counts.valid += Number(exceeds(correlation, options))
    }
  return {
    correlation: counts.defined > 0 ? counts.sum / counts.defined : null,
    validRate: counts.all > 0 ? counts.valid / counts.all : null,
  }
}

/** Different values among those that are known. */
const varieties = (values: readonly (boolean | null)[]): number =>
  new Set(values.filter(value => value !== null)).size

/** What is not known stays where it is: it has to do with the sample, not with being right. */
const shuffleKnown = (correct: readonly (boolean | null)[], rng: Rng): (boolean | null)[] => {
  const shuffled = rng.shuffle(correct.filter(value => value !== null)).values()
  return correct.map(value => (value === null ? null : shuffled.next().value!))
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
      problems.map(({ correct, criteria }) => ({ criteria, correct: shuffleKnown(correct, rng) })),
      options,
    ),
  )
  const constant = problems.filter(({ correct }) => varieties(correct) < 2).length
  return {
    ...rates(problems, options),
    nullCorrelation: meanKnown(shuffled.map(({ correlation }) => correlation)),
    nullValidRate: meanKnown(shuffled.map(({ validRate }) => validRate)),
    constantShare: problems.length > 0 ? constant / problems.length : 0,
  }
}

/**
 * Exact chance that a criterion met by `met` of `samples` is valid although it has nothing to do with which `correct` of
 * them are right: the hypergeometric probability of phi > alpha (RLCER Eq. 7).
 * @example
 * chanceOfValidity(4, 2, 2) // 0.1667
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
  /** Share of criteria that all samples of their problem meet, or none does: they say nothing. */
  constantShare: number | null
  /** Share that all samples meet. */
  alwaysMetShare: number | null
}

/** How many criteria have stopped telling samples apart. */
export const criterionSaturation = (problems: readonly ValidityProblem[]): Saturation => {
  const columns = problems.flatMap(({ criteria }) => criteria.map(({ met }) => met))
  const shareOf = (test: (met: CriterionColumn['met']) => boolean) =>
    meanKnown(columns.map(met => Number(test(met))))
  return {
    constantShare: shareOf(met => varieties(met) < 2),
    alwaysMetShare: shareOf(met => varieties(met) === 1 && met.every(value => value !== false)),
  }
}
