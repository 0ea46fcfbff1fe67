import { describe, expect, it } from 'vitest'
import { lossOf } from '../../rl/loss-presets.ts'
import { Rng } from '../../util/rng.ts'
import { cutBeginnings, sharedBeginnings } from './shared-beginnings.ts'
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
      sharedBeginnings(prompts, 1000).map(({ promptTokens, tokens }) => [promptTokens.length, tokens.length])
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

  it('share nothing where no two fit into a micro-batch together', () => {
    const sequences = [9, 10, 11].map(token => ({
      promptTokens: [...SYSTEM, token],
      tokens: Array(30).fill(1),
    }))
    const lengths = (tokenBudget: number) =>
      cutBeginnings(sequences, tokenBudget)?.map(({ promptTokens }) => promptTokens.length)
    expect(lengths(3 * 31)).toEqual([6, 6, 6])
    expect(lengths(31)).toEqual([7, 7, 7])
  })

  it('leave the end of a prompt before the tokens of its sequence', () => {
    const sequences = PROMPTS.map(promptTokens => ({ promptTokens, tokens: [1, 2] }))
    expect(cutBeginnings(sequences, 1000)?.[3]).toEqual({
      promptTokens: [...SYSTEM, ...A],
      tokens: [4, 5, 6, 1, 2],
      targets: [4, 5, 6, 1, 2],
      ofPrompt: 3,
    })
    expect(cutBeginnings([...sequences, { promptTokens: [], tokens: [1] }], 1000)).toBeNull()
  })

  it.each([TINY, GEMMA])(
    'are sampled from, scored and learnt from as if each were alone ($family)',
    async config => {
      const results = [false, true].map(async shareBeginnings => {
        const engine = tinyEngine({ init: { config, seed: 1 } }, { shareBeginnings })
        const drawn = { prompts: PROMPTS, temperature: 0, maxTokens: 4, stopTokens: [] }
        const samples = (
          await Promise.all([1, 3].map(samplesPerPrompt => engine.sample({ ...drawn, samplesPerPrompt })))
        ).flat()
        const items = samples.map(({ prompt, tokens }) => ({ promptTokens: PROMPTS[prompt], tokens }))
        const scores = await engine.score(items)
        const datums = items.map((item, i) => ({
          ...item,
          mask: [1, 1, 0, 1],
          oldLogprobs: Array.from(samples[i].logprobs),
          advantages: [1, -1, 1, (i % 3) - 1],
        }))
        const { loss, entropy } = await engine.accumulate(datums, { loss: lossOf('trl:grpo') })
        const { gradNorm } = await engine.step({ learningRate: 0.01 })
        return { samples, scores, numbers: [loss, entropy, gradNorm], after: await engine.score(items) }
      })
      const [apart, together] = await Promise.all(results)
      const tokens = ({ samples }: typeof apart) => samples.map(sample => [...sample.tokens])
      expect(tokens(together)).toEqual(tokens(apart))
      const flat = ({ samples, scores, numbers, after }: typeof apart) => [
        ...[...samples, ...scores, ...after].flatMap(({ logprobs }) => [...logprobs]),
        ...scores.flatMap(({ entropies }) => [...entropies]),
        ...numbers,
      ]
      const [found, expected] = [flat(together), flat(apart)]
      found.forEach((number, i) => {
        expect(number).toBeCloseTo(expected[i], 4)
      })
      // Other sums in other order.
      expect(found).not.toEqual(expected)
    },
  )
})
