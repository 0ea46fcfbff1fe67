/**
 * @file SIMD kernels over float32 ranges of a memory that the host allocates: optimiser, reductions, sampling.
 *
 * Pointers are byte offsets, counts are numbers of float32 elements and may be anything from 0 up. Nothing here allocates and
 * nothing has static data, so the host may use every byte of the memory. Loops run on counts, never on end pointers, because an
 * end pointer of exactly 4 GiB would wrap to zero.
 */

/** exp(x) for x <= 0 (softmax after subtracting the maximum): below this the result would be denormal, and is 0 instead. */
const EXP_UNDERFLOW: f32 = -87.33654
const LOG2_E: f32 = 1.4426950408889634
/** ln 2 in two parts, the first with trailing zero bits, so that k * LN2_HIGH is exact for every exponent k that occurs. */
const LN2_HIGH: f32 = 0.693359375
const LN2_LOW: f32 = -2.12194440054690583e-4
const ROUND_SHIFT: f32 = 12582912

/** Four exponentials, relative error below 2e-7, for arguments <= 0; -infinity gives 0, NaN stays NaN. */
function expNonPositive(x: v128): v128 {
  const alive = f32x4.le(f32x4.splat(EXP_UNDERFLOW), x)
  const isNan = f32x4.ne(x, x)
  const clamped = f32x4.pmax(x, f32x4.splat(EXP_UNDERFLOW))
  // x = k ln 2 + r with |r| <= ln 2 / 2; adding 1.5 * 2^23 rounds to an integer and leaves k in the lowest bits
  const shifted = f32x4.add(f32x4.mul(clamped, f32x4.splat(LOG2_E)), f32x4.splat(ROUND_SHIFT))
  const k = f32x4.sub(shifted, f32x4.splat(ROUND_SHIFT))
  let r = f32x4.sub(clamped, f32x4.mul(k, f32x4.splat(LN2_HIGH)))
  r = f32x4.sub(r, f32x4.mul(k, f32x4.splat(LN2_LOW)))
  // e^r = 1 + r + r^2 q(r), q the degree-5 Chebyshev interpolant of (e^r - 1 - r) / r^2 there
  let q = f32x4.splat(1.9889990831350792e-4)
  q = f32x4.add(f32x4.mul(q, r), f32x4.splat(1.3933649996548164e-3))
  q = f32x4.add(f32x4.mul(q, r), f32x4.splat(8.333310925472076e-3))
  q = f32x4.add(f32x4.mul(q, r), f32x4.splat(4.166646492528337e-2))
  q = f32x4.add(f32x4.mul(q, r), f32x4.splat(1.6666666681623257e-1))
  q = f32x4.add(f32x4.mul(q, r), f32x4.splat(0.5))
  const mantissa = f32x4.add(f32x4.splat(1), f32x4.add(r, f32x4.mul(f32x4.mul(r, r), q)))
  const exponent = i32x4.add(i32x4.shl(shifted, 23), i32x4.splat(127 << 23))
  const result = v128.and(f32x4.mul(mantissa, exponent), alive)
  return v128.bitselect(x, result, isNan)
}

/** The upper two lanes as float64 pair. */
function promoteHigh(x: v128): v128 {
  return f64x2.promote_low_f32x4(i64x2.shuffle(x, x, 1, 0))
}

function sumLanes(x: v128): f64 {
  return f64x2.extract_lane(x, 0) + f64x2.extract_lane(x, 1)
}

