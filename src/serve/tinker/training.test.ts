import { afterEach, describe, expect, it } from 'vitest'
import { tinyEngine } from '../../policy/local/tiny-model.fixture.ts'
import { floatTensor, type TrainingClient, tokenTensor, type WireDatum } from '../../tinker/index.ts'
import { ADAM, endAll, startService, supervised } from './service.fixture.ts'

afterEach(endAll)

const SEQUENCES = [
  [1, 5, 9, 2, 7, 7, 3],
  [1, 4, 4, 8, 12, 0],
]

const logprobsOf = async (client: TrainingClient, data: readonly WireDatum[]): Promise<number[][]> => {
  const { outputs } = await client.forward(data, 'cross_entropy').result
  return outputs.map(({ logprobs }) => Array.from(logprobs.data))
}

const close = (got: readonly (readonly number[])[], wanted: readonly (readonly number[])[], digits = 5) => {
  expect(got.map(row => row.length)).toEqual(wanted.map(row => row.length))
  for (const [i, row] of got.entries())
    for (const [t, value] of row.entries()) expect(value).toBeCloseTo(wanted[i][t], digits)
}

const itemsOf = (sequences: readonly number[][]) =>
  sequences.map(([first, ...rest]) => ({ promptTokens: [first], tokens: rest }))

describe('a model on the service', () => {
  it.each([
    ['an adapter', { rank: 4, seed: 3 }],
    ['all weights', { rank: 0 }],
  ])('gives the log-probs of the local policy, before and after steps: %s', async (_, lora) => {
    const { client, folder } = await startService()
    const model = await client(lora)
    const data = SEQUENCES.map(sequence => supervised(sequence))
    const local = tinyEngine({
      ...{ folder, seed: 3 },
      ...(lora.rank > 0 && {
        lora: {
          ...{ rank: 4, alpha: 32 },
          targetModules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
        },
      }),
    })
    const scores = async () =>
      (await local.score(itemsOf(SEQUENCES))).map(({ logprobs }) => Array.from(logprobs))
    const before = await scores()
    close(await logprobsOf(model, data), before)
    const loss = {
      policy: { kind: 'none' as const, clipLow: 0, clipHigh: 0, dualClip: null },
      kl: { kind: 'none' as const, coef: 0 },
      ...{ entropyCoef: 0, value: null, crossEntropyCoef: 1 },
      aggregation: { mode: 'token-sum' as const, scale: null },
    }
    for (let step = 0; step < 3; step++) {
      const datums = itemsOf(SEQUENCES).map(item => ({
        ...item,
        mask: item.tokens.map(() => 1),
        oldLogprobs: item.tokens.map(() => 0),
        advantages: item.tokens.map(() => 0),
      }))
      const stats = await local.accumulate(datums, { loss })
      const { gradNorm } = await local.step({ ...ADAM, maxGradNorm: 0 })
      // Two requests, neither waited for, are one batch.
      const parts = data.map(datum => model.forwardBackward([datum], 'cross_entropy'))
      const { grad_norm } = await model.optimStep(ADAM).result
      const sums = await Promise.all(parts.map(async ({ result }) => (await result).metrics['loss:sum']))
      expect(sums[0] + sums[1]).toBeCloseTo(stats.loss, 3)
      expect(grad_norm / gradNorm).toBeCloseTo(1, 4)
    }
    const after = await scores()
    expect(Math.abs(after[0][0] - before[0][0])).toBeGreaterThan(0.01)
    close(await logprobsOf(model, data), after, 4)
  })

  it('scores what the client wants predicted, even where another token follows', async () => {
    const { client } = await startService()
    const model = await client()
    const tokens = Int32Array.of(1, 5, 9, 2)
    const odd: WireDatum = { tokens, inputs: { target_tokens: tokenTensor([5, 9, 11, 6]) } }
    const [got] = await logprobsOf(model, [odd])
    // The third place predicts 11 after 1 5 9, though 2 is what follows; the fourth reads that 2.
    const [plain, other] = await logprobsOf(model, [supervised([1, 5, 9, 2, 6]), supervised([1, 5, 9, 11])])
    close([got], [[plain[0], plain[1], other[2], plain[3]]])
  })

  it('leaves weights as they are in forward, and refuses a step without a gradient', async () => {
    const { client } = await startService()
    const model = await client()
    const before = await logprobsOf(model, [supervised(SEQUENCES[0])])
    await expect(model.optimStep(ADAM).result).rejects.toThrow(/expected an accumulated gradient, got none/)
    close(await logprobsOf(model, [supervised(SEQUENCES[0])]), before, 7)
  })
})

/** dL/dlp of each token by the formulas of the protocol, and the losses themselves. */
const FORMULAS: Record<
  string,
  {
    config?: Record<string, number>
    loss(lp: number, q: number, a: number): number
    slope(lp: number, q: number, a: number): number
  }
