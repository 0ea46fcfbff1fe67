import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Datum } from '../../rl/datum.ts'
import { type LossSpec, lossSchema } from '../../rl/loss.ts'
import { ConfigError, DataError, NumericError, UsageError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { assertComputable, updateOnce } from '../update.ts'
import { LocalPolicy } from './local-policy.ts'
import { ENGINE, gradientsOf, TINY, tinyEngine, weightsOf } from './tiny-model.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-accumulate-'))
afterAll(() => rmSync(folder, { recursive: true }))

const lossOf = (mode: string, more: object = {}): LossSpec =>
  lossSchema.parse({ policy: { kind: 'clip' }, aggregation: { mode, scale: 3 }, ...more })
const SUM = lossOf('token-sum')
const MEAN = lossOf('token-mean')
const VALUE = lossOf('token-sum', { value: { coef: 0.5 } })
const OPTIMIZER = { learningRate: 1e-2, beta2: 0.95 }

const datum = (name: string, length = 5): Datum => {
  const rng = new Rng(name)
  const perToken = (draw: () => number) => Array.from({ length }, draw)
  return {
    promptTokens: [1, 2],
    tokens: perToken(() => rng.int(17)),
    mask: perToken(() => 1),
    oldLogprobs: perToken(() => -2 - rng.next()),
    advantages: perToken(() => rng.next() - 0.5),
    returns: perToken(() => rng.next()),
  }
}
const [A, B, C] = ['a', 'b', 'c'].map(name => datum(name))

/** Largest difference of two lists of tensors over the largest entry of the second. */
const distance = (a: readonly Float32Array[], b: readonly Float32Array[]) => {
  const [flatA, flatB] = [a, b].map(tensors => tensors.flatMap(tensor => [...tensor]))
  const largest = flatB.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
  return flatA.reduce((most, x, i) => Math.max(most, Math.abs(x - flatB[i])), 0) / largest
}

