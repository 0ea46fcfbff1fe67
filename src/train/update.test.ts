import { describe, expect, it } from 'vitest'
import { lossPreset } from '../rl/loss-presets.ts'
import { Rng } from '../util/rng.ts'
import { FakePolicy } from './fake-policy.fixture.ts'
import type { Group } from './rollout.ts'
import { toDatums, type UpdateSettings, updatePolicy } from './update.ts'

const groupsOf = async (problems: number, samples: number): Promise<Group<number, null>[]> => {
  const prompts = Array.from({ length: problems }, (_, p) => [p])
  const all = await new FakePolicy().sample({ prompts, samplesPerPrompt: samples, maxTokens: 2 })
  return prompts.map((promptTokens, problem) => ({
    problem,
    promptTokens,
    samples: all.filter(({ prompt }) => prompt === problem),
    grades: [],
  }))
}

const advantagesOf = (groups: readonly Group<unknown, unknown>[], value = (_p: number, _g: number) => 1) =>
  groups.map(({ samples }, p) => samples.map((_, g) => new Float32Array(2).fill(value(p, g))))

const settings = (changes: Partial<UpdateSettings> = {}): UpdateSettings => ({
  loss: lossPreset('trl:grpo'),
  optimizer: { learningRate: 1e-3 },
  temperature: 0.7,
  minibatches: 1,
  epochs: 1,
  ...changes,
})

describe('toDatums', () => {
  it('trains scaffolded rollouts on the prompt that the ratio says, from the log-probs that belong to it', async () => {
    const [group] = await groupsOf(1, 2)
    const own = [Float32Array.of(-7, -7), Float32Array.of(-8, -8)]
    const scaffolded = { ...group, sampledPrompts: [[9, 9], [0]], oldLogprobs: own }
    const promptsFor = (ratio: 'plain' | 'true-is' | 'sampled') =>
      toDatums([scaffolded], advantagesOf([group]), true, ratio).map(({ datum }) => datum.promptTokens)
    expect(promptsFor('plain')).toEqual([[0], [0]])
    expect(promptsFor('true-is')).toEqual([[0], [0]])
    expect(promptsFor('sampled')).toEqual([[9, 9], [0]])
    const [first] = toDatums([scaffolded], advantagesOf([group]), true)
    expect([...first.datum.oldLogprobs]).toEqual([-7, -7])
  })

  it('makes one datum a rollout, with its own tokens, log-probs and advantages', async () => {
    const groups = await groupsOf(2, 2)
    const datums = toDatums(
      groups,
      advantagesOf(groups, (p, g) => 10 * p + g - 5),
      true,
    )
    expect(datums.map(({ prompt }) => prompt)).toEqual([0, 0, 1, 1])
    expect(datums.map(({ datum }) => [...datum.tokens])).toEqual([
      [10, 20],
      [10, 21],
      [11, 20],
      [11, 21],
    ])
    expect(datums.map(({ datum }) => datum.advantages[0])).toEqual([-5, -4, 5, 6])
    expect(datums[3].datum).toMatchObject({
      promptTokens: [1],
      mask: new Float32Array([1, 1]),
      oldLogprobs: new Float32Array([-0.5, -0.5]),
    })
  })

  it('leaves out rollouts without any advantage, if asked', async () => {
    const groups = await groupsOf(2, 2)
    const advantages = advantagesOf(groups, p => p)
    advantages[0][1][1] = -1
    expect(toDatums(groups, advantages, true).map(({ prompt }) => prompt)).toEqual([0, 1, 1])
    expect(toDatums(groups, advantages, false)).toHaveLength(4)
  })
})

describe('updatePolicy', () => {
  const datumsOf = async (problems: number, samples: number) => {
    const groups = await groupsOf(problems, samples)
    return toDatums(groups, advantagesOf(groups), true)
  }

  it('is one optimiser step with everything, unless there are mini-batches', async () => {
    const policy = new FakePolicy()
    const stats = await updatePolicy(policy, await datumsOf(3, 2), settings(), new Rng(1))
    expect(policy.calls).toEqual(['update'])
    expect(stats).toHaveLength(1)
    const [{ datums, options }] = policy.updates
    expect(datums).toHaveLength(6)
    expect(options).toMatchObject({ temperature: 0.7, optimizer: { learningRate: 1e-3 } })
    expect(options.prompts).toEqual([0, 0, 1, 1, 2, 2])
  })

  it('mini-batches keep the groups together and miss nobody', async () => {
    const policy = new FakePolicy()
    await updatePolicy(policy, await datumsOf(7, 3), settings({ minibatches: 3 }), new Rng(1))
    const prompts = policy.updates.map(({ options }) => options.prompts as number[])
    expect(prompts.map(batch => batch.length)).toEqual([9, 9, 3])
    const groups = prompts.flatMap(batch => [...new Set(batch)])
    expect(groups.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6])
    for (const { datums, options } of policy.updates)
      expect(datums.map(({ promptTokens }) => promptTokens[0])).toEqual(options.prompts)
  })

  it('makes no empty mini-batches', async () => {
    const policy = new FakePolicy()
    await updatePolicy(policy, await datumsOf(2, 2), settings({ minibatches: 5 }), new Rng(1))
    expect(policy.updates.map(({ datums }) => datums.length)).toEqual([2, 2])
  })

  it('every pass cuts anew, and the same seed cuts the same way', async () => {
    const orders = async (seed: number) => {
      const policy = new FakePolicy()
      const twice = settings({ minibatches: 2, epochs: 2 })
      await updatePolicy(policy, await datumsOf(8, 1), twice, new Rng(seed))
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
    await updatePolicy(
      policy,
      await datumsOf(2, 2),
      settings({ loss, minibatches: 2, epochs: 2 }),
      new Rng(1),
    )
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
    await updatePolicy(policy, await datumsOf(1, 2), settings({ loss }), new Rng(1))
    expect(policy.calls).toEqual(['update'])
    expect(policy.updates[0].datums[0].refLogprobs).toBeUndefined()
  })
})
