import { describe, expect, it } from 'vitest'
import { wavesOf, wavesWithRoom } from './waves.ts'

const PROMPTS = [2, 9, 3, 2, 40, 2, 4].map(length => new Int32Array(length))

describe('waves', () => {
  it('are those of all rows where there is room for them', () => {
    const roomy = wavesWithRoom(PROMPTS, 3, 9, () => 9, 5)
    expect(roomy).toEqual(wavesOf(PROMPTS, 3, 9, { firstSample: 5 }))
  })

  it('are cut where there is none, the one with the long prompt alone, and have every sample once', () => {
    const room = (samples: number, promptTokens: number) => (promptTokens > 10 ? samples : 9)
    const waves = wavesWithRoom(PROMPTS, 3, 9, room, 5)
    expect(waves.map(({ prompts }) => prompts.length)).toEqual([1, 1, 1, 3, 1])
    expect(waves.flatMap(({ prompts }) => prompts).sort()).toEqual(PROMPTS.map((_, i) => i))
    expect(waves.every(({ first, samples }) => first === 5 && samples === 3)).toBe(true)
    expect(waves[0].prompts).toEqual([4])
  })

  it('cut a group whose samples have no room together', () => {
    const waves = wavesWithRoom([PROMPTS[0]], 8, 8, () => 3)
    expect(waves.map(({ first, samples }) => [first, samples])).toEqual([
      [0, 3],
      [3, 3],
      [6, 2],
    ])
  })
})