/** Sum of the 16 products a[i] * b[i] at the two pointers, in float64, as a pair of partial sums. */
function products16(a: usize, b: usize): v128 {
  const a0 = v128.load(a)
  const a1 = v128.load(a, 16)
  const a2 = v128.load(a, 32)
  const a3 = v128.load(a, 48)
  const b0 = v128.load(b)
  const b1 = v128.load(b, 16)
  const b2 = v128.load(b, 32)
  const b3 = v128.load(b, 48)
  const s0 = f64x2.add(
    f64x2.mul(f64x2.promote_low_f32x4(a0), f64x2.promote_low_f32x4(b0)),
    f64x2.mul(promoteHigh(a0), promoteHigh(b0)),
  )
  const s1 = f64x2.add(
    f64x2.mul(f64x2.promote_low_f32x4(a1), f64x2.promote_low_f32x4(b1)),
    f64x2.mul(promoteHigh(a1), promoteHigh(b1)),
  )
  const s2 = f64x2.add(
    f64x2.mul(f64x2.promote_low_f32x4(a2), f64x2.promote_low_f32x4(b2)),
    f64x2.mul(promoteHigh(a2), promoteHigh(b2)),
  )
  const s3 = f64x2.add(
    f64x2.mul(f64x2.promote_low_f32x4(a3), f64x2.promote_low_f32x4(b3)),
    f64x2.mul(promoteHigh(a3), promoteHigh(b3)),
  )
  return f64x2.add(f64x2.add(s0, s1), f64x2.add(s2, s3))
}

/**
 * One AdamW step (Loshchilov and Hutter 2019, algorithm 2, in the form of torch.optim.AdamW): with g = gradScale * grad,
 *   param *= 1 - lr * weightDecay;  m += (1 - beta1)(g - m);  v = beta2 v + (1 - beta2) g^2;
 *   param -= lr / biasCorr1 * m / (sqrt(v) / sqrt(biasCorr2) + eps)
 * where biasCorr = 1 - beta^step. gradScale is where clipping by global norm goes; the gradient itself is not changed.
 */
export function adamw(
  paramPtr: usize,
  gradPtr: usize,
  mPtr: usize,
  vPtr: usize,
  n: u32,
  lr: f64,
  beta1: f64,
  beta2: f64,
  eps: f64,
  weightDecay: f64,
  biasCorr1: f64,
  biasCorr2: f64,
  gradScale: f64,
): void {
  const keep = f32x4.splat(<f32>(1.0 - lr * weightDecay))
  const takeM = f32x4.splat(<f32>(1.0 - beta1))
  const keepV = f32x4.splat(<f32>beta2)
  const takeV = f32x4.splat(<f32>(1.0 - beta2))
  const stepSize = f32x4.splat(<f32>(lr / biasCorr1))
  const rootScale = f32x4.splat(<f32>(1.0 / Math.sqrt(biasCorr2)))
  const epsilon = f32x4.splat(<f32>eps)
  const scale4 = f32x4.splat(<f32>gradScale)
  let left = n
  while (left >= 8) {
    const g0 = f32x4.mul(v128.load(gradPtr), scale4)
    const g1 = f32x4.mul(v128.load(gradPtr, 16), scale4)
    let m0 = v128.load(mPtr)
    let m1 = v128.load(mPtr, 16)
    m0 = f32x4.add(m0, f32x4.mul(takeM, f32x4.sub(g0, m0)))
    m1 = f32x4.add(m1, f32x4.mul(takeM, f32x4.sub(g1, m1)))
    const v0 = f32x4.add(f32x4.mul(keepV, v128.load(vPtr)), f32x4.mul(takeV, f32x4.mul(g0, g0)))
    const v1 = f32x4.add(f32x4.mul(keepV, v128.load(vPtr, 16)), f32x4.mul(takeV, f32x4.mul(g1, g1)))
    const d0 = f32x4.add(f32x4.mul(f32x4.sqrt(v0), rootScale), epsilon)
    const d1 = f32x4.add(f32x4.mul(f32x4.sqrt(v1), rootScale), epsilon)
    const u0 = f32x4.div(f32x4.mul(stepSize, m0), d0)
    const u1 = f32x4.div(f32x4.mul(stepSize, m1), d1)
    v128.store(mPtr, m0)
    v128.store(mPtr, m1, 16)
    v128.store(vPtr, v0)
    v128.store(vPtr, v1, 16)
    v128.store(paramPtr, f32x4.sub(f32x4.mul(keep, v128.load(paramPtr)), u0))
    v128.store(paramPtr, f32x4.sub(f32x4.mul(keep, v128.load(paramPtr, 16)), u1), 16)
    paramPtr += 32
    gradPtr += 32
    mPtr += 32
    vPtr += 32
    left -= 8
  }
  while (left > 0) {
    const g = load<f32>(gradPtr) * f32x4.extract_lane(scale4, 0)
    let m = load<f32>(mPtr)
    m = m + f32x4.extract_lane(takeM, 0) * (g - m)
    const v = f32x4.extract_lane(keepV, 0) * load<f32>(vPtr) + f32x4.extract_lane(takeV, 0) * (g * g)
    const d = sqrt<f32>(v) * f32x4.extract_lane(rootScale, 0) + f32x4.extract_lane(epsilon, 0)
    store<f32>(mPtr, m)
    store<f32>(vPtr, v)
    store<f32>(
      paramPtr,
      f32x4.extract_lane(keep, 0) * load<f32>(paramPtr) - (f32x4.extract_lane(stepSize, 0) * m) / d,
    )
    paramPtr += 4
    gradPtr += 4
    mPtr += 4
    vPtr += 4
    left--
  }
}

