import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ShapeError } from '../util/errors.ts'
import { bindShape, broadcast, checkShape, type Dim, evaluate, product, quotient, sumDims } from './dim.ts'

const NAMES = ['B', 'T', 'S', 'G']
const sizes = new Map([
  ['B', 3],
  ['T', 5],
  ['S', 7],
  ['G', 11],
])
const value = (dim: Dim) => evaluate(dim, sizes)

/** Any dimension that the three operations can build. */
const dims: fc.Arbitrary<Dim> = fc.letrec<{ dim: Dim }>(tie => ({
  dim: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ min: 0, max: 9 }),
    fc.constantFrom(...NAMES),
    fc.array(tie('dim'), { minLength: 1, maxLength: 3 }).map(product),
    fc.array(tie('dim'), { minLength: 1, maxLength: 3 }).map(sumDims),
  ),
})).dim
const lists = fc.array(dims, { minLength: 1, maxLength: 3 })

describe('symbolic dimensions', () => {
  it('are written in one way', () => {
    expect(product(['T', 'B', 2, 4])).toBe('8*B*T')
    expect(product([2, 3])).toBe(6)
    expect(product([])).toBe(1)
    expect(product(['B', 0])).toBe(0)
    expect(sumDims(['S', 1])).toBe(sumDims([1, 'S']))
    expect(sumDims(['S', 1, 2])).toBe(sumDims([sumDims([1, 'S']), 2]))
    expect(sumDims(['S', 0])).toBe('S')
    expect(sumDims([2, 3])).toBe(5)
    expect(product([sumDims(['P', 'Q']), 4])).toBe(product([4, sumDims(['Q', 'P'])]))
  })

  it('evaluate as arithmetic says', () => {
    fc.assert(
      fc.property(lists, list => {
        expect(value(product(list))).toBe(list.map(value).reduce((a, b) => a * b, 1))
        expect(value(sumDims(list))).toBe(list.map(value).reduce((a, b) => a + b, 0))
      }),
    )
  })

  it('do not depend on order or grouping', () => {
    fc.assert(
      fc.property(dims, dims, dims, (a, b, c) => {
        expect(product([a, b])).toBe(product([b, a]))
        expect(product([a, product([b, c])])).toBe(product([a, b, c]))
        expect(sumDims([a, b])).toBe(sumDims([b, a]))
        expect(sumDims([a, sumDims([b, c])])).toBe(sumDims([a, b, c]))
      }),
    )
  })

  it('a quotient undoes a product', () => {
    fc.assert(
      fc.property(dims, fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(...NAMES)), (a, b) => {
        expect(quotient(product([a, b]), b)).toBe(product([a]))
      }),
    )
  })

  it('have no quotient where one does not always divide', () => {
    expect(quotient('B', 2)).toBe(null)
    expect(quotient(6, 4)).toBe(null)
    expect(quotient('B', 'T')).toBe(null)
    expect(quotient(sumDims(['B', 1]), 'B')).toBe(null)
    expect(quotient(6, 0)).toBe(null)
  })

  it('need every name bound', () => {
    expect(() => evaluate('2*X', sizes)).toThrow(/X is not bound/)
  })
})

describe('broadcast', () => {
  it('follows the rule of NumPy', () => {
    expect(broadcast('add', [2, 1, 3], [4, 3])).toEqual([2, 4, 3])
    expect(broadcast('add', ['B', 1], ['T'])).toEqual(['B', 'T'])
    expect(broadcast('add', [], ['T'])).toEqual(['T'])
    expect(() => broadcast('add', ['B', 2], ['T', 2])).toThrow(ShapeError)
  })
})

describe('binding names to sizes', () => {
  const bind = (shape: Dim[], actual: number[]) => {
    const bound = new Map<string, number>()
    bindShape('x', shape, actual, bound)
    checkShape('x', shape, actual, bound)
    return bound
  }

  it('learns a name from a dimension', () => {
    expect(bind(['B', 4], [3, 4]).get('B')).toBe(3)
    expect(bind(['2*B'], [6]).get('B')).toBe(3)
  })

  it('refuses what contradicts the declaration, naming input, shapes and dimension', () => {
    expect(() => bind(['B', 4], [3, 5])).toThrow(/input x: expected \[B, 4\], got \[3, 5\].*4 is 4, not 5/)
    expect(() => bind(['B', 'B'], [3, 5])).toThrow(/B is 3, not 5/)
    expect(() => bind(['B'], [3, 5])).toThrow(/rank 2 instead of 1/)
    expect(() => bind(['2*B'], [5])).toThrow(ShapeError)
  })
})
