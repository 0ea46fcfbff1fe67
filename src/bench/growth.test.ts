import { describe, expect, it } from 'vitest'
import { resolveShipped } from '../util/package.ts'
import { benchGrowth, formatGrowthBenchmark, type GrowthPoint, growthCases } from './growth.ts'

describe('gradus bench growth', () => {
  it('lets one of batch, context and model grow at a time', () => {
    const cases = growthCases(100)
    const of = (grows: string, work: string) => cases.filter(one => one.grows === grows && one.work === work)
    expect(of('batch', 'train').map(({ batch }) => batch)).toEqual([1, 4, 16, 64, 256])
    expect(new Set(of('context', 'train').map(({ batch, context }) => batch * context))).toEqual(
      new Set([4096]),
    )
    expect(of('context', 'decode').map(({ context }) => context)).toEqual([64, 128, 256, 512, 1024, 2048])
    expect(of('model', 'train').map(({ model }) => model)).toEqual(['0.3', '1', '3', '10', '30', '100'])
    expect(growthCases(3).some(({ model }) => model === '10')).toBe(false)
  })

  it('measures training and decoding of a size', { timeout: 240_000 }, async () => {
    const model = resolveShipped('package:models/logic-start')
    const size = { grows: 'batch', model, batch: 2, context: 64 } as const
    const cases = (['train', 'decode'] as const).map(work => ({ ...size, work }))
    const { points } = await benchGrowth({ threads: 1, rounds: 1, model, cases })
    expect(points).toHaveLength(2)
    for (const point of points) {
      expect(point.parameters).toBeGreaterThan(2e5)
      expect(point.seconds).toBeGreaterThan(0)
      expect(point.toProportional).toBeGreaterThan(0)
      expect(point.gflop / point.seconds).toBeCloseTo(point.gflopPerSecond, 6)
    }
    // Six operations a weight and token in training; two in decoding, of which there are 32 new tokens.
    const [train, decode] = points.map(({ gflop, parameters }) => (gflop * 1e9) / parameters)
    expect(train / (2 * 64)).toBeGreaterThan(5)
    expect(train / (2 * 64)).toBeLessThan(8)
    expect(decode / (2 * 32)).toBeGreaterThan(1.8)
    expect(decode / (2 * 32)).toBeLessThan(3)
  })

  it('has a line a size', () => {
    const point: GrowthPoint = {
      ...{ grows: 'batch', work: 'train', model: '3', batch: 4, context: 256, parameters: 3.3e6 },
      ...{ gflop: 20, seconds: 0.2, tokensPerSecond: 5120, gflopPerSecond: 100, toProportional: 1.1 },
    }
    expect(
      formatGrowthBenchmark({ threads: 2, rounds: 1, standard: { ...point, model: '3' }, points: [point] }),
    ).toContain('batch   train  4 x 256, 3.3 M  0.200 s  5,120 tokens/s, 100.0 GFLOP/s, 1.10 x proportional')
  })
})
