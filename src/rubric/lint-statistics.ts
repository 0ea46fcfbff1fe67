/** @file What chance alone would do to verdicts: exact nulls inside groups, permutation where outcomes are not yes or no. */

import { mean, pearson } from '../util/descriptive.ts'
import { Rng } from '../util/rng.ts'
import { logChoose, normalQuantile } from '../util/special.ts'

/** One criterion's credits and the outcomes of the same responses, group by group. */
export interface Group {
  credits: readonly number[]
  outcomes: readonly number[]
}

const sum = (xs: readonly number[]): number => xs.reduce((total, x) => total + x, 0)

/** Distribution of the sum of independent counts. */
const convolve = (a: readonly number[], b: readonly number[]): number[] => {
  const result = new Array<number>(a.length + b.length - 1).fill(0)
  for (let i = 0; i < a.length; i++) for (let j = 0; j < b.length; j++) result[i + j] += a[i] * b[j]
  return result
}

/**
 * Chance that all groups are constant if the verdicts were dealt out among all responses at random: exact, by counting
 * the sets of groups whose sizes add up to the number of met verdicts.
 */
export const chanceAllConstant = (groupSizes: readonly number[], met: number): number => {
  const total = sum(groupSizes)
  // ways[k]: sets of groups with k responses in all.
  const ways = new Array<number>(total + 1).fill(0)
  ways[0] = 1
  for (const size of groupSizes) for (let k = total; k >= size; k--) ways[k] += ways[k - size]
  return ways[met] === 0 ? 0 : Math.exp(Math.log(ways[met]) - logChoose(total, met))
}

/** Chance of every number of responses that are both met and right, with both dealt out at random inside a group. */
const hypergeometric = (size: number, met: number, right: number): number[] =>
  Array.from({ length: Math.min(met, right) + 1 }, (_, both) =>
    Math.exp(logChoose(right, both) + logChoose(size - right, met - both) - logChoose(size, met)),
  )

const isBinary = (xs: readonly number[]): boolean => xs.every(x => x === 0 || x === 1)

/**
 * p-value of "credit goes down when the outcome goes up" against verdicts that have nothing to do with outcomes inside a
 * group. Exact where both are yes or no (convolved hypergeometric distributions), otherwise by seeded permutation
 * inside groups, (1 + hits) / (1 + draws).
 */
export const antiCorrelationTest = (
  groups: readonly Group[],
  { draws = 5000, seed = 0 }: { draws?: number; seed?: number | string } = {},
): number => {
  if (groups.every(({ credits, outcomes }) => isBinary(credits) && isBinary(outcomes))) return exact(groups)
  const rng = new Rng(`${seed}/anti-correlation`)
  const observed = sum(groups.map(({ credits, outcomes }) => dot(credits, outcomes)))
  const slack = 1e-12 * Math.max(1, Math.abs(observed))
  let hits = 0
  for (let draw = 0; draw < draws; draw++) {
    const shuffled = sum(groups.map(({ credits, outcomes }) => dot(credits, rng.shuffle(outcomes))))
    if (shuffled <= observed + slack) hits++
  }
  return (1 + hits) / (1 + draws)
}

const dot = (xs: readonly number[], ys: readonly number[]): number => sum(xs.map((x, i) => x * ys[i]))

const exact = (groups: readonly Group[]): number => {
  const distribution = groups
    .map(({ credits, outcomes }) => hypergeometric(credits.length, sum(credits), sum(outcomes)))
    .reduce(convolve, [1])
  const observed = sum(groups.map(({ credits, outcomes }) => dot(credits, outcomes)))
  return Math.min(1, sum(distribution.slice(0, observed + 1)))
}

export interface WithinCorrelation {
  /** Pearson correlation of credit and outcome after each group's means are taken out. */
  estimate: number
  /** One-sided upper bound at 95% (Fisher's z), so that "no correlation" is more than "no evidence". */
  upper: number
  responses: number
}

/** Degrees of freedom below which Fisher's bound says nothing. */
const FEWEST = 10

/** Correlation inside groups; null where it is undefined or there are too few responses to bound it. */
export const withinCorrelation = (groups: readonly Group[]): WithinCorrelation | null => {
  const centred = (pick: (group: Group) => readonly number[]) =>
    groups.flatMap(group => {
      const middle = mean(pick(group))
      return pick(group).map(x => x - middle)
    })
  const credits = centred(group => group.credits)
  const freedom = credits.length - groups.length - 2
  const estimate = pearson(
    credits,
    centred(group => group.outcomes),
  )
  if (estimate === null || freedom < FEWEST) return null
  const z = Math.atanh(Math.max(-1 + 1e-9, Math.min(1 - 1e-9, estimate)))
  return {
    estimate,
    upper: Math.tanh(z + normalQuantile(0.95) / Math.sqrt(freedom)),
    responses: credits.length,
  }
}