describe('accumulated gradients', () => {
  it('add up as they are: sums of two batches are the sum of both, means the sum of the means', async () => {
    const [whole, pieces] = [tinyEngine(), tinyEngine()]
    await whole.accumulate([A, B, C], { loss: SUM })
    await pieces.accumulate([A], { loss: SUM })
    await pieces.accumulate([B, C], { loss: SUM })
    expect(distance(await gradientsOf(pieces), await gradientsOf(whole))).toBeLessThan(1e-5)

    const [both, first, second] = [tinyEngine(), tinyEngine(), tinyEngine()]
    await first.accumulate([A], { loss: MEAN })
    await second.accumulate([B, C], { loss: MEAN })
    await both.accumulate([A], { loss: MEAN })
    await both.accumulate([B, C], { loss: MEAN })
    const [one, other] = [await gradientsOf(first), await gradientsOf(second)]
    const sum = one.map((tensor, i) => tensor.map((x, j) => x + other[i][j]))
    expect(distance(await gradientsOf(both), sum)).toBeLessThan(1e-5)
  })

  it('are used up by one step, which counts as one', async () => {
    const [twice, once] = [tinyEngine(), tinyEngine()]
    for (const _ of [1, 2]) {
      await twice.accumulate([A], { loss: SUM })
      await twice.accumulate([B], { loss: SUM })
      await twice.step(OPTIMIZER)
      await updateOnce(once, [A, B], { loss: SUM, optimizer: OPTIMIZER })
    }
    expect(twice.parameters.optimizer.steps).toBe(2)
    expect(distance(await weightsOf(twice), await weightsOf(once))).toBeLessThan(1e-4)
    await expect(twice.step(OPTIMIZER)).rejects.toThrow(UsageError)
    await expect(twice.step(OPTIMIZER)).rejects.toThrow(/step: expected an accumulated gradient, got none/)
    expect(twice.parameters.optimizer.steps).toBe(2)
  })

  it('leave the weights alone: scores, samples and the reference between are those before', async () => {
    const [engine, plain] = [tinyEngine(), tinyEngine()]
    const item = [{ promptTokens: [1], tokens: [2, 3] }]
    const request = { prompts: [[1, 2]], maxTokens: 6, seed: 1 }
    const before = { scores: await engine.score(item), samples: await engine.sample(request) }
    await engine.accumulate([A], { loss: SUM })
    expect(await engine.score(item)).toEqual(before.scores)
    expect(await engine.sample(request)).toEqual(before.samples)
    await engine.freezeReference()
    await engine.step(OPTIMIZER)
    expect(await engine.score(item, { weights: 'reference' })).toEqual(before.scores)
    expect(await engine.score(item)).not.toEqual(before.scores)
    // What came between has not touched the gradient either.
    await updateOnce(plain, [A], { loss: SUM, optimizer: OPTIMIZER })
    expect(await weightsOf(engine)).toEqual(await weightsOf(plain))
  })

  it('are in no checkpoint: saving waits for the step, loading drops them', async () => {
    const engine = tinyEngine()
    await engine.save(join(folder, 'start'))
    await engine.accumulate([A], { loss: SUM })
    await expect(engine.save(join(folder, 'pending'))).rejects.toThrow(UsageError)
    await expect(engine.save(join(folder, 'pending'))).rejects.toThrow(/take the step first/)
    await engine.load(join(folder, 'start'))
    await expect(engine.step(OPTIMIZER)).rejects.toThrow(/got none/)
    await engine.save(join(folder, 'again'))
  })

  it('are of the weights that they were taken at: other weights drop them', async () => {
    const engine = tinyEngine()
    await engine.accumulate([A], { loss: SUM })
    await engine.takeWeights(await tinyEngine({ init: { config: TINY, seed: 2 } }).shareWeights())
    await expect(engine.step(OPTIMIZER)).rejects.toThrow(/got none/)
  })

  it('are dropped with a batch that cannot be used, and the next batch starts anew', async () => {
    const [engine, fresh] = [tinyEngine(), tinyEngine()]
    const before = await weightsOf(engine)
    const unusable: [Datum[], LossSpec, new (message: string) => Error][] = [
      [[{ ...B, advantages: [1, Number.NaN, 1, 1, 1] }], SUM, NumericError],
      [[], SUM, DataError],
      [[B], lossOf('token-sum', { kl: { kind: 'k3', coef: 1 } }), DataError],
      [[B], VALUE, ConfigError],
    ]
    for (const [batch, loss, type] of unusable) {
      await engine.accumulate([A], { loss: SUM })
      await expect(engine.accumulate(batch, { loss })).rejects.toThrow(type)
      await expect(engine.step(OPTIMIZER)).rejects.toThrow(UsageError)
    }
    expect(await weightsOf(engine)).toEqual(before)
    await updateOnce(engine, [C], { loss: SUM, optimizer: OPTIMIZER })
    await updateOnce(fresh, [C], { loss: SUM, optimizer: OPTIMIZER })
    expect(await weightsOf(engine)).toEqual(await weightsOf(fresh))
  })

  it('that overflow change no weight, and are dropped', async () => {
    const engine = tinyEngine()
    const before = await weightsOf(engine)
    // Each loss and gradient is finite, the sum of the gradients is beyond float32.
    const steep = { ...A, advantages: [1e37, 0, 0, 0, 0] }
    const reinforce = lossSchema.parse({ policy: { kind: 'reinforce' }, aggregation: { mode: 'token-sum' } })
    for (const _ of Array.from({ length: 80 })) await engine.accumulate([steep], { loss: reinforce })
    await expect(engine.step(OPTIMIZER)).rejects.toThrow(NumericError)
    await expect(engine.step(OPTIMIZER)).rejects.toThrow(UsageError)
    expect(await weightsOf(engine)).toEqual(before)
    expect(engine.parameters.optimizer.steps).toBe(0)
  })
})

describe('what an update is made of', () => {
  it('is one step of the sum, asked for in one breath: nothing comes between in the worker', async () => {
    const policy = await LocalPolicy.start({ init: { config: TINY, seed: 1 } }, ENGINE)
    try {
      const updating = updateOnce(policy, [A], { loss: SUM, optimizer: OPTIMIZER })
      await policy.save(join(folder, 'after'))
      expect((await updating).gradNorm).toBeGreaterThan(0)
      const failing = updateOnce(policy, [], { loss: SUM, optimizer: OPTIMIZER })
      await expect(failing).rejects.toThrow(/at least one datum/)
    } finally {
      await policy.close()
    }
  })

  it('a loss that the policy cannot compute is refused by name before anything is run', async () => {
    const [plain, critic] = [
      await LocalPolicy.start({ init: { config: TINY, seed: 1 } }, { threads: 1 }),
      await LocalPolicy.start({ init: { config: TINY, seed: 1 }, valueHead: true }, { threads: 1 }),
    ]
    try {
      expect(plain.refuses(SUM)).toBeNull()
      expect(critic.refuses(VALUE)).toBeNull()
      expect(() => assertComputable(plain, VALUE, 'critic.loss')).toThrow(ConfigError)
      expect(() => assertComputable(plain, VALUE, 'critic.loss')).toThrow(
        /^critic\.loss\.value: expected null with a model that has no value head/,
      )
      await expect(plain.accumulate([A], { loss: VALUE })).rejects.toThrow(/^loss\.value: expected null/)
    } finally {
      await Promise.all([plain.close(), critic.close()])
    }
  })
})
