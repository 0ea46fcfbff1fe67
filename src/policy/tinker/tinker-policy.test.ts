import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import type { Datum } from '../../rl/datum.ts'
import { type LossSpec, lossSchema } from '../../rl/loss.ts'
import { type FakeOptions, FakeServer } from '../../tinker/fake-server.fixture.ts'
import { CheckpointError, ConfigError, NumericError, UsageError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { Engine } from '../local/engine.ts'
import { tinyEngine } from '../local/tiny-model.fixture.ts'
import { updateOnce } from '../update.ts'
import { readReference } from './checkpoint.ts'
import { adapterOf, engineService, type ServiceOptions } from './engine-service.fixture.ts'
import type { TinkerOptions } from './open-training.ts'
import { TinkerPolicy } from './tinker-policy.ts'

const LORA = { rank: 4, seed: 3 }
const ADAM = { learningRate: 0.02, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 }

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
})

const serve = async (service: ServiceOptions = {}, options: FakeOptions = {}) => {
  const server = new FakeServer(engineService(service), options)
  open.push(server)
  return { server, url: await server.listen() }
}

const connect = async (url: string, options: Partial<TinkerOptions> = {}): Promise<TinkerPolicy> => {
  const policy = await TinkerPolicy.start({
    ...{ url, model: 'tiny', lora: LORA, backoffMs: 2, patienceMs: 2000, ...options },
  })
  open.push(policy)
  return policy
}

const start = async (service: ServiceOptions = {}, options: FakeOptions = {}) => {
  const { server, url } = await serve(service, options)
  return { server, url, policy: await connect(url) }
}

/** The same adapter in this process. */
const localTwin = (): Engine => tinyEngine(adapterOf({}, LORA))

/** Sequences of several lengths with a masked token, in two groups. */
const datums = async (policy: Pick<Engine, 'score'>): Promise<Datum[]> => {
  const rng = new Rng('tinker datums')
  const items = [4, 7, 1, 5].map((length, i) => ({
    promptTokens: [1, 2, 3 + (i % 2)],
    tokens: Array.from({ length }, () => rng.int(16)),
  }))
  const scores = await policy.score(items)
  return items.map((item, i) => ({
    ...item,
    mask: item.tokens.map((_, t) => Number(i !== 1 || t !== 2)),
    oldLogprobs: scores[i].logprobs.map(x => x + 0.3 * rng.normal()),
    refLogprobs: scores[i].logprobs.map(x => x + 0.1 * rng.normal()),
    advantages: item.tokens.map(() => rng.normal()),
    weights: item.tokens.map(() => 0.5 + rng.next()),
  }))
}

const spec = (loss: Record<string, unknown>): LossSpec =>
  lossSchema.parse({ aggregation: { mode: 'sequence-mean' }, ...loss })

const LOSSES: Record<string, LossSpec> = {
  clip: spec({ policy: { kind: 'clip', clipLow: 0.1, clipHigh: 0.3 } }),
  'clip with KL': spec({ policy: { kind: 'clip' }, kl: { kind: 'k3', coef: 0.1 } }),
  'dual clip, token mean': spec({
    policy: { kind: 'clip', dualClip: 3 },
    aggregation: { mode: 'token-mean' },
  }),
  cispo: spec({ policy: { kind: 'cispo', clipLow: 0.2, clipHigh: 0.2 } }),
  gspo: spec({ policy: { kind: 'gspo', clipLow: 0.3, clipHigh: 0.4 } }),
  reinforce: spec({ policy: { kind: 'reinforce' }, aggregation: { mode: 'dr_grpo', scale: 8 } }),
  supervised: spec({
    policy: { kind: 'none' },
    crossEntropyCoef: 1,
    aggregation: { mode: 'token-mean' },
  }),
  'supervised beside the policy': spec({ policy: { kind: 'clip' }, crossEntropyCoef: 0.2 }),
}

const differences = (a: readonly ArrayLike<number>[], b: readonly ArrayLike<number>[]) =>
  Math.max(...a.map((row, i) => Math.max(...Array.from(row, (x, t) => Math.abs(x - b[i][t])))))

