import { describe, expect, it } from 'vitest'
import { feasibility, loadLines } from './feasible.ts'

const memory = { weights: 4e9, optimizer: 8e9, activations: 2.6e9, cache: 1e9, process: 4e8, total: 16e9 }

describe('feasibility', () => {
  it('refuses what has no room for weights and optimiser, and tells what may not fit', () => {
    expect(feasibility({ memory, hours: 1 }, 20e9)).toEqual({ feasible: true, because: [], refused: null })
    const tight = feasibility({ memory, hours: 1 }, 14e9)
    expect(tight).toMatchObject({ feasible: false, refused: null })
    expect(tight.because).toEqual([expect.stringMatching(/^it needs about .* and there are /)])
    expect(feasibility({ memory, hours: null }, 11e9).refused).toMatch(
      /weights and optimiser alone need about/,
    )
  })

  it('knows nothing of a model that is not there', () => {
    expect(feasibility({ memory: null, hours: null }, 1)).toEqual({
      feasible: null,
      because: [],
      refused: null,
    })
  })
})

describe('loadLines', () => {
  it('tells how much longer it takes beside other work, and nothing on a machine that is free', () => {
    expect(loadLines(2, 0.2, 2)).toEqual([])
    expect(loadLines(2, 6, 16)).toEqual([])
    expect(loadLines(2, 2, 2)).toEqual([
      'load         other work wants 2.0 of 2 cores now: beside it about 2.0 times as long',
    ])
  })
})
