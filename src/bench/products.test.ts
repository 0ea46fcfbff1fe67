import { describe, expect, it } from 'vitest'
import { constant, gradients, input, matmul, reduceSum, rowSum } from '../tensor/index.ts'
import { flopOf, productRunner, productsOf } from './products.ts'

describe('the products of a graph', () => {
  const x = input('x', ['T', 3])
  const w = input('w', [5, 3])
  const y = matmul(x, w, { transposeB: true })

  it('are found with their sizes, each once, those of the gradient too', () => {
    const loss = reduceSum(y, [0, 1], { keepDims: false })
    const all = productsOf([loss, y, ...gradients(loss, [x, w])], { T: 4 })
    expect(all).toHaveLength(3)
    expect(all).toContainEqual({
      a: { dims: [4, 3], transposed: false },
      b: { dims: [5, 3], transposed: true, fixed: false },
      alpha: 1,
    })
    // y, dx and dw are the same amount of work.
    expect(all.map(flopOf)).toEqual([120, 120, 120])
  })

  it('are not the sums that are written as products', () => {
    expect(productsOf([rowSum(y)], { T: 4 })).toHaveLength(1)
  })

  it('count batches, also where one side is shared by them', () => {
    const q = input('q', [2, 7, 4, 3])
    const k = input('k', [2, 1, 3, 6])
    const [product] = productsOf([matmul(q, k)], {})
    expect(flopOf(product)).toBe(2 * 14 * 4 * 3 * 6)
  })

  it('run alone, equal ones as often as they stand there', async () => {
    const fixed = constant(new Float32Array(6).fill(1), [3, 2])
    const products = productsOf([y, matmul(input('z', ['T', 3]), fixed)], { T: 4 })
    const run = await productRunner([...products, ...products], { threads: 1 })
    expect(await run()).toBeGreaterThan(0)
  })

  it('need the sizes of all names', () => {
    expect(() => productsOf([y], {})).toThrow('dimension T')
  })
})
