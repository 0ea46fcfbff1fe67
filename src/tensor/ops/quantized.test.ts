import { describe, expect, it } from 'vitest'
import { ShapeError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { codeType } from '../code-type.ts'
import { Executable } from '../executable.ts'
import { constant, input } from '../tensor.ts'
import { type CodeType, quantized, timesQuantized } from './quantized.ts'

/** Runs on the processor, whatever other tests run on: a GPU has no such products. */
const rounded = async (type: CodeType, data: Float32Array, dims: readonly number[]) => {
  const graph = await Executable.compile({ ...quantized(input('w', ['O', 'I']), type) }, { threads: 1 })
  const { codes, scales } = await graph.run({ w: { data, dims } })
  await graph.release()
  return { codes, scales }
}

const product = async (x: Float32Array, rows: number, matrix: Awaited<ReturnType<typeof rounded>>) => {
  const { codes, scales } = matrix
  const type = codes.data instanceof Int8Array ? 'int8' : 'uint8'
  const y = timesQuantized(input('x', ['N', codes.dims[0]]), {
    codes: constant(codes.data, codes.dims, type),
    scales: constant(scales.data, scales.dims),
  })
  const graph = await Executable.compile({ y }, { threads: 1 })
  const { y: result } = await graph.run({ x: { data: x, dims: [rows, codes.dims[0]] } })
  await graph.release()
  return result
}

const normals = (count: number) => {
  const rng = new Rng('quantized')
  return Float32Array.from({ length: count }, () => rng.normal())
}

// Signed codes only where this processor multiplies them exactly.
const TYPES = new Set<CodeType>([await codeType({ threads: 1 }), 'uint8'])

describe.each([...TYPES])('matrices of 8 bits (%s)', type => {
  const zero = type === 'int8' ? 0 : 128

  it('have a scale for each row, and are turned', async () => {
    const { codes, scales } = await rounded(type, Float32Array.of(1.2, -2, 0, 0, 127, 63.6), [3, 2])
    expect(codes.dims).toEqual([2, 3])
    expect(Array.from(codes.data, Number).map(code => code - zero)).toEqual([76, 0, 127, -127, 0, 64])
    expect([...(scales.data as Float32Array)].map(x => Math.fround(x * 127))).toEqual([
      2,
      expect.closeTo(0),
      127,
    ])
  })

  it('are multiplied with rows rounded to 16 bits, each by itself', async () => {
    const [rows, inner, outer] = [5, 70, 33]
    const x = normals(rows * inner)
    // One row is large, one has an outlier, one is empty.
    for (let i = 0; i < inner; i++) x[i] *= 1000
    x[inner + 3] = 200
    x.fill(0, 2 * inner, 3 * inner)
    const matrix = await rounded(type, normals(inner * outer), [outer, inner])
    const codes = Array.from(matrix.codes.data, Number).map(code => code - zero)
    const scales = matrix.scales.data as Float32Array
    const { data, dims } = await product(x, rows, matrix)
    expect(dims).toEqual([rows, outer])
    for (let n = 0; n < rows; n++) {
      const row = x.subarray(n * inner, (n + 1) * inner)
      const step = Math.max(...row.map(Math.abs)) / 127
      const alone = await product(row.slice(), 1, matrix)
      for (let o = 0; o < outer; o++) {
        const column = Array.from(row, (_, i) => codes[i * outer + o] * scales[o])
        const exact = column.reduce((sum, w, i) => sum + w * row[i], 0)
        const magnitude = column.reduce((sum, w) => sum + Math.abs(w), 0)
        const found = data[n * outer + o] as number
        // Half a step of the second rounding for each number, and what single precision adds.
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(magnitude * step * (0.5 / 254 + 2e-5))
        expect(alone.data[o]).toBe(found)
      }
    }
  })

  it('keep what is not a number', async () => {
    const matrix = await rounded(type, new Float32Array(40).fill(1), [2, 20])
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY])
      for (const place of [0, 7, 19]) {
        const x = new Float32Array(40).fill(1)
        x[place] = bad
        const { data } = await product(x, 2, matrix)
        expect([0, 1].map(at => Number.isFinite(data[at]))).toEqual([false, false])
        expect(data[2]).toBeCloseTo(20, 3)
      }
  })
})

describe('codes of 8 bits', () => {
  it('give the same products bit by bit, signed or not', async () => {
    // Every other weight is 0: no processor clips the sum of two products then.
    const weights = normals(64 * 16).map((w, i) => (i % 2 === 0 ? w : 0))
    const products = await Promise.all(
      (['int8', 'uint8'] as const).map(async type =>
        product(normals(64 * 3), 3, await rounded(type, weights, [16, 64])),
      ),
    )
    expect(products[0].data).toEqual(products[1].data)
  })

  it('refuse a factor of another width', () => {
    const matrix = {
      codes: constant(new Int8Array(6), [3, 2], 'int8'),
      scales: constant(new Float32Array(2), [2]),
    }
    expect(() => timesQuantized(input('x', ['N', 4]), matrix)).toThrow(ShapeError)
  })
})
