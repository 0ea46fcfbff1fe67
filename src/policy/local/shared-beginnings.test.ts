import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { sharedBeginnings } from './shared-beginnings.ts'
import { GEMMA, TINY, tinyEngine } from './tiny-model.fixture.ts'

const [SYSTEM, A, B] = [
  [1, 2, 3, 4, 5, 6],
  [7, 8, 9, 10],
  [11, 12, 13, 14],
]
/** Three questions about one reply, two about another, a prompt of another kind; one begins as the first do and says nothing more. */
const PROMPTS = [
  [...SYSTEM, ...A, 1],
  [...SYSTEM, ...B, 2, 3],
  [16],
  [...SYSTEM, ...A, 4, 5, 6],
  [...SYSTEM, ...A],
  [...SYSTEM, ...B, 7],
]

describe('prompts that begin alike', () => {
  it('are cut where the fewest tokens are computed, whatever their order', () => {
    const cut = (prompts: readonly number[][]) =>
      sharedBeginnings(prompts).map(({ promptTokens, tokens }) => [promptTokens.length, tokens.length])
    expect(cut(PROMPTS)).toEqual([
      [10, 2],
      [10, 3],
      [1, 1],
      [10, 4],
      [10, 1],
      [10, 2],
    ])
    expect(cut(PROMPTS.toReversed())).toEqual(cut(PROMPTS).toReversed())
    // One question about each of three replies: only what all begin with is shared.
    expect(cut([A, B, [15, 15]].map(reply => [...SYSTEM, ...reply]))).toEqual([
      [6, 5],
      [6, 5],
      [6, 3],
    ])
  })

  it.each([TINY, GEMMA])('have the log-probs that each has alone ($family)', async config => {
    const rng = new Rng('prompts')
    const random = Array.from({ length: 20 }, () => [
      ...SYSTEM.slice(0, 1 + rng.int(6)),
      ...A.slice(0, rng.int(5)),
      ...Array.from({ length: rng.int(9) }, () => rng.int(17)),
    ])
    const prompts = [...PROMPTS, ...random]
    const engine = tinyEngine({ init: { config, seed: 1 } })
    const drawn = { prompts, temperature: 0, topLogprobs: 17, seed: 'a' }
    const one = await engine.sample({ ...drawn, maxTokens: 1 })
    const two = await engine.sample({ ...drawn, maxTokens: 2 })
    one.forEach(({ tokens, logprobs, top, finishReason }, i) => {
      expect(finishReason).toBe('length')
      expect(tokens[0]).toBe(two[i].tokens[0])
      expect(logprobs[0]).toBeCloseTo(two[i].logprobs[0], 5)
      const of = new Map(two[i].top![0].map(({ token, logprob }) => [token, logprob]))
      for (const { token, logprob } of top![0]) expect(logprob).toBeCloseTo(of.get(token)!, 5)
    })
  })
})
