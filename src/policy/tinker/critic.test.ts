import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Datum } from '../../rl/datum.ts'
import { lossSchema } from '../../rl/loss.ts'
import { FakeServer } from '../../tinker/fake-server.fixture.ts'
import { TinkerError } from '../../tinker/index.ts'
import { tinyEngine } from '../local/tiny-model.fixture.ts'
import type { CriticModel, Policy } from '../policy.ts'
import { updateOnce } from '../update.ts'
import { adapterOf, engineService, type ServiceOptions } from './engine-service.fixture.ts'
import { openTinker, tinkerSchema } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-server-critic-'))
afterAll(() => rmSync(folder, { recursive: true }))

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
})

const serve = async (critics: ServiceOptions['critics']) => {
  const server = new FakeServer(engineService({ critics }))
  open.push(server)
  return { server, url: await server.listen() }
}

type WithCritic = Policy & { critic: CriticModel }

const connect = async (url: string): Promise<WithCritic> => {
  const settings = tinkerSchema.parse({
    kind: 'tinker',
    url,
    model: 'tiny',
    lora: { rank: 4 },
    reduction: 'sums',
  })
  const policy = (await openTinker(settings, { seed: 3 }, true)) as WithCritic
  open.push(policy)
  return policy
}

/** The same critic in this process. */
const localTwin = () => tinyEngine({ ...adapterOf({}, { rank: 4, seed: 3 }), valueHead: true })

const LOSS = lossSchema.parse({
  policy: { kind: 'clip' },
  value: { coef: 0.5, clip: 0.5 },
  aggregation: { mode: 'sequence-mean' },
})
const ITEMS = [
  { promptTokens: [1, 2, 3], tokens: [4, 5, 6, 7] },
  { promptTokens: [1], tokens: [8, 9] },
]

const datumsOf = async ({ critic }: Pick<WithCritic, 'critic'>): Promise<Datum[]> =>
  (await critic.score(ITEMS)).map(({ values }, i) => ({
    ...ITEMS[i],
    mask: ITEMS[i].tokens.map((_, t) => Number(t !== 1)),
    oldLogprobs: ITEMS[i].tokens.map(() => -2),
    advantages: ITEMS[i].tokens.map(() => 1),
    returns: ITEMS[i].tokens.map((_, t) => 1 - i + t / 4),
    oldValues: values!,
  }))

const valuesOf = async ({ critic }: Pick<WithCritic, 'critic'>) =>
  (await critic.score(ITEMS)).flatMap(({ values }) => [...values!])

/** But for rounding. */
const close = (found: readonly number[], expected: readonly number[]) => {
  expect(found).toHaveLength(expected.length)
  found.forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i], 5)
  })
}

/** Half the squared errors that the steps tell of. */
const learn = async (policy: WithCritic, steps: number): Promise<number[]> => {
  const values: number[] = []
  for (let step = 0; step < steps; step++) {
    const optimizer = { learningRate: 0, valueLearningRate: 1e-2 }
    const { parts } = await updateOnce(policy, await datumsOf(policy), { loss: LOSS, optimizer })
    values.push(parts!.value!)
  }
  return values
}

describe('a critic on a server', () => {
  it('gives the values, and takes the steps, of the same critic in this process', async () => {
    const { server, url } = await serve('offered')
    const [policy, twin] = [await connect(url), localTwin()]
    await policy.critic.assertThere!()
    const before = await valuesOf(policy)
    const own = { critic: { ...twin, close: async () => {} } }
    close(before, await valuesOf(own))
    expect(new Set(before).size).toBe(6)

    const logprobs = await policy.score(ITEMS)
    const datums = await datumsOf(policy)
    const none = { ...LOSS, policy: { ...LOSS.policy, kind: 'none' as const } }
    const [told] = await learn(policy, 1)
    const { parts } = await updateOnce(twin, datums, { loss: none, optimizer: { learningRate: 1e-2 } })
    expect(told).toBeCloseTo(parts!.value!, 5)
    const after = await valuesOf(own)
    close(await valuesOf(policy), after)
    expect(after[0]).not.toBeCloseTo(before[0], 3)
    expect(await policy.score(ITEMS)).toEqual(logprobs)

    const sent = server.bodies
      .filter(({ path }) => path === 'create_model')
      .map(({ body }) => body.model_role)
    expect(sent).toEqual([undefined, 'critic'])
  })

  it('comes back from a checkpoint, which names its state; what it left there is taken away', async () => {
    const { server, url } = await serve('offered')
    const policy = await connect(url)
    await learn(policy, 2)
    const saved = join(folder, 'two')
    await policy.save(saved)
    const after = await learn(policy, 2)
    const resumed = await connect(url)
    await resumed.load(saved)
    await resumed.critic.assertThere!()
    const again = await learn(resumed, 2)
    close(again, after)
    expect(server.states.size).toBe(2)
    await policy.forget!(saved)()
    expect(server.states.size).toBe(0)
  })

  it.each([
    ['makes none', 'refused' as const, /got none: .*only supports model_role='policy'/],
    ['has not heard of critics', 'unknown' as const, /got none: .*unknown ppo_critic/],
  ])('is asked for first, and a server that %s is told of with what to do', async (_, critics, message) => {
    const { server, url } = await serve(critics)
    const opened = connect(url).then(policy => policy.critic.assertThere!())
    const error = await opened.then(
      () => null,
      (reason: unknown) => reason as TinkerError,
    )
    expect(error).toBeInstanceOf(TinkerError)
    expect(error!.message).toMatch(/^critic: expected one from http/)
    expect(error!.message).toMatch(message)
    expect(error!.hint).toMatch(/^set critic to null: a reward is then compared with those of its group/)
    expect(server.calls).not.toContain('asample')
  })
})
