import { expect, it } from 'vitest'
import { microBatches } from './batches.ts'

it('any number of sequences is cut into batches, none left out', () => {
  const sequences = Array.from({ length: 200_000 }, () => ({ promptTokens: [1], tokens: [2] }))
  const batches = microBatches(sequences, 4096, { maxPositions: 8, vocabSize: 4 })
  const indices = batches.flatMap(({ slots }) => slots.filter(index => index >= 0))
  expect(new Set(indices).size).toBe(200_000)
})
