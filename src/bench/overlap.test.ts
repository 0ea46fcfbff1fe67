import { expect, it } from 'vitest'
import { benchOverlap, formatOverlapBenchmark } from './overlap.ts'

it('measures the ways of a step on a real policy', { timeout: 120_000 }, async () => {
  const result = await benchOverlap({
    latencyMs: 20,
    slots: 4,
    prompts: 4,
    samples: 4,
    maxTokens: 24,
    steps: 2,
    rounds: 2,
    threads: 1,
  })
  const { twoEngines, claim, ...values } = result
  // Sixteen rollouts through four slots of 20 ms take 80 ms at the least.
  for (const { rewardS } of [result, twoEngines]) expect(rewardS).toBeGreaterThan(0.07)
  expect(result.syncS).toBeGreaterThan(result.rewardS)
  for (const value of [...Object.values(values), ...Object.values(twoEngines)])
    expect(value).toBeGreaterThan(0)
  // One engine's threads are shared, at least one each.
  expect(twoEngines).toMatchObject({ samplerThreads: 1, trainerThreads: 1 })
  const text = formatOverlapBenchmark(result).split('\n')
  expect(text).toHaveLength(12)
  expect(values.rows).toBe(64)
  // Two rounds decide nothing.
  expect(claim).toMatchObject({ status: 'inconclusive', ratio: values.overlapToFormula })
  expect(claim.ratios).toHaveLength(2)
  expect(text[11]).toContain('inconclusive')
  const ratio = result.pipelinedToFormula.toFixed(2)
  expect(text[9]).toContain(`${ratio} x max(rollout ${twoEngines.rolloutS.toFixed(2)}, reward`)
})