/** Sum of a[i] * b[i], every product and sum in float64: exact to about 1e-15 relative for ranges without cancellation. */
export function dot(aPtr: usize, bPtr: usize, n: u32): f64 {
  let acc = f64x2.splat(0)
  let left = n
  while (left >= 16) {
    acc = f64x2.add(acc, products16(aPtr, bPtr))
    aPtr += 64
    bPtr += 64
    left -= 16
  }
  let sum = sumLanes(acc)
  while (left > 0) {
    sum += <f64>load<f32>(aPtr) * <f64>load<f32>(bPtr)
    aPtr += 4
    bPtr += 4
    left--
  }
  return sum
}

/** Sum of x[i]^2 in float64. */
export function sumSquares(ptr: usize, n: u32): f64 {
  let acc0 = f64x2.splat(0)
  let acc1 = f64x2.splat(0)
  let acc2 = f64x2.splat(0)
  let acc3 = f64x2.splat(0)
  let left = n
  while (left >= 16) {
    const x0 = v128.load(ptr)
    const x1 = v128.load(ptr, 16)
    const x2 = v128.load(ptr, 32)
    const x3 = v128.load(ptr, 48)
    const low0 = f64x2.promote_low_f32x4(x0)
    const low1 = f64x2.promote_low_f32x4(x1)
    const low2 = f64x2.promote_low_f32x4(x2)
    const low3 = f64x2.promote_low_f32x4(x3)
    const high0 = promoteHigh(x0)
    const high1 = promoteHigh(x1)
    const high2 = promoteHigh(x2)
    const high3 = promoteHigh(x3)
    acc0 = f64x2.add(acc0, f64x2.add(f64x2.mul(low0, low0), f64x2.mul(high0, high0)))
    acc1 = f64x2.add(acc1, f64x2.add(f64x2.mul(low1, low1), f64x2.mul(high1, high1)))
    acc2 = f64x2.add(acc2, f64x2.add(f64x2.mul(low2, low2), f64x2.mul(high2, high2)))
    acc3 = f64x2.add(acc3, f64x2.add(f64x2.mul(low3, low3), f64x2.mul(high3, high3)))
    ptr += 64
    left -= 16
  }
  let sum = sumLanes(f64x2.add(f64x2.add(acc0, acc1), f64x2.add(acc2, acc3)))
  while (left > 0) {
    const x = <f64>load<f32>(ptr)
    sum += x * x
    ptr += 4
    left--
  }
  return sum
}

/** dst[i] += src[i] */
export function addTo(dstPtr: usize, srcPtr: usize, n: u32): void {
  let left = n
  while (left >= 16) {
    v128.store(dstPtr, f32x4.add(v128.load(dstPtr), v128.load(srcPtr)))
    v128.store(dstPtr, f32x4.add(v128.load(dstPtr, 16), v128.load(srcPtr, 16)), 16)
    v128.store(dstPtr, f32x4.add(v128.load(dstPtr, 32), v128.load(srcPtr, 32)), 32)
    v128.store(dstPtr, f32x4.add(v128.load(dstPtr, 48), v128.load(srcPtr, 48)), 48)
    dstPtr += 64
    srcPtr += 64
    left -= 16
  }
  while (left > 0) {
    store<f32>(dstPtr, load<f32>(dstPtr) + load<f32>(srcPtr))
    dstPtr += 4
    srcPtr += 4
    left--
  }
}

