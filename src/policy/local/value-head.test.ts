import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { criticCredit } from '../../rl/critic.ts'
import type { Datum } from '../../rl/datum.ts'
import { lossSchema } from '../../rl/loss.ts'
import type { OptimizerSettings } from '../policy.ts'
import { updateOnce } from '../update.ts'
import type { Engine } from './engine.ts'
import { LocalPolicy } from './local-policy.ts'
import { ENGINE, SAME_BITS, TINY, tinyEngine } from './tiny-model.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-value-head-'))
afterAll(() => rmSync(folder, { recursive: true }))

const LOSS = lossSchema.parse({
  policy: { kind: 'clip' },
  value: { coef: 0.5, clip: 0.5 },
  aggregation: { mode: 'token-mean' },
})
const SOURCE = { init: { config: TINY, seed: 1 }, valueHead: true }
const isHead = ({ name }: { name: string }) => name.startsWith('value_head.')

/** Rollouts of two turns, tool output between, with the critic's own estimates. */
const rollouts = async (engine: Pick<Engine, 'score'>): Promise<Datum[]> => {
  const items = [
    { promptTokens: [1, 2], tokens: [3, 4, 5, 6, 7, 8] },
    { promptTokens: [1, 2], tokens: [9, 4, 5, 10, 11, 12] },
    { promptTokens: [3], tokens: [13, 4, 5, 14, 15, 2] },
  ]
  const mask = [1, 0, 0, 1, 1, 1]
  const scores = await engine.score(items)
  const credit = criticCredit(
    scores.map(({ values }, i) => ({ role: 'agent', mask, values: values!, reward: i - 0.5 })),
  )
  return items.map((item, i) => ({ ...item, mask, oldLogprobs: scores[i].logprobs, ...credit[i] }))
}

/** Changes of every weight by one update, those of the head and those of the rest. */
const changes = async (optimizer: OptimizerSettings) => {
  const engine = tinyEngine(SOURCE, SAME_BITS)
  const before = engine.parameters.trained.map(({ param }) => param.view.slice())
  const { gradNorm } = await updateOnce(engine, await rollouts(engine), { loss: LOSS, optimizer })
  await engine.parameters.pull({ optimizer: true })
  const of = (head: boolean) =>
    engine.parameters.trained.flatMap((tensor, i) =>
      isHead(tensor) === head ? [...tensor.param.view].map((x, j) => x - before[i][j]) : [],
    )
  const moments = (head: boolean) =>
    engine.parameters.trained.flatMap(tensor => (isHead(tensor) === head ? [...tensor.m.view] : []))
  return {
    head: of(true),
    trunk: of(false),
    headMoments: moments(true),
    trunkMoments: moments(false),
    gradNorm,
  }
}

const largest = (values: number[]) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0)

describe('a value head', () => {
  it('gives a value a token, through the worker as in this thread', async () => {
    const policy = await LocalPolicy.start(SOURCE, ENGINE)
    const item = [{ promptTokens: [1, 2], tokens: [3, 4, 5] }]
    const [{ values }] = await policy.score(item)
    await policy.close()
    expect(values).toHaveLength(3)
    expect(new Set(values).size).toBe(3)
    expect(values).toEqual((await tinyEngine(SOURCE).score(item))[0].values)
    expect((await tinyEngine().score(item))[0].values).toBeUndefined()
  })

  it('moves by its own learning rate, the trunk by the other', async () => {
    // Adam's first step is the learning rate itself, wherever there is a gradient.
    const own = await changes({ learningRate: 1e-2, valueLearningRate: 1e-3 })
    expect(largest(own.head)).toBeCloseTo(1e-3, 5)
    expect(largest(own.trunk)).toBeCloseTo(1e-2, 5)
    const still = await changes({ learningRate: 1e-2, valueLearningRate: 0 })
    expect(largest(still.head)).toBe(0)
    expect(still.trunk).toEqual(own.trunk)
    const alone = await changes({ learningRate: 0, valueLearningRate: 1e-3 })
    expect(alone.head).toEqual(own.head)
    expect(largest(alone.trunk)).toBe(0)
    const together = await changes({ learningRate: 1e-2 })
    expect(largest(together.head)).toBeCloseTo(1e-2, 5)
    expect(together).toEqual(await changes({ learningRate: 1e-2, valueLearningRate: 1e-2 }))
  })

  it('is clipped together with the trunk, by one norm over both', async () => {
    const rates = { learningRate: 1e-2, valueLearningRate: 1e-3 }
    const [free, clipped] = [
      await changes({ ...rates, maxGradNorm: 0 }),
      await changes({ ...rates, maxGradNorm: 0.01 }),
    ]
    expect(free.gradNorm).toBeGreaterThan(0.1)
    expect(clipped.gradNorm).toBe(free.gradNorm)
    // The first moments are a tenth of the gradients as the step took them.
    const norm = 10 * Math.hypot(...clipped.headMoments, ...clipped.trunkMoments)
    expect(norm).toBeCloseTo(0.01, 6)
    for (const part of ['headMoments', 'trunkMoments'] as const)
      expect(largest(clipped[part]) / largest(free[part])).toBeCloseTo(0.01 / free.gradNorm, 6)
  })

  it('comes back from a checkpoint with its moments: going on is bit for bit what not stopping gives', async () => {
    const learn = async (engine: Engine, steps: number) => {
      const optimizer = { learningRate: 1e-2, valueLearningRate: 5e-3 }
      for (let step = 0; step < steps; step++)
        await updateOnce(engine, await rollouts(engine), { loss: LOSS, optimizer })
    }
    const stateOf = async ({ parameters }: Engine) => {
      await parameters.pull({ optimizer: true })
      return parameters.trained.map(({ name, param, m, v }) => [name, ...[param, m, v].map(x => [...x.view])])
    }
    const [straight, stopped] = [tinyEngine(SOURCE, SAME_BITS), tinyEngine(SOURCE, SAME_BITS)]
    await learn(straight, 4)
    await learn(stopped, 2)
    await stopped.save(join(folder, 'two'))
    const opened = tinyEngine({ folder: join(folder, 'two'), valueHead: true, seed: 9 }, SAME_BITS)
    const item = [{ promptTokens: [1], tokens: [2, 3] }]
    expect(await opened.score(item)).toEqual(await stopped.score(item))
    await opened.load(join(folder, 'two'))
    const head = opened.parameters.trained.filter(isHead)
    expect(head.map(({ name }) => name)).toEqual(['value_head.weight', 'value_head.bias'])
    for (const { m, v } of head) {
      expect(largest([...m.view])).toBeGreaterThan(0)
      expect(largest([...v.view])).toBeGreaterThan(0)
    }
    await learn(opened, 2)
    expect(await stateOf(opened)).toEqual(await stateOf(straight))
  })

  it('learns what rollouts are worth', async () => {
    const engine = tinyEngine(SOURCE)
    const data = await rollouts(engine)
    const loss = lossSchema.parse({
      policy: { kind: 'none' },
      value: { coef: 1 },
      aggregation: { mode: 'token-mean' },
    })
    const losses = []
    for (let step = 0; step < 40; step++)
      losses.push((await updateOnce(engine, data, { loss, optimizer: { learningRate: 1e-2 } })).loss)
    expect(losses[39]).toBeLessThan(losses[0] / 10)
  })
})
