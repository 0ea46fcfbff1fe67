import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readSafetensors } from '../../model/safetensors.ts'
import type { Datum } from '../../rl/datum.ts'
import { lossSchema } from '../../rl/loss.ts'
import { WITHOUT_DEVICE } from '../../tensor/provider.fixture.ts'
import { openPolicy, pipelinedPolicySchema } from '../open.ts'
import { updateOnce } from '../update.ts'
import type { Engine } from './engine.ts'
import { LocalPolicy } from './local-policy.ts'
import type { ModelSource } from './model-source.ts'
import { TINY, tinyEngine } from './tiny-model.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-device-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LOSS = lossSchema.parse({ policy: { kind: 'clip' }, aggregation: { mode: 'token-mean' } })
const WITH_VALUES = lossSchema.parse({
  policy: { kind: 'clip' },
  value: { coef: 0.5, clip: 0.5 },
  aggregation: { mode: 'token-mean' },
})
const OPTIMIZER = { learningRate: 0.01, weightDecay: 0.1 }

const datum = (prompt: number[], tokens: number[], advantage: number): Datum => ({
  promptTokens: prompt,
  tokens,
  mask: tokens.map(() => 1),
  oldLogprobs: tokens.map(() => -2.5),
  advantages: tokens.map(() => advantage),
})
const DATUMS = [
  datum([1, 2, 3], [4, 5, 6, 4], 1),
  datum([1, 2, 3], [7, 8], -0.5),
  datum([9], [10, 11, 12], 0.7),
]
const VALUES = DATUMS.map(({ tokens, ...rest }) => ({
  ...rest,
  tokens,
  returns: Float32Array.from(tokens, (_, t) => 0.1 * t),
  oldValues: Float32Array.from(tokens, () => 0.2),
}))

const largest = (a: ArrayLike<number>, b: ArrayLike<number>) => {
  expect(a.length).toBe(b.length)
  return Math.max(...Array.from(a, (x, i) => Math.abs(x - b[i])))
}

/** Weights and optimiser's state by name, as a checkpoint has them. */
const saved = async (engine: Engine, name: string) => {
  const path = join(folder, name)
  await engine.save(path)
  const files = readdirSync(path).filter(file => file.endsWith('.safetensors'))
  return files.sort().flatMap(file => [...readSafetensors(join(path, file))])
}

/** The same engine in this process and on the device. */
const both = (source: ModelSource = {}): [Engine, Engine] => [
  tinyEngine(source, { microBatchTokens: 16, provider: 'cpu' }),
  tinyEngine(source, { microBatchTokens: 16, provider: 'webgpu' }),
]

const expectSameState = async (here: Engine, there: Engine, name: string) => {
  const [a, b] = [await saved(here, `${name}-here`), await saved(there, `${name}-there`)]
  expect(b.map(([key]) => key)).toEqual(a.map(([key]) => key))
  for (const [i, [key, { data }]] of a.entries())
    expect(largest(data, b[i][1].data), key).toBeLessThan(
      key.startsWith('m.') || key.startsWith('v.') ? 1e-4 : 1e-3,
    )
}

describe.skipIf(WITHOUT_DEVICE)('policies on a device (GRADUS_TEST_PROVIDER=webgpu)', () => {
  const SOURCE = { init: { config: TINY, seed: 1 } }
  const ITEM = [{ promptTokens: [1, 2], tokens: [3, 4] }]

  it('have it one at a time', async () => {
    const first = await LocalPolicy.start(SOURCE, { provider: 'webgpu' })
    await expect(LocalPolicy.start(SOURCE, { provider: 'webgpu' })).rejects.toThrow(/one engine at a time/)
    const [{ logprobs }] = await first.score(ITEM)
    await first.close()
    // Also after one that could not be started.
    await expect(LocalPolicy.start({ folder: '/nowhere' }, { provider: 'webgpu' })).rejects.toThrow(/no such/)
    const second = await LocalPolicy.start(SOURCE, { provider: 'webgpu' })
    expect((await second.score(ITEM))[0].logprobs).toEqual(logprobs)
    await second.close()
  }, 60_000)

  it('learn there while a second engine samples on the processor', async () => {
    const policy = await openPolicy(pipelinedPolicySchema.parse({ provider: 'webgpu', sampler: {} }), SOURCE)
    const sampling = policy.sample({ prompts: [[1, 2, 3]], samplesPerPrompt: 4, maxTokens: 30 })
    await updateOnce(policy, DATUMS, { loss: LOSS, optimizer: OPTIMIZER })
    expect(await sampling).toHaveLength(4)
    await policy.syncWeights!()
    const [[a], [b]] = [await policy.score(ITEM, { weights: 'sampling' }), await policy.score(ITEM)]
    expect(largest(a.logprobs, b.logprobs)).toBeLessThan(1e-4)
    await policy.close()
  }, 60_000)
})

