/** @file Half-precision numbers as bit patterns: float16 and bfloat16 to float32 and back, a whole array at a time. */

import { CheckpointError } from '../util/errors.ts'

/** Storage types that weights may have in a file; in memory they are always float32. */
export type WeightDtype = 'float32' | 'float16' | 'bfloat16'

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

/** Safetensors files are little-endian and are read straight into typed arrays. Throws on a big-endian machine. */
export const assertLittleEndian = (): void => {
  if (!littleEndian) throw new Error('weights can only be read and written on a little-endian machine')
}

const bitsOf = (values: Float32Array) => new Uint32Array(values.buffer, values.byteOffset, values.length)

/** bfloat16 bit patterns to float32, exactly. `target` must be at least as long as `source`. */
export const bfloat16ToFloat32 = (source: Uint16Array, target: Float32Array): void => {
  const bits = bitsOf(target)
  for (let i = 0; i < source.length; i++) bits[i] = source[i] << 16
}

/** float32 to bfloat16 bit patterns, to nearest, ties to even; overflow gives infinity, NaN stays NaN. */
export const float32ToBfloat16 = (source: Float32Array, target: Uint16Array): void => {
  const bits = bitsOf(source)
  for (let i = 0; i < bits.length; i++) {
    const x = bits[i]
    // A NaN whose payload lies in the dropped half would turn into infinity: set the quiet bit.
    if ((x & 0x7fffffff) > 0x7f800000) target[i] = (x >>> 16) | 0x40
    else target[i] = (x + 0x7fff + ((x >>> 16) & 1)) >>> 16
  }
}

/** float16 bit patterns to float32, exactly. `target` must be at least as long as `source`. */
export const float16ToFloat32 = (source: Uint16Array, target: Float32Array): void => {
  const [bits, table] = [bitsOf(target), bitsOf(halfValues())]
  for (let i = 0; i < source.length; i++) bits[i] = table[source[i]]
}

let halves: Float32Array | undefined
/** Each of the 65536 halves as float32, by its bit pattern; 256 KiB, made when the first one is read. */
export const halfValues = (): Float32Array => {
  halves ??= buildHalfTable()
  return halves
}

const buildHalfTable = (): Float32Array => {
  const values = new Float32Array(65536)
  const table = bitsOf(values)
  for (let half = 0; half < 65536; half++) {
    const exponent = (half >>> 10) & 31
    const mantissa = half & 1023
    const sign = half & 0x8000 ? -1 : 1
    // Exponent 31 is infinity or NaN: written as bits, because NaN payloads do not survive arithmetic.
    if (exponent === 31) table[half] = ((half & 0x8000) << 16) | 0x7f800000 | (mantissa << 13)
    else if (exponent === 0) values[half] = sign * mantissa * 2 ** -24
    else values[half] = sign * (1 + mantissa / 1024) * 2 ** (exponent - 15)
  }
  return values
}

/**
 * float32 to float16 bit patterns, to nearest, ties to even.
 * @param name of the tensor
 * @throws CheckpointError for what would come out as infinity (above 65504, rounded) or NaN
 */
export const halvesOf = (name: string, source: Float32Array): Uint16Array => {
  const bits = bitsOf(source)
  const target = new Uint16Array(bits.length)
  for (let i = 0; i < bits.length; i++) target[i] = halfOf(bits[i])
  if (!target.some(half => (half & 0x7c00) === 0x7c00)) return target
  throw new CheckpointError(
    `${name}: expected numbers that float16 holds, 65504 at most, got a larger one or one that is none`,
    { hint: 'store it as float32 (f32)' },
  )
}

const halfOf = (x: number): number => {
  const sign = (x >>> 16) & 0x8000
  const magnitude = x & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  if (magnitude >= 0x47800000) return sign | 0x7c00
  if (magnitude >= 0x38800000) {
    // Normal half: rebias the exponent (127 - 15 = 112) and round off 13 bits; a carry runs into the exponent as it must.
    const rebiased = magnitude - (112 << 23)
    return sign | ((rebiased + 0xfff + ((rebiased >>> 13) & 1)) >>> 13)
  }
  if (magnitude < 0x33000000) return sign
  // Subnormal half: shift the full 24-bit significand down to units of 2^-24.
  const shift = 126 - (magnitude >>> 23)
  const significand = (magnitude & 0x7fffff) | 0x800000
  const kept = significand >>> shift
  const rest = significand & ((1 << shift) - 1)
  const half = 1 << (shift - 1)
  return sign | (kept + (rest > half || (rest === half && (kept & 1) === 1) ? 1 : 0))
}
