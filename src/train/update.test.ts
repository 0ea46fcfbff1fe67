import { describe, expect, it } from 'vitest'
import { lossPreset } from '../rl/loss-presets.ts'
import type { GroupedDatum } from '../rl/rollout.ts'
import { Rng } from '../util/rng.ts'
import { FakePolicy } from './fake-policy.fixture.ts'
import type { Phase } from './recipe.ts'
import { learnPhase } from './update.ts'

/** A group's prompt is its number. */
const datumsOf = (groups: number, samples: number): GroupedDatum[] =>
  Array.from({ length: groups * samples }, (_, i) => {
    const group = Math.floor(i / samples)
    const tokens = Int32Array.of(10 + group, 20 + (i % samples))
    const ones = new Float32Array(2).fill(1)
    const datum = { promptTokens: [group], tokens, mask: ones, oldLogprobs: ones, advantages: ones }
    return { datum, group: String(group) }
  })

const phaseOf = (datums: GroupedDatum[], changes: Partial<Phase> = {}): Phase => ({
  name: 'policy',
  datums,
  loss: lossPreset('trl:grpo'),
  temperature: 0.7,
  ...changes,
})

const optimizer = { learningRate: 1e-3 }

describe('learnPhase', () => {
  it('is one optimiser step with everything, unless there are mini-batches', async () => {
    const policy = new FakePolicy()
    const stats = await learnPhase(policy, phaseOf(datumsOf(3, 2)), { optimizer }, new Rng(1))
    expect(policy.calls).toEqual(['update'])
    expect(stats).toHaveLength(1)
    const [{ datums, options }] = policy.updates
    expect(datums).toHaveLength(6)
    expect(options).toMatchObject({ temperature: 0.7, optimizer: { learningRate: 1e-3 } })
    expect(options.prompts).toEqual(['0', '0', '1', '1', '2', '2'])
  })

  it('mini-batches keep the groups together and miss nobody', async () => {
    const policy = new FakePolicy()
    await learnPhase(policy, phaseOf(datumsOf(7, 3), { minibatches: 3 }), { optimizer }, new Rng(1))
    const prompts = policy.updates.map(({ options }) => options.prompts as string[])
    expect(prompts.map(batch => batch.length)).toEqual([9, 9, 3])
    const groups = prompts.flatMap(batch => [...new Set(batch)])
    expect(groups.toSorted()).toEqual(['0', '1', '2', '3', '4', '5', '6'])
    for (const { datums, options } of policy.updates)
      expect(datums.map(({ promptTokens }) => String(promptTokens[0]))).toEqual(options.prompts)
  })

  it('makes no empty mini-batches', async () => {
    const policy = new FakePolicy()
    await learnPhase(policy, phaseOf(datumsOf(2, 2), { minibatches: 5 }), { optimizer }, new Rng(1))
    expect(policy.updates.map(({ datums }) => datums.length)).toEqual([2, 2])
  })

  it('every pass cuts anew, and the same seed cuts the same way', async () => {
    const orders = async (seed: number) => {
      const policy = new FakePolicy()
      const twice = phaseOf(datumsOf(8, 1), { minibatches: 2, epochs: 2 })
      await learnPhase(policy, twice, { optimizer }, new Rng(seed))
      return policy.updates.map(({ options }) => options.prompts)
    }
    const first = await orders(1)
    expect(first).toHaveLength(4)
    expect(first.slice(0, 2)).not.toEqual(first.slice(2))
    expect(await orders(1)).toEqual(first)
    expect(await orders(2)).not.toEqual(first)
  })

  it('asks the reference once, before the first step, and only where there is a KL term', async () => {
    const policy = new FakePolicy()
    const kl = { kind: 'k3', coef: 0.04 } as const
    const loss = { ...lossPreset('trl:grpo'), kl }
    const phase = phaseOf(datumsOf(2, 2), { loss, minibatches: 2, epochs: 2 })
    await learnPhase(policy, phase, { optimizer }, new Rng(1))
    expect(policy.calls).toEqual(['score', 'update', 'update', 'update', 'update'])
    expect(policy.scored[0].options).toEqual({ weights: 'reference', temperature: 0.7 })
    for (const { datums } of policy.updates)
      for (const { tokens, refLogprobs } of datums)
        expect([...refLogprobs!]).toEqual(Array.from(tokens, token => -token))
  })

  it.each([
    { kind: 'none', coef: 0.04 },
    { kind: 'k3', coef: 0 },
  ] as const)('asks no reference for %o', async kl => {
    const policy = new FakePolicy()
    const loss = { ...lossPreset('trl:grpo'), kl }
    await learnPhase(policy, phaseOf(datumsOf(1, 2), { loss }), { optimizer }, new Rng(1))
    expect(policy.calls).toEqual(['update'])
    expect(policy.updates[0].datums[0].refLogprobs).toBeUndefined()
  })

  it('weighs tokens by trainer over sampler, within bounds, and has ratios start at the trainer', async () => {
    const policy = new FakePolicy()
    const [one] = datumsOf(1, 1)
    // The policy scores tokens 10 and 20 at -10 and -20: ratios of 4, beyond the bound of 2, and of a half.
    const oldLogprobs = Float64Array.of(-10 - Math.log(4), -20 + Math.log(2))
    const datums = [{ ...one, datum: { ...one.datum, oldLogprobs, weights: [1, 3] } }]
    const [stats] = await learnPhase(
      policy,
      phaseOf(datums, { minibatches: 1, epochs: 2 }),
      { optimizer, correction: { max: 2 } },
      new Rng(1),
    )
    expect(policy.calls).toEqual(['score', 'update', 'update'])
    expect(policy.scored[0].options).toEqual({ temperature: 0.7 })
    for (const { datums: learnt } of policy.updates) {
      expect(Array.from(learnt[0].weights!)).toEqual([2, expect.closeTo(1.5, 6)])
      expect(Array.from(learnt[0].oldLogprobs)).toEqual([-10, -20])
    }
    expect(stats.maxLogprobDifference).toBeCloseTo(Math.log(4), 6)
    expect(stats.maxRatio).toBeCloseTo(4, 5)
  })

  it('has nothing to correct in a loss without ratios', async () => {
    const policy = new FakePolicy()
    const loss = { ...lossPreset('trl:grpo'), crossEntropyCoef: 1 }
    const supervised = { ...loss, policy: { ...loss.policy, kind: 'none' as const } }
    const phase = phaseOf(datumsOf(1, 2), { loss: supervised })
    await learnPhase(policy, phase, { optimizer, correction: {} }, new Rng(1))
    expect(policy.calls).toEqual(['update'])
  })

  it('takes no step without datums, and asks nobody', async () => {
    const policy = new FakePolicy()
    const loss = { ...lossPreset('trl:grpo'), kl: { kind: 'k3', coef: 0.04 } as const }
    expect(await learnPhase(policy, phaseOf([], { loss }), { optimizer }, new Rng(1))).toEqual([])
    expect(policy.calls).toEqual([])
  })
})
