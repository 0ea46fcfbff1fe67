import { describe, expect, it } from 'vitest'
import { initWeights } from '../../model/weights.ts'
import { TINY, tinyEngine } from './tiny-model.fixture.ts'

const TABLE = initWeights(TINY, 1).get('model.embed_tokens.weight')!.data

/** Log-probs of every token after a hidden state: the tied output table and a softmax, in plain arithmetic. */
const logProbs = (hidden: ArrayLike<number>): number[] => {
  const logits = Array.from({ length: TINY.vocabSize }, (_, v) => {
    let sum = 0
    for (let d = 0; d < TINY.hiddenSize; d++) sum += TABLE[v * TINY.hiddenSize + d] * hidden[d]
    return sum
  })
  const normaliser = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0))
  return logits.map(logit => logit - normaliser)
}

describe('hidden states', () => {
  it("lead to the model's own log-probs, token by token", async () => {
    const engine = tinyEngine()
    const sequence = [3, 14, 1, 5, 9, 2, 6]
    const prefixes = sequence.map((_, t) => sequence.slice(0, t + 1))
    const means = await engine.hiddenMeans(prefixes)
    for (const [t, prefix] of prefixes.entries()) {
      // The model looks back only: the state of the last token is what the sum of states has grown by.
      const before = t === 0 ? new Float32Array(TINY.hiddenSize) : means[t - 1].map(x => x * t)
      const state = means[t].map((x, d) => x * (t + 1) - before[d])
      const all = Array.from({ length: TINY.vocabSize }, (_, v) => v)
      const scores = await engine.score(all.map(token => ({ promptTokens: prefix, tokens: [token] })))
      const expected = logProbs(state)
      for (const token of all) expect(scores[token].logprobs[0]).toBeCloseTo(expected[token], 4)
    }
  })

  it('are the same whatever else is in the batch, and however long', async () => {
    const sequences = [
      [1],
      [2, 3, 4, 5, 6, 7, 8, 9, 10],
      [1],
      [4, 4],
      Array.from({ length: 64 }, (_, t) => t % 17),
    ]
    const together = await tinyEngine().hiddenMeans(sequences)
    const apart = tinyEngine({}, { microBatchTokens: 1 })
    for (const [i, sequence] of sequences.entries()) {
      const [alone] = await apart.hiddenMeans([sequence])
      expect(together[i]).toHaveLength(TINY.hiddenSize)
      alone.forEach((x, d) => {
        expect(together[i][d]).toBeCloseTo(x, 5)
      })
    }
    expect(together[0]).toEqual(together[2])
  })

  it('refuse what is no sequence of this model', async () => {
    const engine = tinyEngine()
    await expect(engine.hiddenMeans([[1], []])).rejects.toThrow('sequence 1: expected at least one token')
    await expect(engine.hiddenMeans([[17]])).rejects.toThrow('outside the vocabulary of 17')
    await expect(engine.hiddenMeans([new Array(65).fill(1)])).rejects.toThrow('at most 64 tokens')
    expect(await engine.hiddenMeans([])).toEqual([])
  })

  it('change with the weights, and so does the digest', async () => {
    const [a, b] = [tinyEngine(), tinyEngine({ init: { config: TINY, seed: 2 } })]
    expect(await a.digest()).toBe(await tinyEngine().digest())
    expect(await a.digest()).not.toBe(await b.digest())
    expect((await a.hiddenMeans([[1, 2]]))[0]).not.toEqual((await b.hiddenMeans([[1, 2]]))[0])
  })
})
