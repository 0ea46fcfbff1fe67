/** @file Win rates by a judge that is shown several texts: every order equally often, ties shared, strengths by Bradley-Terry. */

import { mean } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'

/** All orders of 0..count-1, in lexicographic order. */
export const permutations = (count: number): number[][] => {
  if (count === 0) return [[]]
  return Array.from({ length: count }, (_, first) =>
    permutations(count - 1).map(rest => [first, ...rest.map(i => (i >= first ? i + 1 : i))]),
  ).flat()
}

/** One look of the judge: the arms in the order shown, and the place that it chose; null for a tie. */
export interface JudgedComparison {
  order: readonly number[]
  chosen: number | null
}

export interface WinRates {
  /** Share of the wins of each arm; a tie gives every arm the same part. Sums to 1. */
  shares: number[]
  tieRate: number
  /** How often each place was chosen among the looks without a tie: far from equal means that order decides. */
  placeShares: number[]
}

/**
 * Shares of wins over the comparisons of a test set (RiT).
 * @throws DataError for no comparisons, a comparison that does not show every arm once, or a place that is not there.
 * @example
 * const looks = [{ order: [0, 1], chosen: 1 }, { order: [1, 0], chosen: 0 }, { order: [0, 1], chosen: null }]
 * winRates(looks, 2) // { shares: [ 0.1667, 0.8333 ], tieRate: 0.3333, placeShares: [ 0.5, 0.5 ] }
 */
export const winRates = (comparisons: readonly JudgedComparison[], arms: number): WinRates => {
  if (comparisons.length === 0)
    throw new DataError('winRates: expected at least one comparison, got none; ask the judge first')
  const shares = new Array<number>(arms).fill(0)
  const places = new Array<number>(arms).fill(0)
  for (const { order, chosen } of comparisons) {
    if (new Set(order).size !== arms || order.length !== arms || order.some(arm => !(arm >= 0 && arm < arms)))
      throw new DataError(`winRates: expected each of ${arms} arms once, got [${order}]`)
    if (chosen !== null && !(chosen in order))
      throw new DataError(`winRates: place ${chosen} was chosen, but ${arms} were shown`)
    if (chosen === null) for (let arm = 0; arm < arms; arm++) shares[arm] += 1 / arms
    else {
      shares[order[chosen]]++
      places[chosen]++
    }
  }
  const n = comparisons.length
  const decided = places.reduce((a, b) => a + b, 0)
  return {
    shares: shares.map(share => share / n),
    tieRate: 1 - decided / n,
    placeShares: places.map(count => (decided > 0 ? count / decided : 0)),
  }
}

/** Arms that a chain of wins leads to from `start`, itself included. */
const beatenFrom = (start: number, wins_A_B: readonly (readonly number[])[]): Set<number> => {
  const reached = new Set([start])
  for (const arm of reached) {
    for (const [other, wins] of wins_A_B[arm].entries()) if (wins > 0) reached.add(other)
  }
  return reached
}

/** Strengths exist only where every arm has beaten every other, directly or by way of others (Ford 1957). */
const checkChains = (wins_A_B: readonly (readonly number[])[]): void => {
  for (const a of wins_A_B.keys()) {
    const beaten = beatenFrom(a, wins_A_B)
    const never = wins_A_B.findIndex((_, b) => !beaten.has(b))
    if (never >= 0)
      throw new DataError(
        `bradleyTerry: no chain of wins leads from arm ${a} to arm ${never}, so their strengths cannot be compared; compare more often`,
      )
  }
}

/**
 * Bradley-Terry strengths that sum to 1, by the minorise-maximise iteration (Hunter 2004, Annals of Statistics 32, Eq. 3).
 * @param wins_A_B how often A beat B
 * @throws DataError for fewer than two arms, and where no chain of wins leads from one arm to another: the other's strength
 * would be unbounded.
 * @example
 * bradleyTerry([[0, 3], [1, 0]]) // [ 0.75, 0.25 ]
 */
export const bradleyTerry = (wins_A_B: readonly (readonly number[])[], iterations = 1000): number[] => {
  const arms = wins_A_B.length
  const won = wins_A_B.map(row => row.reduce((a, b) => a + b, 0))
  if (arms < 2) throw new DataError(`bradleyTerry: expected at least two arms, got ${arms}`)
  checkChains(wins_A_B)
  let strengths = new Array<number>(arms).fill(1 / arms)
  for (let i = 0; i < iterations; i++) {
    const next = strengths.map((own, a) => {
      const met = strengths.reduce(
        (sum, other, b) => (a === b ? sum : sum + (wins_A_B[a][b] + wins_A_B[b][a]) / (own + other)),
        0,
      )
      return won[a] / met
    })
    const total = next.reduce((x, y) => x + y, 0)
    strengths = next.map(x => x / total)
  }
  return strengths
}

/** Gain under the judge of training against the mean gain under judges that training never saw. */
export interface JudgeGap {
  trainGain: number
  heldOutGain: number
  /** Above zero: the policy pleases its own judge more than others, a sign of over-optimisation. */
  gap: number
  /** Held-out judges under which the score fell although the training judge's rose. */
  reversals: number
}

/** @param before_after [before, after] mean scores, the training judge's first in `train`. @throws DataError without held-out judges. */
export const judgeGap = (
  train: readonly [number, number],
  heldOut: readonly (readonly [number, number])[],
): JudgeGap => {
  if (heldOut.length === 0) throw new DataError('judgeGap: expected at least one held-out judge, got none')
  const gains = heldOut.map(([before, after]) => after - before)
  const trainGain = train[1] - train[0]
  const heldOutGain = mean(gains)
  return {
    trainGain,
    heldOutGain,
    gap: trainGain - heldOutGain,
    reversals: trainGain > 0 ? gains.filter(gain => gain < 0).length : 0,
  }
}
