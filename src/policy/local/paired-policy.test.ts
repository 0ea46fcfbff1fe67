import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { CheckpointError } from '../../util/errors.ts'
import { updateOnce } from '../update.ts'
import { LocalPolicy } from './local-policy.ts'
import type { ModelSource } from './model-source.ts'
import { PairedPolicy } from './paired-policy.ts'
import { TINY } from './tiny-model.fixture.ts'

const SOURCE: ModelSource = { init: { config: TINY, seed: 1 } }
const THREADS = { sampler: { threads: 1 }, trainer: { threads: 1 } }
const REQUEST = { prompts: [[1, 2, 3]], samplesPerPrompt: 2, maxTokens: 20, seed: 5, temperature: 0 }
const ITEM = [{ promptTokens: [1], tokens: [2, 3] }]
const DATUM = {
  promptTokens: [1],
  tokens: Array.from({ length: 20 }, (_, t) => t % 17),
  mask: new Array(20).fill(1),
  oldLogprobs: new Array(20).fill(0),
  advantages: new Array(20).fill(1),
}
const UPDATE = { loss: LOSS_PRESETS['gradus:supervised'], optimizer: { learningRate: 0.1 } }

const withPolicy = async (run: (policy: PairedPolicy) => Promise<void>, source = SOURCE) => {
  const policy = await PairedPolicy.start(source, THREADS)
  try {
    await run(policy)
  } finally {
    await policy.close()
  }
}

describe('a policy of two engines', { timeout: 60_000 }, () => {
  it('takes weights again after a time when they could not be taken', async () => {
    const failures = [new Error('out of memory')]
    const engine = {
      ended: new Promise(() => {}),
      step: async () => ({ gradNorm: 1 }),
      shareWeights: async () => [],
      takeWeights: async () => {
        const failure = failures.pop()
        if (failure) throw failure
      },
    } as unknown as LocalPolicy
    const policy = new PairedPolicy(engine, engine)
    await policy.step({ learningRate: 1 })
    await expect(policy.syncWeights()).rejects.toThrow('out of memory')
    await policy.syncWeights()
  })

  it.each<[string, ModelSource]>([
    ['all weights', SOURCE],
    ['an adapter', { ...SOURCE, lora: { rank: 2, alpha: 4, targetModules: ['q_proj'] } }],
  ])('keeps what it samples with until it is told to take the newest: %s', async (_, source) => {
    await withPolicy(async policy => {
      const score = async (weights: 'sampling' | 'current' | 'reference') =>
        (await policy.score(ITEM, { weights }))[0].logprobs
      const before = { samples: await policy.sample(REQUEST), logprobs: await score('current') }
      await policy.freezeReference()
      expect(await score('sampling')).toEqual(before.logprobs)
      await policy.syncWeights()

      await updateOnce(policy, [DATUM], UPDATE)
      await updateOnce(policy, [DATUM], UPDATE)
      expect(await score('current')).not.toEqual(before.logprobs)
      expect(await score('sampling')).toEqual(before.logprobs)
      expect(await policy.sample(REQUEST)).toEqual(before.samples)

      await policy.syncWeights()
      expect(await score('sampling')).toEqual(await score('current'))
      expect(await score('reference')).toEqual(before.logprobs)
      expect((await policy.sample(REQUEST))[0].logprobs).not.toEqual(before.samples[0].logprobs)
    }, source)
  })

  it('samples while it learns', async () => {
    await withPolicy(async policy => {
      await policy.sample(REQUEST)
      const finished: string[] = []
      const note = (what: string) => () => void finished.push(what)
      const many = Array.from({ length: 64 }, () => DATUM)
      const learning = [1, 2, 3].map(() => updateOnce(policy, many, UPDATE).then(note('update')))
      await policy.sample({ ...REQUEST, maxTokens: 1 }).then(note('sample'))
      await Promise.all(learning)
      expect(finished[3]).toBe('update')
    })
  })

  it('waits for an update under way, and finishes samples under way with the old weights', async () => {
    await withPolicy(async policy => {
      const before = await policy.sample(REQUEST)
      const [updating, sampling] = [updateOnce(policy, [DATUM], UPDATE), policy.sample(REQUEST)]
      const synced = [policy.syncWeights(), policy.syncWeights()]
      await Promise.all([updating, ...synced])
      expect(await sampling).toEqual(before)
      const [sampled, current] = [await policy.score(ITEM, { weights: 'sampling' }), await policy.score(ITEM)]
      expect(sampled).toEqual(current)
    })
  })

  it('has the same weights in both engines after loading, and goes on as it would have', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gradus-paired-policy-'))
    await withPolicy(async policy => {
      await updateOnce(policy, [DATUM], UPDATE)
      await policy.save(join(folder, 'saved'))
      const expected = await updateOnce(policy, [DATUM], UPDATE)
      await policy.load(join(folder, 'saved'))
      const scores = [await policy.score(ITEM), await policy.score(ITEM, { weights: 'sampling' })]
      expect(scores[0]).toEqual(scores[1])
      // The optimiser's state came along.
      expect(await updateOnce(policy, [DATUM], UPDATE)).toEqual(expected)
      await expect(policy.load('/nowhere')).rejects.toThrow(CheckpointError)
    })
    rmSync(folder, { recursive: true })
  })

  it('ends as a whole: closed, or with either engine', async () => {
    const policy = await PairedPolicy.start(SOURCE, THREADS)
    const running = [policy.sample(REQUEST), updateOnce(policy, [DATUM], UPDATE)]
    const closing = policy.close()
    for (const call of running) await expect(call).rejects.toThrow('the policy is closed')
    await closing
    await expect(policy.syncWeights()).rejects.toThrow('the policy is closed')

    for (const failing of [0, 1]) {
      const engines = [
        await LocalPolicy.start(SOURCE, { threads: 1 }),
        await LocalPolicy.start(SOURCE, { threads: 1 }),
      ]
      const pair = new PairedPolicy(engines[0], engines[1])
      const calls = [pair.sample(REQUEST), updateOnce(pair, [DATUM], UPDATE)]
      void engines[failing].close(new Error('out of memory'))
      for (const call of calls) await expect(call).rejects.toThrow('out of memory')
      await expect(pair.sample(REQUEST)).rejects.toThrow('out of memory')
      await expect(pair.score(ITEM)).rejects.toThrow('out of memory')
    }
  })

  it('leaves no engine behind when one cannot start', async () => {
    await expect(PairedPolicy.start({ folder: '/nowhere' }, THREADS)).rejects.toThrow(CheckpointError)
  })

  it('refuses weights of another model', async () => {
    const other = await LocalPolicy.start(
      { init: { config: { ...TINY, layers: 1 }, seed: 1 } },
      { threads: 1 },
    )
    const own = await LocalPolicy.start(SOURCE, { threads: 1 })
    try {
      await expect(own.takeWeights(await other.shareWeights())).rejects.toThrow(
        /start all engines from the same/,
      )
    } finally {
      await other.close()
      await own.close()
    }
  })
})
