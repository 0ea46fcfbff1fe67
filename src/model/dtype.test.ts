import { describe, expect, it } from 'vitest'
import { bfloat16ToFloat32, float16ToFloat32, float32ToBfloat16, halvesOf } from './dtype.ts'

const toHalf = (...values: number[]) => [...halvesOf('w', new Float32Array(values))]
const toBrain = (...values: number[]) => {
  const target = new Uint16Array(values.length)
  float32ToBfloat16(new Float32Array(values), target)
  return [...target]
}
const fromHalf = (...bits: number[]) => {
  const target = new Float32Array(bits.length)
  float16ToFloat32(new Uint16Array(bits), target)
  return [...target]
}

describe('float16', () => {
  // Values of the IEEE 754 binary16 format as its tables list them.
  it('reads the landmark values', () => {
    expect(fromHalf(0x0001, 0x03ff, 0x0400, 0x3555, 0x3bff, 0x3c00, 0x7bff, 0xc000, 0x7c00, 0xfc00)).toEqual([
      2 ** -24,
      1023 * 2 ** -24,
      2 ** -14,
      0.333251953125,
      0.99951171875,
      1,
      65504,
      -2,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ])
    expect(Object.is(fromHalf(0x8000)[0], -0)).toBe(true)
    expect(fromHalf(0x7e00)[0]).toBeNaN()
  })

  it('gives every half back after a round trip', () => {
    const all = Uint16Array.from({ length: 65536 }, (_, i) => i).filter(half => (half & 0x7c00) !== 0x7c00)
    const values = new Float32Array(all.length)
    float16ToFloat32(all, values)
    expect(halvesOf('w', values)).toEqual(all)
  })

  it('rounds to nearest, ties to even', () => {
    expect(toHalf(1 + 2 ** -11)).toEqual([0x3c00])
    expect(toHalf(1 + 3 * 2 ** -11)).toEqual([0x3c02])
    expect(toHalf(1 + 2 ** -11 + 2 ** -20)).toEqual([0x3c01])
    expect(toHalf(2 ** -25, 2 ** -25 + 2 ** -40, 3 * 2 ** -25)).toEqual([0, 1, 2])
    expect(toHalf(2047 * 2 ** -25)).toEqual([0x0400])
    expect(toHalf(65519, 1e-30)).toEqual([0x7bff, 0])
    for (const value of [65520, -1e9, Number.NaN, Number.NEGATIVE_INFINITY])
      expect(() => toHalf(value)).toThrow('w: expected numbers that float16 holds')
  })
})

describe('bfloat16', () => {
  it('is the upper half of a float32', () => {
    const values = new Float32Array(4)
    bfloat16ToFloat32(new Uint16Array([0x3f80, 0xc049, 0x7f80, 0x0001]), values)
    expect([...values]).toEqual([1, -3.140625, Number.POSITIVE_INFINITY, 2 ** -133])
  })

  it('rounds to nearest, ties to even, and keeps NaN', () => {
    expect(toBrain(1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20)).toEqual([0x3f80, 0x3f82, 0x3f81])
    expect(toBrain(3.4e38, -0)).toEqual([0x7f80, 0x8000])
    const odd = new Float32Array(new Uint32Array([0x7f800001]).buffer)
    const target = new Uint16Array(1)
    float32ToBfloat16(odd, target)
    expect((target[0] & 0x7f80) === 0x7f80 && (target[0] & 0x7f) !== 0).toBe(true)
  })

  it('gives every pattern back after a round trip', () => {
    const all = Uint16Array.from({ length: 65536 }, (_, i) => i)
    const values = new Float32Array(65536)
    const back = new Uint16Array(65536)
    bfloat16ToFloat32(all, values)
    float32ToBfloat16(values, back)
    const wrong = all.filter(i => back[i] !== i && !((i & 0x7f80) === 0x7f80 && (i & 0x7f) !== 0))
    expect(wrong.length).toBe(0)
  })
})
