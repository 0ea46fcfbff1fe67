/** @file Complex doubles that carry a bound of their rounding error. */

/** `re + i im`, off by at most about `err`. NaN stands for undefined. */
export interface Complex {
  readonly re: number
  readonly im: number
  readonly err: number
}

const EPS = 4 * Number.EPSILON

export const complex = (re: number, im = 0, err = 0): Complex => ({ re, im, err })
export const UNDEFINED = complex(Number.NaN, Number.NaN, Number.NaN)
export const I = complex(0, 1)

export const modulus = (a: Complex): number => (a.im === 0 ? Math.abs(a.re) : Math.hypot(a.re, a.im))
export const isDefined = (a: Complex): boolean => Number.isFinite(a.re) && Number.isFinite(a.im)
/** Real as far as its error tells. */
export const isReal = (a: Complex): boolean => Math.abs(a.im) <= 16 * a.err + 1e-12 * Math.abs(a.re)

const rounded = (re: number, im: number, err: number): Complex => ({
  re,
  im,
  err: err + EPS * (Math.abs(re) + Math.abs(im)),
})

export const addComplex = (a: Complex, b: Complex) => rounded(a.re + b.re, a.im + b.im, a.err + b.err)
const negate = (a: Complex): Complex => ({ re: -a.re, im: -a.im, err: a.err })
export const subtractComplex = (a: Complex, b: Complex) => addComplex(a, negate(b))

export const multiplyComplex = (a: Complex, b: Complex): Complex =>
  rounded(
    a.im === 0 && b.im === 0 ? a.re * b.re : a.re * b.re - a.im * b.im,
    a.im === 0 && b.im === 0 ? 0 : a.re * b.im + a.im * b.re,
    modulus(a) * b.err + modulus(b) * a.err + a.err * b.err,
  )

export const divideComplex = (a: Complex, b: Complex): Complex => {
  const size = modulus(b)
  if (!(size > 4 * b.err)) return UNDEFINED
  const err = (a.err + (modulus(a) / size) * b.err) / (size - b.err)
  if (b.im === 0) return rounded(a.re / b.re, a.im / b.re, err)
  const square = size * size
  return rounded((a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square, err)
}

export const expComplex = (a: Complex): Complex => {
  const size = Math.exp(a.re)
  const err = size * a.err
  return a.im === 0 ? rounded(size, 0, err) : rounded(size * Math.cos(a.im), size * Math.sin(a.im), err)
}

/** Principal logarithm. */
export const ln = (a: Complex): Complex => {
  const size = modulus(a)
  if (!(size > 4 * a.err)) return UNDEFINED
  return rounded(Math.log(size), a.im === 0 && a.re > 0 ? 0 : Math.atan2(a.im, a.re), a.err / (size - a.err))
}

/** A whole power by squaring. */
const powInteger = (base: Complex, exponent: number): Complex => {
  if (exponent < 0) return divideComplex(complex(1), powInteger(base, -exponent))
  let [result, square] = [complex(1), base]
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiplyComplex(result, square)
    if (left > 1) square = multiplyComplex(square, square)
  }
  return result
}

/** Principal power; 0 ^ 0 is undefined, 0 to a positive power is 0. */
export const pow = (base: Complex, exponent: Complex): Complex => {
  if (
    exponent.im === 0 &&
    Number.isInteger(exponent.re) &&
    Math.abs(exponent.re) <= 4096 &&
    exponent.err === 0
  ) {
    return base.re === 0 && base.im === 0 && exponent.re <= 0 ? UNDEFINED : powInteger(base, exponent.re)
  }
  if (base.re === 0 && base.im === 0) return exponent.re > 0 && base.err === 0 ? complex(0) : UNDEFINED
  return expComplex(multiplyComplex(exponent, ln(base)))
}

/** The real root of odd order of a negative number, the principal root of everything else. */
export const root = (a: Complex, order: number): Complex => {
  if (a.re === 0 && a.im === 0) return complex(0, 0, a.err === 0 ? 0 : a.err ** (1 / order))
  const size = modulus(a)
  const relative = a.err / size / order
  if (a.im === 0 && (a.re > 0 || order % 2 === 1)) {
    const value = order === 2 ? Math.sqrt(size) : order === 3 ? Math.cbrt(size) : size ** (1 / order)
    return rounded(Math.sign(a.re) * value, 0, value * relative)
  }
  if (order === 2 && a.im === 0) return rounded(0, Math.sqrt(size), Math.sqrt(size) * relative)
  return expComplex(divideComplex(ln(a), complex(order)))
}

