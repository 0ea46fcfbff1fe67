import { describe, expect, it } from 'vitest'
import type { ModelConfig } from './config.ts'
import { rotaryAngles } from './rotary.ts'

const config = { headDim: 4, maxPositions: 8, ropeTheta: 1000, ropeScaling: null } as ModelConfig

describe('angles of rotary positions', () => {
  it('are computed once for all graphs of a model', () => {
    const first = rotaryAngles(config)
    expect(rotaryAngles({ ...config, layers: 9 } as ModelConfig).cos).toBe(first.cos)
    expect(rotaryAngles({ ...config }).sin).toBe(first.sin)
  })

  it.each<Partial<ModelConfig>>([
    { headDim: 6 },
    { maxPositions: 9 },
    { ropeTheta: 10 },
    { ropeScaling: { type: 'linear', factor: 2 } },
  ])('are their own with %j', change => {
    const { cos, sin } = rotaryAngles(config)
    const other = rotaryAngles({ ...config, ...change })
    expect([...other.cos, ...other.sin]).not.toEqual([...cos, ...sin])
    expect(rotaryAngles(config)).toEqual({ cos, sin })
  })
})