describe.skipIf(WITHOUT_DEVICE)('an engine on a device (GRADUS_TEST_PROVIDER=webgpu)', () => {
  it('learns what the one in this process learns, also after a checkpoint', async () => {
    const [here, there] = both()
    for (const engine of [here, there]) await engine.freezeReference()
    for (const _ of [1, 2, 3]) {
      const options = { loss: LOSS, optimizer: OPTIMIZER }
      const [a, b] = [await updateOnce(here, DATUMS, options), await updateOnce(there, DATUMS, options)]
      expect(b.gradNorm / a.gradNorm).toBeCloseTo(1, 3)
      expect(b.loss).toBeCloseTo(a.loss!, 3)
    }
    await expectSameState(here, there, 'learnt')
    const again = tinyEngine({ folder: join(folder, 'learnt-here') }, { provider: 'webgpu' })
    await again.load(join(folder, 'learnt-here'))
    const options = { loss: LOSS, optimizer: OPTIMIZER }
    await updateOnce(here, DATUMS, options)
    await updateOnce(again, DATUMS, options)
    await expectSameState(here, again, 'resumed')
    const item = [{ promptTokens: [1, 2], tokens: [3, 4] }]
    for (const weights of ['current', 'reference'] as const) {
      const [[a], [b]] = [await here.score(item, { weights }), await there.score(item, { weights })]
      if (weights === 'reference') expect(largest(a.logprobs, b.logprobs)).toBeLessThan(1e-4)
      else expect(largest(a.logprobs, b.logprobs)).toBeGreaterThan(1e-4) // one step further
    }
    const [fresh] = both()
    const [[first], [frozen]] = [await fresh.score(item), await there.score(item, { weights: 'reference' })]
    expect(largest(first.logprobs, frozen.logprobs)).toBeLessThan(1e-4)
  }, 600_000)

  it.each([
    [
      'an adapter and a value head',
      { valueHead: true, lora: { rank: 2, alpha: 4, targetModules: ['q_proj', 'down_proj'] } },
    ],
    [
      'biases, norms of heads, an output table',
      {
        init: { config: { ...TINY, attentionBias: true, qkNorm: true, tieEmbeddings: false }, seed: 2 },
        valueHead: true,
      },
    ],
  ] as [string, ModelSource][])(
    'learns %s',
    async (name, source) => {
      const [here, there] = both(source)
      for (const engine of [here, there])
        for (const _ of [1, 2])
          await updateOnce(engine, VALUES, {
            loss: WITH_VALUES,
            optimizer: { ...OPTIMIZER, valueLearningRate: 0.05 },
          })
      await expectSameState(here, there, name.replaceAll(' ', '-'))
    },
    600_000,
  )

  it('takes no step with a gradient that is not finite, and drops what cannot be used', async () => {
    const [, there] = both()
    await there.accumulate(DATUMS, { loss: LOSS })
    await expect(there.accumulate([], { loss: LOSS })).rejects.toThrow(/at least one datum/)
    await expect(there.step(OPTIMIZER)).rejects.toThrow(/got none/)
    const before = await there.digest()
    const huge = DATUMS.map(each => ({ ...each, advantages: Array.from(each.tokens, () => 1e38) }))
    await there
      .accumulate(huge, { loss: { ...LOSS, policy: { kind: 'reinforce' } } as typeof LOSS })
      .catch(() => {})
    await expect(there.step(OPTIMIZER)).rejects.toThrow()
    expect(await there.digest()).toBe(before)
  }, 600_000)

  it('compares gradients, and hands weights to another engine and takes them', async () => {
    const [here, there] = both()
    for (const engine of [here, there]) {
      await engine.accumulate(DATUMS.slice(0, 1), { loss: LOSS })
      await engine.step({ ...OPTIMIZER, gradient: { keepAs: 'a', against: [] } })
      await engine.accumulate(DATUMS.slice(1), { loss: LOSS })
    }
    const compared = { ...OPTIMIZER, gradient: { keepAs: 'b', against: ['a'] } }
    const [a, b] = [await here.step(compared), await there.step(compared)]
    expect(b.gradientCosines!.a!).toBeCloseTo(a.gradientCosines!.a!, 3)
    const [other] = both()
    await other.takeWeights(await there.shareWeights())
    expect(await other.digest()).toBe(await there.digest())
    await there.takeWeights(await here.shareWeights())
    expect(await there.digest()).toBe(await here.digest())
    // Moments stay with the engine.
    for (const engine of [here, there]) await updateOnce(engine, DATUMS, { loss: LOSS, optimizer: OPTIMIZER })
    await expectSameState(here, there, 'taken')
  }, 600_000)

  it('samples what the one in this process samples, beyond a bucket of the cache and as rows leave', async () => {
    // Keys and values of 9 layers are more tensors than a shader may bind.
    const [here, there] = both({ init: { config: { ...TINY, layers: 9 }, seed: 1 } })
    const request = {
      prompts: [[1, 2, 3, 4, 5], [6], [7, 8]],
      samplesPerPrompt: 4,
      maxTokens: 48,
      stopTokens: [0, 1, 2],
      temperature: 0.3,
      seed: 5,
    }
    const [a, b] = [await here.sample(request), await there.sample(request)]
    const lengths = a.map(({ tokens }) => tokens.length)
    // Rows that end at different times, and some beyond the first bucket.
    expect(Math.max(...lengths)).toBeGreaterThan(33)
    expect(new Set(lengths).size).toBeGreaterThan(4)
    const same = a.filter(({ tokens }, i) => tokens.join() === b[i].tokens.join())
    // A draw may fall on the other side of a border where two numbers differ in their last digits.
    expect(same.length).toBeGreaterThanOrEqual(a.length - 1)
    for (const [i, { tokens, logprobs }] of a.entries())
      if (tokens.join() === b[i].tokens.join()) expect(largest(logprobs, b[i].logprobs)).toBeLessThan(1e-3)
    const sequences = [
      [1, 2, 3],
      [4, 5],
    ]
    const [means, others] = [await here.hiddenMeans(sequences), await there.hiddenMeans(sequences)]
    for (const [i, mean] of means.entries()) expect(largest(mean, others[i])).toBeLessThan(1e-3)
    const moved = await there.traffic()
    expect(moved.upBytes).toBeGreaterThan(0)
    expect(moved.downBytes).toBeGreaterThan(0)
  }, 600_000)
})