const logprobsOf = async (policy: Pick<Engine, 'score'> | TinkerPolicy, items: readonly Datum[]) =>
  (await policy.score(items)).map(({ logprobs }) => logprobs)

describe('a policy on a server of the Tinker protocol', () => {
  it('finds out whether the server sums or takes means, and leaves no model behind', async () => {
    const { policy, server } = await start()
    expect(policy.normalisation).toEqual({
      ...{ crossEntropy: 'sum', policy: 'sum', sequences: 'sum', requests: 'each' },
    })
    const models = server.calls.filter(path => path === 'create_model' || path === 'unload_model')
    expect(models).toEqual(['create_model', 'unload_model', 'create_model'])
    const { policy: other } = await start({ aggregating: 'means' })
    expect(other.normalisation).toEqual({
      ...{ crossEntropy: 'weights', policy: 'positions', sequences: 'mean', requests: 'together' },
    })
  })

  it('holds no samples that it has handed out', async () => {
    const { policy } = await start()
    const request = { prompts: [[1, 2]], maxTokens: 2, seed: 1 }
    const handedOut = async () => new WeakRef(await policy.sample(request))
    const samples = await handedOut()
    await policy.sample(request)
    await new Promise(resolve => setTimeout(resolve))
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    expect(samples.deref()).toBeUndefined()
  })

  it('has the log-probs of the same adapter in this process', async () => {
    const { policy } = await start()
    const twin = localTwin()
    const items = await datums(twin)
    expect(differences(await logprobsOf(policy, items), await logprobsOf(twin, items))).toBeLessThan(1e-5)
  })

  it.each(
    (['sums', 'means'] as const).flatMap(aggregating =>
      Object.keys(LOSSES).map(name => [name, aggregating] as const),
    ),
  )('learns by %s from a server of %s what the local engine learns', async (name, aggregating) => {
    const { policy } = await start({ aggregating })
    const twin = localTwin()
    const items = await datums(twin)
    const before = await logprobsOf(twin, items)
    for (let step = 0; step < 2; step++) {
      const update = { loss: LOSSES[name], optimizer: ADAM }
      const remote = await updateOnce(policy, items, update)
      const local = await updateOnce(twin, items, update)
      expect(remote.loss).toBeCloseTo(local.loss, 5)
      expect(remote.clipFraction).toBe(local.clipFraction)
      expect(remote.tokens).toBe(local.tokens)
      expect(remote.gradNorm! / local.gradNorm).toBeCloseTo(1, 4)
      expect(remote.entropy).toBeUndefined()
    }
    const after = await logprobsOf(twin, items)
    expect(differences(after, before)).toBeGreaterThan(0.05)
    expect(differences(await logprobsOf(policy, items), after)).toBeLessThan(2e-5)
  })

  it('asks for losses by name where that is the same, and in two passes where it is not', async () => {
    const { policy, server } = await start()
    const items = await datums(localTwin())
    const sent = async (loss: LossSpec) => {
      const from = server.bodies.length
      await updateOnce(policy, items, { loss, optimizer: ADAM })
      return server.bodies
        .slice(from)
        .filter(({ path }) => path.startsWith('forward'))
        .map(({ body }) => {
          const input = (body.forward_backward_input ?? body.forward_input) as Record<string, unknown>
          return [input.loss_fn, input.loss_fn_config]
        })
    }
    expect(await sent(LOSSES.clip)).toEqual([['ppo', { clip_low_threshold: 0.9, clip_high_threshold: 1.3 }]])
    expect(await sent(LOSSES['clip with KL'])).toEqual([
      ['cross_entropy', undefined],
      ['cross_entropy', undefined],
    ])
  })

  it('does in two passes what the server lacks by name', async () => {
    const { policy } = await start({ lacks: ['cispo'] })
    const twin = localTwin()
    const items = await datums(twin)
    for (const learner of [policy, twin])
      await updateOnce(learner, items, { loss: LOSSES.cispo, optimizer: ADAM })
    expect(differences(await logprobsOf(policy, items), await logprobsOf(twin, items))).toBeLessThan(2e-5)
  })

  it('adds up batches where the server sums, and says so where it cannot', async () => {
    const { policy } = await start()
    const twin = localTwin()
    const items = await datums(twin)
    const options = { loss: LOSSES.clip }
    for (const learner of [policy, twin]) {
      await learner.accumulate(items.slice(0, 2), options)
      await learner.accumulate(items.slice(2), options)
      await learner.step(ADAM)
    }
    expect(differences(await logprobsOf(policy, items), await logprobsOf(twin, items))).toBeLessThan(2e-5)
    const { policy: mean } = await start({ aggregating: 'means' })
    await mean.accumulate(items, options)
    await expect(mean.accumulate(items, options)).rejects.toThrow(/one batch a step/)
    await expect(mean.step(ADAM)).rejects.toThrow(UsageError)
  })

  it('samples from the newest weights, in groups, each with seeds of its own', async () => {
    const { policy, server } = await start()
    const request = { prompts: [[1, 2], [3]], samplesPerPrompt: 3, maxTokens: 4, seed: 'a', stopTokens: [16] }
    const seen: string[] = []
    const samples = await policy.sample(request, ({ prompt, index }) => seen.push(`${prompt}/${index}`))
    expect(samples.map(({ prompt, index }) => `${prompt}/${index}`)).toEqual([
      ...['0/0', '0/1', '0/2', '1/0', '1/1', '1/2'],
    ])
    expect([...seen].sort()).toEqual(['0/0', '0/1', '0/2', '1/0', '1/1', '1/2'])
    const items = samples.map(({ prompt, tokens }) => ({ promptTokens: request.prompts[prompt], tokens }))
    const scores = await policy.score(items)
    for (const [i, { logprobs, tokens, finishReason }] of samples.entries()) {
      expect(differences([logprobs], [scores[i].logprobs])).toBeLessThan(1e-5)
      expect(finishReason).toBe(tokens.at(-1) === 16 ? 'stop' : 'length')
    }
    const snapshots = () => server.calls.filter(path => path === 'save_weights_for_sampler').length
    expect((await policy.sample(request)).map(({ tokens }) => [...tokens])).toEqual(
      samples.map(({ tokens }) => [...tokens]),
    )
    expect(snapshots()).toBe(1)
    const other = await policy.sample({ ...request, promptSeeds: ['x', 'a/1'] })
    expect(other.slice(3).map(({ tokens }) => [...tokens])).toEqual(
      samples.slice(3).map(({ tokens }) => [...tokens]),
    )
    await updateOnce(policy, await datums(localTwin()), { loss: LOSSES.clip, optimizer: ADAM })
    const later = await policy.sample(request)
    expect(snapshots()).toBe(2)
    const [rescored] = await policy.score([{ promptTokens: [1, 2], tokens: later[0].tokens }])
    expect(differences([later[0].logprobs], [rescored.logprobs])).toBeLessThan(1e-5)
  })

  it('has for a reference the base model, or the adapter as it was when it was frozen', async () => {
    const { policy } = await start()
    const twin = localTwin()
    const items = await datums(twin)
    const reference = async () =>
      (await policy.score(items, { weights: 'reference' })).map(({ logprobs }) => logprobs)
    await expect(reference()).rejects.toThrow(/frozen/)
    const base = await logprobsOf(twin, items)
    await policy.freezeReference()
    await updateOnce(policy, items, { loss: LOSSES.clip, optimizer: ADAM })
    expect(differences(await reference(), base)).toBeLessThan(1e-5)
    const then = await logprobsOf(policy, items)
    await policy.freezeReference()
    await updateOnce(policy, items, { loss: LOSSES.clip, optimizer: ADAM })
    expect(differences(await reference(), then)).toBeLessThan(1e-6)
    expect(differences(await logprobsOf(policy, items), then)).toBeGreaterThan(0.01)
  })

  it('goes on from a checkpoint at the server, by a new client after a restart', async () => {
    const { policy, server, url } = await start()
    const items = await datums(localTwin())
    const update = { loss: LOSSES.clip, optimizer: ADAM }
    await updateOnce(policy, items, update)
    const folder = join(mkdtempSync(join(tmpdir(), 'tinker-run-')), 'step-1')
    await policy.save(folder)
    await updateOnce(policy, items, update)
    const uninterrupted = await logprobsOf(policy, items)
    server.restart()
    await expect(policy.score(items)).rejects.toThrow(/--resume/)
    const resumed = await connect(url)
    await resumed.load(folder)
    await updateOnce(resumed, items, update)
    expect(differences(await logprobsOf(resumed, items), uninterrupted)).toBeLessThan(1e-6)
    server.restart({ states: false })
    const lost = await connect(url)
    await expect(lost.load(folder)).rejects.toThrow(/does not have the checkpoint.*begin again/)
    await expect(lost.load(folder)).rejects.toThrow(CheckpointError)
    const small = await connect(url, { lora: { rank: 2 } })
    await expect(small.load(folder)).rejects.toThrow(/rank 2 .* rank 4/)
    await expect(small.load(tmpdir())).rejects.toThrow(/saved with policy.kind local/)
  })

  it('has the server drop what a checkpoint kept there, and never fails over it', async () => {
    const { policy, server } = await start()
    const root = mkdtempSync(join(tmpdir(), 'tinker-run-'))
    const folders = ['step-1', 'step-2'].map(name => join(root, name))
    for (const folder of folders) await policy.save(folder)
    expect(server.states.size).toBe(2)
    const forget = policy.forget(folders[0])
    rmSync(folders[0], { recursive: true })
    expect(server.states.size).toBe(2)
    await forget()
    expect([...server.states.keys()]).toEqual([readReference(folders[1]).state])
    await forget()
    await policy.forget(root)()
    await policy.load(folders[1])
    const update = { loss: LOSSES.clip, optimizer: ADAM }
    await updateOnce(policy, await datums(localTwin()), update)
    await policy.freezeReference()
    // The reference lives in a model of its own: the state that it came from is not needed.
    expect(server.states.size).toBe(1)
  })

  it('refuses what no server can compute, before anything is asked', async () => {
    const { policy, server } = await start()
    const items = await datums(localTwin())
    const from = server.calls.length
    const critic = spec({ policy: { kind: 'clip' }, value: { coef: 1 } })
    expect(policy.refuses(critic)).toMatch(/^\.value: expected null with policy.kind tinker/)
    const bonus = spec({ policy: { kind: 'clip' }, entropyCoef: 0.1 })
    expect(policy.refuses(bonus)).toMatch(/^\.entropyCoef/)
    expect(policy.refuses(LOSSES.gspo)).toBeNull()
    await expect(policy.accumulate(items, { loss: bonus })).rejects.toThrow(ConfigError)
    await expect(policy.accumulate(items, { loss: LOSSES.clip, temperature: 0.7 })).rejects.toThrow(
      /temperature/,
    )
    await expect(policy.score(items, { temperature: 0.7 })).rejects.toThrow(/temperature/)
    await expect(policy.step(ADAM)).rejects.toThrow(UsageError)
    const wrong = [{ ...items[0], advantages: Float64Array.from(items[0].tokens, () => Number.NaN) }]
    await expect(updateOnce(policy, wrong, { loss: LOSSES.clip, optimizer: ADAM })).rejects.toThrow(
      NumericError,
    )
    expect(server.calls.slice(from)).toEqual([])
    await expect(policy.sample({ prompts: [[1]], maxTokens: 1, topLogprobs: 2 })).rejects.toThrow(
      /topLogprobs/,
    )
    await expect(policy.sample({ prompts: [[1]], maxTokens: 1, stopStrings: ['x'] })).rejects.toThrow(
      /policy.tokenizer/,
    )
    await updateOnce(policy, items, { loss: LOSSES.clip, optimizer: ADAM })
  })

  it('takes no step with a gradient that nobody knows', async () => {
    const { policy } = await start({}, { faults: [{ path: 'optim_step', at: 1000, kind: 500 }] })
    const items = await datums(localTwin())
    const strange = items.map(item => ({ ...item, tokens: item.tokens.map(() => 99) }))
    await expect(policy.accumulate(strange, { loss: LOSSES.clip })).rejects.toThrow(/outside the vocabulary/)
    await expect(policy.step(ADAM)).rejects.toThrow(/not known any more.*--resume/)
  })

  it('says which models there are', async () => {
    const { url } = await serve()
    await expect(connect(url, { model: 'huge' })).rejects.toThrow(/no model huge.*those that it has: tiny/)
  })
})
