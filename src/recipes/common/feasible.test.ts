import { describe, expect, it } from 'vitest'
import type { ModelConfig } from '../../model/config.ts'
import { feasibility, loadLines, rowsThatFit } from './feasible.ts'
import { knownShape } from './known-models.ts'

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

describe('rowsThatFit', () => {
  const shape: ModelConfig = knownShape('Qwen/Qwen2.5-0.5B-Instruct')!
  const rows = (machineBytes: number, newTokens: number) =>
    rowsThatFit(shape, { maxRows: 128, promptTokens: 256, newTokens }, { machineBytes })

  it('is what the memory of the machine holds, of answers as long as they may be', () => {
    // Beside .4 GB of the process and 494,032,768 weights: 24 layers of 2 heads of 64, floats, and 2.2 times that as was measured.
    const row = 2.2 * 2 * 4 * (24 * 2 * 64) * (256 + 8192)
    expect(rows(8e9, 8192)).toBe(Math.floor((0.7 * 8e9 - 4e8 - 4 * 494_032_768) / row))
    expect(rows(24e9, 8192)).toBe(Math.floor((0.7 * 24e9 - 4e8 - 4 * 494_032_768) / row))
    expect([rows(8e9, 8192), rows(24e9, 8192)]).toEqual([7, 31])
    expect(rows(24e9, 64)).toBe(128)
  })

  it('is one where nothing fits', () => {
    expect(rows(2e9, 8192)).toBe(1)
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