> = {
  importance_sampling: {
    loss: (lp, q, a) => -Math.exp(lp - q) * a,
    slope: (lp, q, a) => -Math.exp(lp - q) * a,
  },
  ppo: {
    loss: (lp, q, a) => -Math.min(Math.exp(lp - q) * a, Math.min(1.2, Math.max(0.8, Math.exp(lp - q))) * a),
    slope: (lp, q, a) => {
      const r = Math.exp(lp - q)
      return (a > 0 && r > 1.2) || (a < 0 && r < 0.8) ? 0 : -r * a
    },
  },
  cispo: {
    config: { clip_low_threshold: 0.9, clip_high_threshold: 1.1 },
    loss: (lp, q, a) => -Math.min(1.1, Math.max(0.9, Math.exp(lp - q))) * lp * a,
    slope: (lp, q, a) => -Math.min(1.1, Math.max(0.9, Math.exp(lp - q))) * a,
  },
  dro: {
    config: { beta: 0.3 },
    loss: (lp, q, a) => -(lp * a - 0.15 * (lp - q) ** 2),
    slope: (lp, q, a) => -a + 0.3 * (lp - q),
  },
}

describe('the losses', () => {
  it.each(Object.entries(FORMULAS))('%s is a sum over tokens with its gradient', async (name, formula) => {
    const { client } = await startService()
    const [direct, byHand] = [await client(), await client()]
    const plain = SEQUENCES.map(sequence => supervised(sequence))
    const logprobs = await logprobsOf(byHand, plain)
    const differences = [-0.5, 0.4, 0.1, -0.1, 0.3, -0.3]
    const olds = logprobs.map(row => row.map((lp, t) => lp - differences[t]))
    const advantages = logprobs.map((row, i) => row.map((_, t) => (t < 1 ? 0 : (t + i) % 2 ? 1.5 : -0.7)))
    const slopes = logprobs.map((row, i) =>
      row.map((lp, t) => formula.slope(lp, olds[i][t], advantages[i][t])),
    )
    const data = plain.map(({ tokens, inputs }, i) => ({
      tokens,
      inputs: {
        target_tokens: inputs.target_tokens,
        logprobs: floatTensor(olds[i]),
        advantages: floatTensor(advantages[i]),
      },
    }))
    const { outputs, metrics } = await direct.forwardBackward(data, name, formula.config).result
    const wanted = logprobs.map((row, i) =>
      row.map((lp, t) => formula.loss(lp, olds[i][t], advantages[i][t])),
    )
    close(
      outputs.map(({ elementwise_loss }) => Array.from(elementwise_loss.data)),
      wanted,
      4,
    )
    expect(metrics['loss:sum']).toBeCloseTo(
      wanted.flat().reduce((sum, loss) => sum + loss, 0),
      3,
    )
    // The same gradient by a weighted cross-entropy with weights -dL/dlp: the same weights after a step.
    const weighted = SEQUENCES.map((sequence, i) =>
      supervised(
        sequence,
        slopes[i].map(slope => -slope),
      ),
    )
    await byHand.forwardBackward(weighted, 'cross_entropy').result
    const [a, b] = [await direct.optimStep(ADAM).result, await byHand.optimStep(ADAM).result]
    expect(a.grad_norm / b.grad_norm).toBeCloseTo(1, 4)
    close(await logprobsOf(direct, plain), await logprobsOf(byHand, plain), 3)
  })

  it.each([
    ['an unknown loss', 'hinge', undefined, {}, /loss_fn: expected one of cross_entropy, .*got hinge/],
    ['a setting that it lacks', 'ppo', { beta: 1 }, {}, /ppo has clip_low_threshold.*got beta/],
    ['an input that it lacks', 'ppo', undefined, {}, /ppo needs logprobs, got none/],
    ['one that it does not read', 'cross_entropy', undefined, { mask: 3 }, /got mask as well/],
    ['one of another length', 'cross_entropy', undefined, { weights: 2 }, /weights: expected 3 values/],
  ] as const)('refuses %s, and goes on', async (_, name, config, extra, message) => {
    const { client } = await startService()
    const model = await client()
    const plain = supervised([1, 2, 3, 4])
    await model.forwardBackward([plain], 'cross_entropy').result
    const inputs = Object.entries(extra).map(([key, length]) => [key, floatTensor(Array(length).fill(1))])
    const bad = {
      tokens: plain.tokens,
      inputs: { target_tokens: plain.inputs.target_tokens, ...Object.fromEntries(inputs) },
    }
    await expect(model.forwardBackward([bad], name, config).result).rejects.toThrow(message)
    // What was accumulated before is still there, and its number does not hold up the next one.
    expect((await model.optimStep(ADAM).result).grad_norm).toBeGreaterThan(0)
  })

  it('refuses tokens that the model does not have and sequences beyond its context', async () => {
    const { client } = await startService()
    const model = await client()
    const forward = (sequence: number[]) => model.forward([supervised(sequence)], 'cross_entropy').result
    await expect(forward([1, 17, 2])).rejects.toThrow(/token 17 is outside the vocabulary of 17/)
    await expect(forward(Array(66).fill(1))).rejects.toThrow(/at most 64 tokens, the context, got 65/)
    expect((await forward(Array(65).fill(1))).outputs[0].logprobs.data).toHaveLength(64)
  })
})
