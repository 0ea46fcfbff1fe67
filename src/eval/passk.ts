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

/**
 * Unbiased pass@k of one problem: 1 - C(n - c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374 Eq. 1; spec 8.1),
 * as a product so that nothing overflows.
 * @param samples n, samples drawn
 * @param correct c, those that were right
 * @throws DataError unless 1 <= k <= n and 0 <= c <= n.
 */
export const passAtK = (samples: number, correct: number, k: number): number => {
  checkDraw('passAtK: k', k, samples)
  if (!(correct >= 0 && correct <= samples))
    throw new DataError(`passAtK: expected 0..${samples} correct, got ${correct}; count again`)
  let allWrong = 1
  for (let i = 0; i < k; i++) allWrong *= Math.max(0, samples - correct - i) / (samples - i)
  return 1 - allWrong
}

/** Mean pass@k over problems that may have different numbers of samples. @param right_I_S right or wrong [problem][sample] */
export const meanPassAtK = (right_I_S: readonly (readonly boolean[])[], k: number): number =>
  mean(right_I_S.map(samples => passAtK(samples.length, samples.filter(Boolean).length, k)))

/**
 * Expected best score of N draws without replacement from M scored samples: sum over i = N..M of C(i-1, N-1) s_i /
 * C(M, N), scores in ascending order (spec 8.2). In logarithms, so that M may be thousands.
 * @throws DataError unless 1 <= N <= M.
 */
export const bestOfN = (scores: readonly number[], draw: number): number => {
  checkDraw('bestOfN: N', draw, scores.length)
  const sorted = Float64Array.from(scores).sort()
  const whole = logChoose(scores.length, draw)
  let expected = 0
  for (let i = draw; i <= sorted.length; i++)
    expected += Math.exp(logChoose(i - 1, draw - 1) - whole) * sorted[i - 1]
  return expected
}

/** Best-of-N of the mean over problems, for each N asked for. @param scores_I_S [problem][sample] */
export const bestOfNCurve = (
  scores_I_S: readonly (readonly number[])[],
  draws: readonly number[],
): { n: number; score: number }[] =>
  draws.map(n => ({ n, score: mean(scores_I_S.map(scores => bestOfN(scores, n))) }))
