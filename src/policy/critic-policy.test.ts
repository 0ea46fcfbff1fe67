import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Datum } from '../rl/datum.ts'
import { lossSchema } from '../rl/loss.ts'
import { mean } from '../util/descriptive.ts'
import { CriticPolicy } from './critic-policy.ts'
import type { Engine } from './local/engine.ts'
import { SAME_BITS, TINY, tinyEngine } from './local/tiny-model.fixture.ts'
import { updateOnce } from './update.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-own-critic-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LOSS = lossSchema.parse({
  policy: { kind: 'clip' },
  value: { coef: 0.5, clip: 0.5 },
  aggregation: { mode: 'token-mean' },
})
const OPTIMIZER = { learningRate: 1e-2, valueLearningRate: 3e-3, maxGradNorm: 0.1 }
const SOURCES = {
  policy: { init: { config: TINY, seed: 1 } },
  critic: { init: { config: { ...TINY, hiddenSize: 8, intermediateSize: 12, headDim: 2 }, seed: 2 } },
}

const start = (from: { policy: object; critic: object } = SOURCES) => {
  const [learner, critic] = [
    tinyEngine(from.policy, SAME_BITS),
    tinyEngine({ ...from.critic, valueHead: true }, SAME_BITS),
  ]
  const close = async () => {}
  return { learner, critic, policy: new CriticPolicy({ ...learner, close }, { ...critic, close }) }
}

const ITEMS = [
  { promptTokens: [1, 2], tokens: [3, 4, 5, 6] },
  { promptTokens: [3], tokens: [7, 8] },
]

/** Of returns that nothing computed: the critic is to learn them, whatever they are. */
const datumsOf = async ({ policy }: ReturnType<typeof start>): Promise<Datum[]> => {
  const [logprobs, values] = [await policy.score(ITEMS), await policy.critic.score(ITEMS)]
  return ITEMS.map((item, i) => ({
    ...item,
    mask: item.tokens.map((_, t) => Number(t !== 1)),
    oldLogprobs: logprobs[i].logprobs,
    advantages: item.tokens.map((_, t) => (t % 2 === 0 ? 1 : -1)),
    returns: item.tokens.map((_, t) => i - t / 2),
    oldValues: values[i].values!,
  }))
}

const digests = async ({ learner, critic }: { learner: Engine; critic: Engine }) => [
  await learner.digest(),
  await critic.digest(),
]

describe('a critic of its own', () => {
  it('has values of its own, where the policy has none, and learns as each alone would', async () => {
    const both = start()
    const { policy, learner } = both
    expect((await policy.score(ITEMS))[0].values).toBeUndefined()
    const head = tinyEngine({ ...SOURCES.policy, valueHead: true }, SAME_BITS)
    expect((await policy.critic.score(ITEMS))[0].values).not.toEqual((await head.score(ITEMS))[0].values)

    const datums = await datumsOf(both)
    const [alone, value] = [start().learner, start().critic]
    const stats = await updateOnce(policy, datums, { loss: LOSS, optimizer: OPTIMIZER })
    const own = await updateOnce(alone, datums, { loss: { ...LOSS, value: null }, optimizer: OPTIMIZER })
    const none = { ...LOSS.policy, kind: 'none' as const }
    const learnt = await updateOnce(value, datums, {
      loss: { ...LOSS, policy: none },
      optimizer: { ...OPTIMIZER, learningRate: OPTIMIZER.valueLearningRate },
    })
    expect(await digests(both)).toEqual([await alone.digest(), await value.digest()])
    expect(await learner.digest()).not.toBe(await start().learner.digest())
    expect(stats.loss).toBeCloseTo(own.loss + learnt.loss, 6)
    expect(stats.gradNorm).toBe(own.gradNorm)
  })

  it('learns while the policy rests, and rests where a loss has no value term', async () => {
    const both = start()
    const before = await digests(both)
    const datums = await datumsOf(both)
    const still = { ...OPTIMIZER, learningRate: 0 }
    await updateOnce(both.policy, datums, { loss: LOSS, optimizer: still })
    const [policy, critic] = await digests(both)
    expect(policy).toBe(before[0])
    expect(critic).not.toBe(before[1])
    await updateOnce(both.policy, datums, { loss: { ...LOSS, value: null }, optimizer: OPTIMIZER })
    const after = await digests(both)
    expect(after[0]).not.toBe(policy)
    expect(after[1]).toBe(critic)
  })

  it('is told by half the mean squared error, which falls', async () => {
    const both = start()
    const datums = await datumsOf(both)
    // Without a clip: (v - R)^2 / 2, over the policy's own tokens.
    const errors = datums.flatMap(({ returns, oldValues, mask }) =>
      [...returns!].flatMap((target, t) => (mask[t] ? [(oldValues![t] - target) ** 2 / 2] : [])),
    )
    const loss = { ...LOSS, value: { coef: 1, clip: null } }
    const losses: number[] = []
    for (let step = 0; step < 40; step++) {
      const { parts } = await updateOnce(both.policy, datums, {
        loss,
        optimizer: { learningRate: 0, valueLearningRate: 1e-2 },
      })
      losses.push(parts!.value!)
    }
    expect(losses[0]).toBeCloseTo(mean(errors), 5)
    expect(losses[39]).toBeLessThan(losses[0] / 10)
  })

  it('comes back from a checkpoint: going on is bit for bit what not stopping gives', async () => {
    const learn = async (both: ReturnType<typeof start>, steps: number) => {
      for (let step = 0; step < steps; step++)
        await updateOnce(both.policy, await datumsOf(both), { loss: LOSS, optimizer: OPTIMIZER })
    }
    const [straight, stopped] = [start(), start()]
    await learn(straight, 4)
    await learn(stopped, 2)
    const saved = join(folder, 'two')
    await stopped.policy.save(saved)
    expect(existsSync(join(saved, 'critic', 'value_head.safetensors'))).toBe(true)
    const opened = start({ policy: { folder: saved }, critic: { folder: join(saved, 'critic') } })
    await opened.policy.load(saved)
    await learn(opened, 2)
    expect(await digests(opened)).toEqual(await digests(straight))
  })
})
