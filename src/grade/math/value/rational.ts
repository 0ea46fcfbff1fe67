/** @file Exact rational numbers of bounded size. */

/** `n / d` in lowest terms, `d > 0`. */
export interface Rational {
  readonly n: bigint
  readonly d: bigint
}

/** Numbers longer than this are not computed exactly: 9^9^9 must not eat the machine. */
const MAX_BITS = 4096
const LIMIT = 1n << BigInt(MAX_BITS)

const gcd = (a: bigint, b: bigint): bigint => {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b]
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}

const tooLarge = (n: bigint): boolean => n > LIMIT || n < -LIMIT

/** The reduced fraction, or null where it is undefined or longer than is computed exactly. */
export const rational = (n: bigint, d = 1n): Rational | null => {
  if (d === 0n || tooLarge(n) || tooLarge(d)) return null
  const divisor = gcd(n, d)
  const sign = d < 0n ? -1n : 1n
  return divisor === 0n ? { n: 0n, d: 1n } : { n: (sign * n) / divisor, d: (sign * d) / divisor }
}

export const ZERO: Rational = { n: 0n, d: 1n }
export const ONE: Rational = { n: 1n, d: 1n }

export const addRationals = (a: Rational, b: Rational) => rational(a.n * b.d + b.n * a.d, a.d * b.d)
export const subtractRationals = (a: Rational, b: Rational) => rational(a.n * b.d - b.n * a.d, a.d * b.d)
export const multiplyRationals = (a: Rational, b: Rational) => rational(a.n * b.n, a.d * b.d)
export const divideRationals = (a: Rational, b: Rational) => rational(a.n * b.d, a.d * b.n)
export const negateRational = (a: Rational): Rational => ({ n: -a.n, d: a.d })
export const absolute = (a: Rational): Rational => (a.n < 0n ? negateRational(a) : a)
export const same = (a: Rational, b: Rational): boolean => a.n === b.n && a.d === b.d
export const isInteger = (a: Rational): boolean => a.d === 1n

/** Below 0, 0 or above 0 as a is less than, equal to or greater than b. */
export const compareRationals = (a: Rational, b: Rational): number => {
  const difference = a.n * b.d - b.n * a.d
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

const bits = (n: bigint): number => (n < 0n ? -n : n).toString(16).length * 4

/** base ^ exponent for a whole exponent; null where undefined (0 ^ -1) or too long. */
export const powInteger = (base: Rational, exponent: bigint): Rational | null => {
  if (exponent < 0n) return base.n === 0n ? null : powInteger({ n: base.d, d: base.n }, -exponent)
  const unit = (n: bigint) => n === 1n || n === -1n || n === 0n
  const trivial = unit(base.n) && base.d === 1n
  if (!trivial && exponent * BigInt(Math.max(bits(base.n), bits(base.d))) > BigInt(2 * MAX_BITS)) return null
  const power = trivial ? exponent % 2n || (exponent > 0n ? 2n : 0n) : exponent
  return rational(base.n ** power, base.d ** power)
}

/** floor of the k-th root of n >= 0, by Newton's method on whole numbers. */
const floorRoot = (n: bigint, k: bigint): bigint => {
  if (n < 2n) return n
  let x = 1n << BigInt(Math.ceil(bits(n) / Number(k)) + 1)
  for (;;) {
    const next = ((k - 1n) * x + n / x ** (k - 1n)) / k
    if (next >= x) return x
    x = next
  }
}

const wholeRoot = (n: bigint, k: bigint): bigint | null => {
  const root = floorRoot(n, k)
  return root ** k === n ? root : null
}

/** The real k-th root where it is rational (also of negative numbers for odd k), otherwise null. */
export const exactRoot = (a: Rational, k: bigint): Rational | null => {
  if (k < 1n || k > 64n || (a.n < 0n && k % 2n === 0n)) return null
  const n = wholeRoot(a.n < 0n ? -a.n : a.n, k)
  const d = wholeRoot(a.d, k)
  return n === null || d === null ? null : { n: a.n < 0n ? -n : n, d }
}

/** Nearest double; infinite where it does not fit. */
export const toNumber = (a: Rational): number => {
  const direct = Number(a.n) / Number(a.d)
  if (Number.isFinite(direct) && (direct !== 0 || a.n === 0n)) return direct
  const shift = BigInt(Math.max(0, bits(a.d) - 900, bits(a.n) - 900))
  return Number(a.n >> shift) / Number(a.d >> shift || 1n)
}

/** Reads `12`, `12.5`, `.5`, `1.2e-3`; null for an absurd length or exponent. */
export const parseDecimal = (text: string): Rational | null => {
  if (text.length > 1200) return null
  const match = /^(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text)
  if (!match) return null
  const [, whole, fraction, exponent = '0'] = match
  if (whole === '' && fraction === '') return null
  const power = Number(exponent) - fraction.length
  if (Math.abs(power) > 1200) return null
  const digits = BigInt(whole + fraction)
  return power >= 0 ? rational(digits * 10n ** BigInt(power)) : rational(digits, 10n ** BigInt(-power))
}
