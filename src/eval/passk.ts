/** @file pass@k and best-of-N from a fixed number of samples a problem, by unbiased estimators. */

import { mean } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'
import { logChoose } from '../util/special.ts'

const checkDraw = (name: string, draw: number, samples: number): void => {
  if (!(Number.isInteger(draw) && draw >= 1 && draw <= samples))
    throw new DataError(
      `${name}: expected an integer of 1..${samples}, got ${draw}; draw more samples a problem or ask for less`,
    )
}

const checkScores = (name: string, scores: readonly number[]): void => {
  const bad = scores.findIndex(score => !Number.isFinite(score))
  if (bad >= 0)
    throw new DataError(
      `${name}: expected finite scores, got ${scores[bad]} for sample ${bad}; leave out samples without a score`,
    )
}

/**
 * Unbiased pass@k of one problem: 1 - C(n - c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374 Eq. 1),
 * as a product so that nothing overflows.
 * @param samples n, samples drawn
 * @param correct c, those that were right
 * @throws DataError unless 1 <= k <= n and 0 <= c <= n.
 * @example
 * passAtK(10, 3, 1) // 0.3
 */
export const passAtK = (samples: number, correct: number, k: number): number => {
  checkDraw('passAtK: k', k, samples)
  if (!(correct >= 0 && correct <= samples))
    throw new DataError(`passAtK: expected 0..${samples} correct, got ${correct}; count again`)
  let allWrong = 1
  for (let i = 0; i < k; i++) allWrong *= Math.max(0, samples - correct - i) / (samples - i)
  return 1 - allWrong
}

/**
 * Mean pass@k over problems that may have different numbers of samples. @param right_I_S right or wrong [problem][sample]
 * @example
 * meanPassAtK([[true, false], [false, false]], 2) // 0.5
 */
export const meanPassAtK = (right_I_S: readonly (readonly boolean[])[], k: number): number =>
  mean(right_I_S.map(samples => passAtK(samples.length, samples.filter(Boolean).length, k)))

/**
 * Expected best score of N draws without replacement from M scored samples: sum over i = N..M of C(i-1, N-1) s_i /
 * C(M, N), scores in ascending order. In logarithms, so that M may be thousands.
 * @throws DataError unless 1 <= N <= M and all scores are finite.
 * @example
 * bestOfN([0, 0.5, 1], 2) // 0.8333
 */
export const bestOfN = (scores: readonly number[], draw: number): number => {
  checkDraw('bestOfN: N', draw, scores.length)
  checkScores('bestOfN', scores)
  const sorted = Float64Array.from(scores).sort()
  const whole = logChoose(scores.length, draw)
  let expected = 0
  for (let i = draw; i <= sorted.length; i++)
    expected += Math.exp(logChoose(i - 1, draw - 1) - whole) * sorted[i - 1]
  return expected
}

/**
 * Best-of-N where one judge chooses and another scores: expected score of the sample that comes first by `chosenBy` among N
 * draws without replacement from M. By the judge of training and re-scored by an independent one are two curves; they
 * part where the policy pleases its own judge. Of samples that the choosing judge ties, each is as likely to be chosen.
 * @param scores by the judge that scores, one a sample
 * @param chosenBy by the judge that chooses, of the same samples
 * @throws DataError unless 1 <= N <= M, both lists are of one length and all scores are finite.
 */
export const bestOfNRescored = (
  scores: readonly number[],
  chosenBy: readonly number[],
  draw: number,
): number => {
  if (scores.length !== chosenBy.length)
    throw new DataError(
      `bestOfNRescored: expected both judges on the same samples, got ${scores.length} and ${chosenBy.length}; judge all of them`,
    )
  checkDraw('bestOfNRescored: N', draw, scores.length)
  checkScores('bestOfNRescored', scores)
  checkScores('bestOfNRescored, judge that chooses', chosenBy)
  const order = chosenBy.map((_, i) => i).sort((a, b) => chosenBy[a] - chosenBy[b])
  const whole = logChoose(scores.length, draw)
  let expected = 0
  for (let from = 0; from < order.length; ) {
    let to = from
    let chance = 0
    const tied: number[] = []
    for (; to < order.length && chosenBy[order[to]] === chosenBy[order[from]]; to++) {
      chance += Math.exp(logChoose(to, draw - 1) - whole)
      tied.push(scores[order[to]])
    }
    expected += chance * mean(tied)
    from = to
  }
  return expected
}

/**
 * Best-of-N of the mean over problems, for each N asked for.
 * @param scores_I_S [problem][sample]
 * @param chosenBy_I_S scores of the judge that chooses, where that is another one than the judge that scores
 */
export const bestOfNCurve = (
  scores_I_S: readonly (readonly number[])[],
  draws: readonly number[],
  chosenBy_I_S?: readonly (readonly number[])[],
): { n: number; score: number }[] => {
  const best = (n: number) => (scores: readonly number[], i: number) =>
    chosenBy_I_S ? bestOfNRescored(scores, chosenBy_I_S[i], n) : bestOfN(scores, n)
  return draws.map(n => ({ n, score: mean(scores_I_S.map(best(n))) }))
}
