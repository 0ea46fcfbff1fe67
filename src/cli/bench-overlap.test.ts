import { expect, it } from 'vitest'
import { benchOverlap } from '../train/bench-overlap.ts'
import { formatOverlapBenchmark } from './bench-overlap.ts'

it('measures the three ways of a step on a real policy', async () => {
  const result = await benchOverlap({
    latencyMs: 20,
    slots: 4,
    prompts: 4,
    samples: 4,
    maxTokens: 24,
    steps: 3,
    threads: 1,
  })
  // Sixteen rollouts through four slots of 20 ms take 80 ms at the least.
  expect(result.rewardS).toBeGreaterThan(0.07)
  expect(result.syncS).toBeGreaterThan(result.rewardS)
  for (const value of Object.values(result)) expect(value).toBeGreaterThan(0)
  expect(formatOverlapBenchmark(result).split('\n')).toHaveLength(6)
})
