import { expect, it } from 'vitest'
import { microBatches } from './batches.ts'

it('any number of sequences is cut into batches, none left out', () => {
  const sequences = Array.from({ length: 200_000 }, () => ({ promptTokens: [1], tokens: [2] }))
  const batches = microBatches(sequences, 4096, { maxPositions: 8, vocabSize: 4 })
  const indices = batches.flatMap(({ slots }) => slots.filter(index => index >= 0))
  expect(new Set(indices).size).toBe(200_000)
})

it('samples of a prompt are shared out where they exceed the budget, whatever the prompt has', () => {
  const promptTokens = Array.from({ length: 101 }, () => 1)
  const sequences = Array.from({ length: 7 }, (_, i) => ({ promptTokens, tokens: Array(20 + i).fill(2) }))
  const long = { promptTokens: [1, 2], tokens: Array(90).fill(2) }
  const batches = microBatches([...sequences, long], 100, { maxPositions: 256, vocabSize: 4 })
  // Three of 26 at most, in parts as equal as they can be; another one's length is no matter.
  expect(batches.map(({ sizes }) => sizes)).toEqual([
    { P: 1, G: 3, T: 26, S: 100 },
    { P: 1, G: 3, T: 22, S: 100 },
    { P: 1, G: 1, T: 90, S: 1 },
    { P: 1, G: 1, T: 26, S: 100 },
  ])
})
