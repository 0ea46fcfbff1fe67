import { expect, it } from 'vitest'
import { benchSearch, formatSearchBenchmark } from './search.ts'

it('builds and asks a small index', async () => {
  const figures = await benchSearch({ passages: 300, queries: 20 })
  expect(figures).toMatchObject({ passages: 300, queries: 20 })
  // Words and where they stand are held, texts are not.
  expect(figures.openMb).toBeGreaterThan(0.01)
  expect(figures.openMb * 1e6).toBeLessThan(20 * figures.bytes)
  expect(figures.bytes).toBeGreaterThan(300 * 100)
  expect(figures.queryMs.p99).toBeGreaterThanOrEqual(figures.queryMs.median)
  expect(formatSearchBenchmark(figures)).toMatch(
    /^passages +300 +\d+ different words\nbuild .* s of processor\n/,
  )
})