/** x[i] *= factor */
export function scale(ptr: usize, n: u32, factor: f64): void {
  const single = <f32>factor
  const factor4 = f32x4.splat(single)
  let left = n
  while (left >= 16) {
    v128.store(ptr, f32x4.mul(v128.load(ptr), factor4))
    v128.store(ptr, f32x4.mul(v128.load(ptr, 16), factor4), 16)
    v128.store(ptr, f32x4.mul(v128.load(ptr, 32), factor4), 32)
    v128.store(ptr, f32x4.mul(v128.load(ptr, 48), factor4), 48)
    ptr += 64
    left -= 16
  }
  while (left > 0) {
    store<f32>(ptr, load<f32>(ptr) * single)
    ptr += 4
    left--
  }
}

/** x[i] = value */
export function fill(ptr: usize, n: u32, value: f64): void {
  const single = <f32>value
  const value4 = f32x4.splat(single)
  let left = n
  while (left >= 16) {
    v128.store(ptr, value4)
    v128.store(ptr, value4, 16)
    v128.store(ptr, value4, 32)
    v128.store(ptr, value4, 48)
    ptr += 64
    left -= 16
  }
  while (left > 0) {
    store<f32>(ptr, single)
    ptr += 4
    left--
  }
}

/** 1 when any element is NaN or infinite, else 0. x - x is 0 exactly for finite x, and NaN otherwise. */
export function hasNonFinite(ptr: usize, n: u32): i32 {
  let seen = i32x4.splat(0)
  let left = n
  while (left >= 16) {
    const x0 = v128.load(ptr)
    const x1 = v128.load(ptr, 16)
    const x2 = v128.load(ptr, 32)
    const x3 = v128.load(ptr, 48)
    const pair0 = v128.or(f32x4.sub(x0, x0), f32x4.sub(x1, x1))
    const pair1 = v128.or(f32x4.sub(x2, x2), f32x4.sub(x3, x3))
    seen = v128.or(seen, v128.or(pair0, pair1))
    ptr += 64
    left -= 16
  }
  if (v128.any_true(seen)) return 1
  while (left > 0) {
    const x = load<f32>(ptr)
    if (x - x != 0) return 1
    ptr += 4
    left--
  }
  return 0
}

/** The largest element; NaN when there is one; -infinity for an empty range. */
export function maximum(ptr: usize, n: u32): f64 {
  // pmax is one instruction but drops NaN, so those are looked for beside it.
  let top0 = f32x4.splat(-Infinity)
  let top1 = top0
  let isNan = i32x4.splat(0)
  let left = n
  while (left >= 8) {
    const x0 = v128.load(ptr)
    const x1 = v128.load(ptr, 16)
    top0 = f32x4.pmax(top0, x0)
    top1 = f32x4.pmax(top1, x1)
    isNan = v128.or(isNan, v128.or(f32x4.ne(x0, x0), f32x4.ne(x1, x1)))
    ptr += 32
    left -= 8
  }
  if (v128.any_true(isNan)) return NaN
  top0 = f32x4.pmax(top0, top1)
  let top = max<f32>(
    max<f32>(f32x4.extract_lane(top0, 0), f32x4.extract_lane(top0, 1)),
    max<f32>(f32x4.extract_lane(top0, 2), f32x4.extract_lane(top0, 3)),
  )
  while (left > 0) {
    top = max<f32>(top, load<f32>(ptr))
    ptr += 4
    left--
  }
  return <f64>top
}

/** Index of the first largest element; -1 for an empty range or one with a NaN. */
export function argmax(ptr: usize, n: u32): i32 {
  const top = <f32>maximum(ptr, n)
  const top4 = f32x4.splat(top)
  let i: u32 = 0
  while (i + 4 <= n) {
    const hits = i32x4.bitmask(f32x4.eq(v128.load(ptr + ((<usize>i) << 2)), top4))
    if (hits != 0) return <i32>i + ctz<i32>(hits)
    i += 4
  }
  while (i < n) {
    if (load<f32>(ptr + ((<usize>i) << 2)) == top) return <i32>i
    i++
  }
  return -1
}

