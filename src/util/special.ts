/** @file The few special functions that intervals and tests need: log-gamma, binomials, the normal distribution. */

import { DataError } from './errors.ts'

// Stirling's series of ln Gamma: B_{2k} / (2k (2k-1) x^{2k-1}) for k = 1..5 (Abramowitz and Stegun 6.1.41).
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188]

/** Natural log of the gamma function for x > 0, about 13 digits: recurrence up to x >= 10, then Stirling's series. */
export const logGamma = (x: number): number => {
  if (!(x > 0)) throw new DataError(`logGamma: expected a positive number, got ${x}; check the counts`)
  let shift = 0
  let y = x
  for (; y < 10; y++) shift += Math.log(y)
  let series = 0
  for (let k = STIRLING.length - 1; k >= 0; k--) series = series / (y * y) + STIRLING[k]
  return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series / y - shift
}

/** ln C(n, k); -Infinity outside 0 <= k <= n. */
export const logChoose = (n: number, k: number): number => {
  if (k < 0 || k > n) return Number.NEGATIVE_INFINITY
  return logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1)
}

/** Density of the standard normal distribution. */
const normalPdf = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI)

/** P(Z <= x) of the standard normal: a power series near zero, a continued fraction in the tails. */
export const normalCdf = (x: number): number => {
  if (x < 0) return upperTail(-x)
  return 1 - upperTail(x)
}

const upperTail = (x: number): number => {
  if (x > 38) return 0
  if (x < 3) return 0.5 - centralArea(x)
  let fraction = x
  for (let k = 60; k >= 1; k--) fraction = x + k / fraction
  return normalPdf(x) / fraction
}

const centralArea = (x: number): number => {
  let term = x
  let sum = x
  for (let k = 3; term > 1e-18 * sum; k += 2) {
    term *= (x * x) / k
    sum += term
  }
  return sum * normalPdf(x)
}

/**
 * The x with P(Z <= x) = p, by bisection on `normalCdf` (exact to about 1e-12).
 * @throws DataError unless 0 < p < 1.
 */
export const normalQuantile = (p: number): number => {
  if (!(p > 0 && p < 1))
    throw new DataError(`normalQuantile: expected p in (0, 1), got ${p}; give a probability`)
  let low = -38
  let high = 38
  while (high - low > 1e-13 * Math.max(1, Math.abs(low))) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (normalCdf(middle) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}

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
