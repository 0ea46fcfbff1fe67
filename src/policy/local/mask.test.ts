import { beforeAll, describe, expect, it } from 'vitest'
import type { Datum } from '../../rl/datum.ts'
import { type LossSpec, lossSchema } from '../../rl/loss.ts'
import { gradientsOf, TINY, tinyEngine } from './tiny-model.fixture.ts'

const UNTIED = { init: { config: { ...TINY, tieEmbeddings: false }, seed: 1 }, valueHead: true }
const lossOf = (parts: object): LossSpec =>
  lossSchema.parse({ policy: { kind: 'none' }, aggregation: { mode: 'token-mean' }, ...parts })
const EVERY_TERM: Record<string, LossSpec> = {
  policy: lossOf({ policy: { kind: 'clip' } }),
  gspo: lossOf({ policy: { kind: 'gspo' } }),
  kl: lossOf({ kl: { kind: 'k3', coef: 1 } }),
  entropy: lossOf({ entropyCoef: 1 }),
  value: lossOf({ value: { coef: 1, clip: 0.5 } }),
  'cross-entropy': lossOf({ crossEntropyCoef: 1 }),
}

/** Prompt 1 2; the policy wrote 3 4, a tool 5 6, the policy 7, the tool 8 9. */
const MASK = [1, 1, 0, 0, 1, 0, 0]
const PER_TOKEN = ['oldLogprobs', 'refLogprobs', 'advantages', 'returns', 'oldValues', 'weights'] as const
const DATUM: Datum = {
  promptTokens: [1, 2],
  tokens: [3, 4, 5, 6, 7, 8, 9],
  mask: MASK,
  oldLogprobs: [-2, -2, 0, 0, -2, 0, 0],
  advantages: [1, -1, 0, 0, 1, 0, 0],
  refLogprobs: [-1, -2, 0, 0, -3, 0, 0],
  returns: [1, 1, 0, 0, 1, 0, 0],
  oldValues: [0, 0, 0, 0, 0, 0, 0],
  weights: [1, 1, 1, 1, 1, 1, 1],
}

describe.each(Object.entries(EVERY_TERM))('tokens outside the mask, %s', (_, loss) => {
  const engine = tinyEngine(UNTIED)
  const { trained } = engine.parameters
  /** Gradients by tensor; they are dropped before the next batch. */
  const gradientsBy = async (datum: Datum): Promise<Map<string, Float32Array>> => {
    await engine.accumulate([datum], { loss })
    const found = await gradientsOf(engine)
    const gradients = new Map(trained.map(({ name }, i) => [name, found[i]]))
    engine.parameters.gradient.drop()
    return gradients
  }
  let plain: Map<string, Float32Array>
  beforeAll(async () => {
    plain = await gradientsBy(DATUM)
  })
  const row = (gradients: Map<string, Float32Array>, name: string, token: number) =>
    [...gradients.get(name)!.subarray(token * TINY.hiddenSize, (token + 1) * TINY.hiddenSize)].map(Math.abs)
  const ZEROS = new Array(TINY.hiddenSize).fill(0)

  it('change no bit of the gradient by what their arrays hold', async () => {
    const spoilt = Object.fromEntries(
      PER_TOKEN.map(name => [
        name,
        MASK.map((m, t) => (m ? DATUM[name]![t] : [Number.NaN, 1e30, -7][t % 3])),
      ]),
    )
    expect(await gradientsBy({ ...DATUM, ...spoilt })).toEqual(plain)
  })

  it('after the last action change no bit by what they say, and their embeddings have no gradient', async () => {
    expect(await gradientsBy({ ...DATUM, tokens: [3, 4, 5, 6, 7, 10, 11] })).toEqual(plain)
    for (const token of [8, 9]) expect(row(plain, 'model.embed_tokens.weight', token)).toEqual(ZEROS)
    // What the policy read before its actions does have one.
    expect(row(plain, 'model.embed_tokens.weight', 1)).not.toEqual(ZEROS)
  })

  it('alone give a gradient of zeros', async () => {
    const silent = await gradientsBy({ ...DATUM, mask: MASK.map(() => 0) })
    for (const [name, gradient] of silent)
      expect(
        gradient.every(x => x === 0),
        name,
      ).toBe(true)
  })
})

it('a tool between two actions is read, not learnt: it is no target of the cross-entropy', async () => {
  // The gradient of -log p(x) by the output row of x is (p - 1) h < 0 along h where x is the target, p h > 0 where it is not:
  // a token that is only the tool's can only be pushed down, as any token that was not said.
  const engine = tinyEngine(UNTIED)
  const optimizer = { learningRate: 1e-3 }
  const item = [{ promptTokens: [1, 2, 3, 4], tokens: [5] }]
  const probability = async () => Math.exp((await engine.score(item))[0].logprobs[0])
  const before = await probability()
  const loss = EVERY_TERM['cross-entropy']
  for (let step = 0; step < 20; step++) {
    await engine.accumulate([DATUM], { loss })
    await engine.step(optimizer)
  }
  const masked = await probability()
  const learnt = tinyEngine(UNTIED)
  for (let step = 0; step < 20; step++) {
    await learnt.accumulate([{ ...DATUM, mask: [1, 1, 1, 1, 1, 0, 0] }], { loss })
    await learnt.step(optimizer)
  }
  expect(Math.exp((await learnt.score(item))[0].logprobs[0])).toBeGreaterThan(before)
  expect(masked).toBeLessThan(before)
})
