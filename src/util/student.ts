/** @file Student's t distribution, for intervals over few values. */

import { logGamma } from './special.ts'

const TERMS = 200
const TINY = 1e-300

/** Continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method. */
const betaFraction = (x: number, a: number, b: number): number => {
  let c = 1
  let d = 1 / Math.max(TINY, 1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= TERMS; m++) {
    for (const step of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / (1 + step * d || TINY)
      c = 1 + step / c || TINY
      fraction *= c * d
    }
    if (Math.abs(c * d - 1) < 1e-15) break
  }
  return fraction
}

/** Regularised incomplete beta function I_x(a, b). */
const regularisedBeta = (x: number, a: number, b: number): number => {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  // The fraction converges fast on this side; the other one is its mirror.
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b
}

/** P(T <= t) of Student's t with `df` degrees of freedom. */
export const studentCdf = (t: number, df: number): number => {
  const tail = 0.5 * regularisedBeta(df / (df + t * t), df / 2, 0.5)
  return t > 0 ? 1 - tail : tail
}

/** The t that P(T <= t) = `p` belongs to, by bisection; p in (0, 1). */
export const studentQuantile = (p: number, df: number): number => {
  let [low, high] = [-1, 1]
  while (studentCdf(low, df) > p) low *= 2
  while (studentCdf(high, df) < p) high *= 2
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2
    if (studentCdf(middle, df) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