const real =
  (f: (x: number) => number, slope: (x: number) => number) =>
  (a: Complex): Complex =>
    a.im === 0 ? rounded(f(a.re), 0, a.err === 0 ? 0 : Math.abs(slope(a.re)) * a.err) : UNDEFINED

const halfSum = (a: Complex, b: Complex) => multiplyComplex(complex(0.5), addComplex(a, b))

const sin = (a: Complex): Complex => {
  if (a.im === 0) return rounded(Math.sin(a.re), 0, a.err + EPS * Math.abs(a.re))
  const [up, down] = [expComplex(multiplyComplex(I, a)), expComplex(multiplyComplex(negate(I), a))]
  return multiplyComplex(negate(I), halfSum(up, negate(down)))
}

const cos = (a: Complex): Complex => {
  if (a.im === 0) return rounded(Math.cos(a.re), 0, a.err + EPS * Math.abs(a.re))
  return halfSum(expComplex(multiplyComplex(I, a)), expComplex(multiplyComplex(negate(I), a)))
}

const inside = (f: (x: number) => number) => (x: number) =>
  Math.abs(x) <= 1 + 1e-12 ? f(Math.max(-1, Math.min(1, x))) : Number.NaN
const arcSlope = (x: number) => 1 / Math.sqrt(Math.max(1e-9, 1 - x * x))

const one = complex(1)
const reciprocal = (f: (a: Complex) => Complex) => (a: Complex) => divideComplex(one, f(a))
const tan = (a: Complex) => divideComplex(sin(a), cos(a))

/** Lanczos approximation (g = 7, 9 terms) of the gamma function, for real arguments. */
const gamma = (x: number): number => {
  if (x < 0.5) return Math.PI / (Math.sin(Math.PI * x) * gamma(1 - x))
  const series = LANCZOS.slice(1).reduce((sum, c, i) => sum + c / (x + i), LANCZOS[0])
  const t = x + 6.5
  return Math.sqrt(2 * Math.PI) * t ** (x - 0.5) * Math.exp(-t) * series
}
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]

/** `x!` by gamma; whole numbers below 0 have none. */
export const factorial = (a: Complex): Complex => {
  if (a.im !== 0 || (a.re < 0 && Number.isInteger(a.re)) || Math.abs(a.re) > 170) return UNDEFINED
  const value = gamma(a.re + 1)
  return complex(
    Number.isInteger(a.re) ? Math.round(value) : value,
    0,
    1e-12 * Math.abs(value) * (1 + a.err * 1e12),
  )
}

/** Functions of one argument by the parser's names. */
export const UNARY: ReadonlyMap<string, (a: Complex) => Complex> = new Map([
  ['sin', sin],
  ['cos', cos],
  ['tan', tan],
  ['cot', (a: Complex) => divideComplex(cos(a), sin(a))],
  ['sec', reciprocal(cos)],
  ['csc', reciprocal(sin)],
  ['asin', real(inside(Math.asin), arcSlope)],
  ['acos', real(inside(Math.acos), arcSlope)],
  ['atan', real(Math.atan, () => 1)],
  [
    'acot',
    real(
      x => Math.PI / 2 - Math.atan(x),
      () => 1,
    ),
  ],
  ['sinh', (a: Complex) => halfSum(expComplex(a), negate(expComplex(negate(a))))],
  ['cosh', (a: Complex) => halfSum(expComplex(a), expComplex(negate(a)))],
  ['tanh', real(Math.tanh, () => 1)],
  ['exp', expComplex],
  ['ln', ln],
  ['lg', (a: Complex) => divideComplex(ln(a), complex(Math.LN10))],
  ['abs', (a: Complex) => complex(modulus(a), 0, a.err)],
  ['Re', (a: Complex) => complex(a.re, 0, a.err)],
  ['Im', (a: Complex) => complex(a.im, 0, a.err)],
  ['sign', real(Math.sign, () => 0)],
  [
    'floor',
    real(
      x => Math.floor(x + 1e-12 * Math.abs(x)),
      () => 0,
    ),
  ],
  [
    'ceil',
    real(
      x => Math.ceil(x - 1e-12 * Math.abs(x)),
      () => 0,
    ),
  ],
  ['factorial', factorial],
])
