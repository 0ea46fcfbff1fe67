import { describe, expect, it } from 'vitest'
import { benchTinker, formatTinkerBenchmark } from './tinker.ts'

describe('gradus bench tinker', () => {
  it('measures the client beside a service of another process', { timeout: 240_000 }, async () => {
    const result = await benchTinker({ steps: 1, prompts: 2, samples: 2, maxTokens: 8 })
    expect(result).toMatchObject({ prompts: 2, steps: 1 })
    expect(result.tokens).toBeGreaterThan(0)
    expect(result.tokens).toBeLessThanOrEqual(32)
    expect(result.stepSecondsForTwoPercent).toBeCloseTo(result.clientMs / 20, 0)
    expect(result.clientMs).toBeGreaterThan(0)
    if (process.platform === 'linux') expect(result.clientShare).toBeGreaterThan(0)
    expect(formatTinkerBenchmark(result)).toContain('2% of a step of')
  })
})
