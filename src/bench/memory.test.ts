import { expect, it } from 'vitest'
import { benchMemory, formatMemoryBenchmark } from './memory.ts'

it('measures a small bank, and tells it in columns', async () => {
  const result = await benchMemory({ items: 300, dims: 20, queries: 5 })
  expect(result).toMatchObject({ items: 300, dims: 20, top: 2, queries: 5, vectorBytes: 80 + 32 })
  const { median, p99, processorMedian } = result.queryMs
  expect(median).toBeGreaterThan(0)
  expect(p99).toBeGreaterThanOrEqual(median)
  expect(processorMedian).toBeGreaterThanOrEqual(0)
  expect(formatMemoryBenchmark(result)).toMatch(
    /a query, median +\d+\.\d\d ms {2}of 300 items with 20 dimensions/,
  )
})