/**
 * Writes exp((x[i] - maximum) * inverseTemperature) to expPtr (which may be the row itself) and returns the sum in float64.
 * NaN, or a row without a finite maximum, gives a NaN sum.
 */
export function expRow(ptr: usize, n: u32, inverseTemperature: f64, top: f64, expPtr: usize): f64 {
  const top4 = f32x4.splat(<f32>top)
  const inverse4 = f32x4.splat(<f32>inverseTemperature)
  let low = f64x2.splat(0)
  let high = f64x2.splat(0)
  let left = n
  // One call site, also for the last 1 to 3 elements, so that the compiler inlines the exponential.
  while (left > 0) {
    const x = left >= 4 ? v128.load(ptr) : loadTail(ptr, left)
    const e = expNonPositive(f32x4.mul(f32x4.sub(x, top4), inverse4))
    low = f64x2.add(low, f64x2.promote_low_f32x4(e))
    high = f64x2.add(high, promoteHigh(e))
    if (left < 4) {
      storeTail(expPtr, left, e)
      break
    }
    v128.store(expPtr, e)
    ptr += 16
    expPtr += 16
    left -= 4
  }
  return sumLanes(f64x2.add(low, high))
}

/** 1 to 3 elements, the missing lanes -infinity. */
function loadTail(ptr: usize, count: u32): v128 {
  let x = f32x4.replace_lane(f32x4.splat(-Infinity), 0, load<f32>(ptr))
  if (count > 1) x = f32x4.replace_lane(x, 1, load<f32>(ptr, 4))
  if (count > 2) x = f32x4.replace_lane(x, 2, load<f32>(ptr, 8))
  return x
}

function storeTail(ptr: usize, count: u32, x: v128): void {
  store<f32>(ptr, f32x4.extract_lane(x, 0))
  if (count > 1) store<f32>(ptr, f32x4.extract_lane(x, 1), 4)
  if (count > 2) store<f32>(ptr, f32x4.extract_lane(x, 2), 8)
}

/** Sum of the elements in float64. */
export function sum(ptr: usize, n: u32): f64 {
  let acc0 = f64x2.splat(0)
  let acc1 = f64x2.splat(0)
  let left = n
  while (left >= 8) {
    const x0 = v128.load(ptr)
    const x1 = v128.load(ptr, 16)
    acc0 = f64x2.add(acc0, f64x2.add(f64x2.promote_low_f32x4(x0), promoteHigh(x0)))
    acc1 = f64x2.add(acc1, f64x2.add(f64x2.promote_low_f32x4(x1), promoteHigh(x1)))
    ptr += 32
    left -= 8
  }
  let total = sumLanes(f64x2.add(acc0, acc1))
  while (left > 0) {
    total += <f64>load<f32>(ptr)
    ptr += 4
    left--
  }
  return total
}

/**
 * Draws an index with probability weights[i] / sum(weights) by inversion: the first i whose running sum exceeds
 * u * sum(weights), u in [0, 1). Weights are non-negative and need no normalising; an element of weight 0 is never drawn.
 * Returns -1 when no weight is positive or one is NaN.
 */
export function sampleRow(weightPtr: usize, n: u32, u: f64): i32 {
  const total = sum(weightPtr, n)
  if (!(total > 0)) return -1
  const target = u * total
  let before: f64 = 0
  let i: u32 = 0
  // Whole blocks first: a running sum has one slow float64 addition per element, block sums do not.
  while (i + 64 <= n) {
    const after = before + sum(weightPtr + ((<usize>i) << 2), 64)
    if (after > target) break
    before = after
    i += 64
  }
  let last: i32 = -1
  while (i < n) {
    const weight = <f64>load<f32>(weightPtr + ((<usize>i) << 2))
    if (weight > 0) {
      before += weight
      last = <i32>i
      if (before > target) return last
    }
    i++
  }
  if (last >= 0) return last
  // Rounding left the target beyond the last block: the last element that has any weight.
  while (i > 0) {
    i--
    if (load<f32>(weightPtr + ((<usize>i) << 2)) > 0) return <i32>i
  }
  return -1
}
