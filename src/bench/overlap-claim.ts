/** @file RUS-9: whether a step keeps to the formula of overlapped grading, with a status from the rounds of the benchmark. */

import { median, signFlipTest } from '../util/statistics.ts'

/** A step may take so much of what the formula says (within 15 percent). */
const BOUND = 1.15
const LEVEL = 0.05

export interface OverlapClaim {
  id: 'RUS-9'
  statement: string
  /** Seconds of a step over max(rollout, reward) + update, of each round. */
  ratios: number[]
  ratio: number
  bound: number
  /** One-sided sign-flip tests over the rounds, exact for at most 12: that the ratio is not below the bound, and not above it. */
  p: number
  pContrary: number
  status: 'reproduced' | 'not reproduced' | 'inconclusive'
}

/**
 * The claim's status. Five rounds are the fewest that can decide: all of one sign have p = 1 / 2^5.
 * @param ratios one a round
 */
export const overlapClaim = (ratios: readonly number[]): OverlapClaim => {
  const beyond = ratios.map(ratio => ratio - BOUND)
  const p = signFlipTest(beyond, { alternative: 'less' })
  const pContrary = signFlipTest(beyond, { alternative: 'greater' })
  return {
    id: 'RUS-9',
    statement:
      'A step whose rollouts are graded while others are sampled takes max(rollout, reward) + update, within 15 percent.',
    ratios: [...ratios],
    ratio: median(ratios),
    bound: BOUND,
    p,
    pContrary,
    status: p < LEVEL ? 'reproduced' : pContrary < LEVEL ? 'not reproduced' : 'inconclusive',
  }
}
