import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { LocalPolicy } from '../policy/local/local-policy.ts'
import { TINY } from '../policy/local/tiny-model.fixture.ts'
import type { Policy } from '../policy/policy.ts'
import type { Environment } from '../rl/environment.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import {
  type Credited,
  creditByCritic,
  creditRollouts,
  datumsOf,
  type Graded,
  type Groups,
} from '../rl/rollout.ts'
import { readMetrics, readRollouts, withoutTimings } from '../runs/readers.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { mean, std } from '../util/statistics.ts'
import { FakePolicy } from './fake-policy.fixture.ts'
import { type LoopSettings, train } from './loop.ts'
import { learntFrom, type Recipe } from './recipe.ts'
import { snapshotOf } from './recipe-state.ts'
import type { StepIo } from './rollout.ts'
import { valuesOf } from './scores.ts'
import { rolloutFields } from './update-rows.ts'

const SLOW_MS = 120_000
const folder = mkdtempSync(join(tmpdir(), 'gradus-critic-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Item = Graded<number, number>
type Taught = Credited<number, number>

/** After a turn without the token 2 the environment says something once. */
const echo: Environment<number> = {
  start: () => {
    let said = false
    return {
      reply: async turn => {
        if (said || turn.includes(2)) return null
        said = true
        return [9, 9]
      },
    }
  },
}

/** PPO of two roles on one policy: writers are paid up to 1, readers of what they wrote up to 10. */
const twoRoles = (policy: Policy, seen: Taught[][]): Recipe<{ writers: Item[][]; readers: Item[][] }> => {
  const ask = (io: StepIo, role: string, problems: number[], scale: number) =>
    io.rollOut({
      ...{ role, problems, samples: 4, prompt: (problem: number) => [1, problem, role === 'writer' ? 7 : 8] },
      sampling: { maxTokens: 5, temperature: 1, stopTokens: [0, 2, 4] },
      environment: { world: echo, limits: { turns: 2, tokens: 14 } },
      grade: async items =>
        items.map(({ rollout: { tokens, mask } }) => {
          const own = tokens.filter((_, t) => mask[t] === 1)
          return (scale * own.filter(token => token > 10).length) / Math.max(1, own.length)
        }),
      reward: grade => ({ reward: grade, parts: { high: grade / scale } }),
    })
  return {
    // The second role is asked about what the first one did.
    rollOut: async (_step, io) => {
      const writers = await ask(io, 'writer', [3, 4, 5], 1)
      const about = writers.map(([{ rollout }]) => rollout.tokens[0])
      return { writers, readers: await ask(io, 'reader', about, 10) }
    },
    learn: async (step, { writers, readers }) => {
      const groups = [...writers, ...readers]
      const values_P_G = await valuesOf(policy, groups, { temperature: 1 })
      const credited = creditByCritic(groups, values_P_G, { lambda: 0.95 })
      seen.push(credited.flat())
      const errors = credited.flatMap(group =>
        group.flatMap(({ rollout: { mask }, returns, oldValues }) =>
          [...returns!].flatMap((target, t) => (mask[t] === 1 ? [(target - oldValues![t]) ** 2] : [])),
        ),
      )
      const loss = lossPreset('gradus:rlcer')
      loss.value = { coef: 1, clip: null }
      const how = { loss, temperature: 1, minibatches: 2, epochs: 2 }
      return {
        phases: [{ name: 'policy', datums: datumsOf(credited), ...how }],
        metrics: { valueError: mean(errors) },
        rollouts: learntFrom(credited, item => ({
          ...rolloutFields(step, item),
          problemId: String(item.problem),
          prompt: '',
          response: [...item.rollout.tokens].join(' '),
        })),
      }
    },
    evaluate: async () => [],
  }
}

const settings: LoopSettings = {
  steps: 8,
  seed: 5,
  optimizer: { maxGradNorm: 0 },
  valueLearningRate: { kind: 'constant', peak: 0.05, warmup: 0, floor: 0 },
  learningRate: { kind: 'constant', peak: 1e-4, warmup: 0, floor: 0 },
  evalEvery: 0,
  checkpointEvery: 0,
  keepCheckpoints: 2,
  maxMinutes: null,
  configHash: 'hash',
  monitors: null,
}

const trained = async (name: string, changes: Partial<LoopSettings> = {}, stopAfter = 0) => {
  const run = RunFolder.create(join(folder, name), { config: {} })
  const seen: Taught[][] = []
  const part = async (from: { dir: string; step: number } | null) => {
    const source = { init: { config: TINY, seed: 2 }, valueHead: true }
    const policy = await LocalPolicy.start(source, { threads: 1 })
    try {
      if (from) await policy.load(from.dir)
      const shouldStop = () => from === null && readMetrics(run.dir).length === stopAfter
      const whole = { ...settings, ...changes }
      await train(policy, twoRoles(policy, seen), run, whole, from?.step ?? 0, { shouldStop })
    } finally {
      await policy.close()
    }
  }
  await part(null)
  if (stopAfter > 0) await part(run.resume('hash'))
  run.close()
  return { metrics: readMetrics(run.dir).map(withoutTimings), rollouts: readRollouts(run.dir), seen }
}

/** Advantages of all tokens that one role wrote. */
const advantagesOf = (items: readonly Taught[], role: string): number[] =>
  items.flatMap(({ rollout, advantages }) =>
    rollout.role === role ? [...advantages].filter((_, t) => rollout.mask[t] === 1) : [],
  )

describe('PPO of two roles with a critic', { timeout: SLOW_MS }, () => {
  it('values are filled in before the update, credit is whitened by role, and the critic learns', async () => {
    const { metrics, rollouts, seen } = await trained('whole')
    for (const items of seen)
      for (const role of ['writer', 'reader']) {
        const own = advantagesOf(items, role)
        expect(mean(own)).toBeCloseTo(0, 4)
        expect(std(own, 1)).toBeCloseTo(1, 3)
      }
    const masked = seen.flat().filter(({ rollout }) => rollout.mask.includes(0))
    expect(masked.length).toBeGreaterThan(0)
    for (const { rollout, advantages, returns } of masked)
      rollout.mask.forEach((m, t) => {
        if (m === 0) expect([advantages[t], returns![t]]).toEqual([0, 0])
      })
    const errors = metrics.map(({ valueError }) => Number(valueError))
    expect(errors.at(-1)!).toBeLessThan(errors[0] / 2)
    expect(metrics[0].roleTokens).toEqual({ writer: expect.any(Number), reader: expect.any(Number) })
    expect(metrics.every(({ rollouts: count }) => count === 24)).toBe(true)
    expect(rollouts.map(({ role }) => role)).toEqual(expect.arrayContaining(['writer', 'reader']))
  })

  it('goes on after a stop as if nothing had happened, also when both roles were sampled ahead', async () => {
    for (const pipeline of [false, true]) {
      const { seen: _, ...whole } = await trained(`whole ${pipeline}`, { pipeline })
      const { seen: __, ...stopped } = await trained(`stopped ${pipeline}`, { pipeline }, 3)
      expect(stopped).toEqual(whole)
    }
  })
})

describe('credit by a critic', () => {
  const rollout = (role: string, tokens: number, sample = 0): Graded<string, null>['rollout'] => ({
    ...{ key: `${role}/${sample}`, role, group: role, sample, prompt: [1], end: 'stop' },
    tokens: new Int32Array(tokens),
    mask: new Uint8Array(tokens).fill(1),
    logprobs: new Float32Array(tokens),
    turns: [{ start: 0, end: tokens }],
  })
  const graded = (role: string, reward: number | null): Graded<string, null> => ({
    ...{ problem: '', grade: null, parts: {}, reward },
    rollout: rollout(role, 2),
  })

  it('leaves out what nothing is known of', () => {
    const groups: Groups<Graded<string, null>> = [[graded('a', 1), graded('a', null)]]
    const credited = creditByCritic(
      groups,
      [
        [
          [0.5, 0.25],
          [9, 9],
        ],
      ],
      { whitening: 'none' },
    )
    expect(credited.map(group => group.length)).toEqual([1])
    // Rewards 0, 1; deltas .25 - .5 and 1 - .25; lambda 1 adds them up.
    expect([...credited[0][0].advantages]).toEqual([0.5, 0.75])
    expect([...credited[0][0].returns!]).toEqual([1, 1])
    expect([...credited[0][0].oldValues!]).toEqual([0.5, 0.25])
    expect(datumsOf(credited)[0].datum).toMatchObject({ returns: Float32Array.of(1, 1) })
  })

  it('group-relative credit has no targets', () => {
    expect(creditRollouts([[graded('a', 1)]], [[2]])[0][0]).not.toHaveProperty('returns')
  })

  it('is refused by a policy without a value head', async () => {
    await expect(valuesOf(new FakePolicy(), [[graded('a', 1)]], { temperature: 1 })).rejects.toThrow(
      'critic: expected a policy with a value head, got one without',
    )
  })
})

describe('state of a recipe', () => {
  /** The prompt is what the state was when the step began; learning a step adds its number. */
  const counting = (): Recipe<Graded<number, number>[][]> => {
    let sum = 0
    return {
      rollOut: (step, io) =>
        io.rollOut({
          ...{ problems: [step], samples: 1, prompt: () => [1, sum], sampling: { maxTokens: 4 } },
          grade: async items => items.map(({ rollout }) => Number(rollout.prompt[1])),
          reward: grade => ({ reward: grade, parts: {} }),
          last: true,
        }),
      learn: async (step, groups) => {
        sum += step
        const credited = creditRollouts(groups, [[1]])
        return {
          phases: [],
          metrics: { sum, seen: groups[0][0].grade },
          rollouts: learntFrom(credited, item => ({
            ...rolloutFields(step, item),
            ...{ problemId: '', prompt: String(item.rollout.prompt), response: '' },
          })),
        }
      },
      evaluate: async () => [],
      state: {
        save: () => ({ sum }),
        load: value => {
          sum = (value as { sum: number }).sum
        },
      },
    }
  }

  it.each([false, true])('comes back with the checkpoint, pipelined: %s', async pipeline => {
    const rowsOf = async (name: string, stopAfter = 0) => {
      const run = RunFolder.create(join(folder, `${name} ${pipeline}`), { config: {} })
      const shouldStop = () => readMetrics(run.dir).length === stopAfter
      await train(new FakePolicy(), counting(), run, { ...settings, pipeline }, 0, { shouldStop })
      if (stopAfter > 0) {
        const { step } = run.resume('hash')
        await train(new FakePolicy(), counting(), run, { ...settings, pipeline }, step)
      }
      run.close()
      return readMetrics(run.dir).map(({ sum, seen }) => [sum, seen])
    }
    const whole = await rowsOf('state')
    // Sums of 1..k; a step that was sampled ahead saw that of two steps before.
    const sums = [0, 1, 3, 6, 10, 15, 21, 28, 36]
    const seen = pipeline ? [0, 0, ...sums.slice(1, 7)] : sums.slice(0, 8)
    expect(whole).toEqual(sums.slice(1).map((sum, i) => [sum, seen[i]]))
    for (const stopAfter of [1, 4]) expect(await rowsOf(`stopped ${stopAfter}`, stopAfter)).toEqual(whole)
  })

  it('is copied when it is taken: what was sampled ahead comes back with what it began with', async () => {
    const run = RunFolder.create(join(folder, 'live state'), { config: {} })
    const { rollOut, learn, evaluate } = counting()
    const seen: number[] = []
    const recipe: Recipe<Graded<number, number>[][]> = {
      ...{ rollOut, evaluate },
      learn: (step, groups) => {
        seen.push(step)
        return learn(step, groups)
      },
      // The list itself, not a copy.
      state: { save: () => ({ seen }), load: () => {} },
    }
    const shouldStop = () => seen.length === 2
    await train(new FakePolicy(), recipe, run, { ...settings, pipeline: true }, 0, { shouldStop })
    const { dir } = run.resume('hash')
    expect(JSON.parse(readFileSync(join(dir, 'recipe-state.json'), 'utf8'))).toEqual({
      now: { seen: [1, 2] },
      begun: [{ seen: [1] }],
    })
    run.close()
  })

  it.each([
    [
      'Float32Array',
      { kept: [{ advantages: new Float32Array(2) }] },
      'state.kept[0].advantages: expected JSON, got Float32Array',
    ],
    ['Map', { bank: new Map([[1, 2]]) }, 'state.bank: expected JSON, got Map'],
    ['NaN', { mean: Number.NaN }, 'state.mean: expected JSON, got NaN'],
    ['a hole', { list: [undefined] }, 'state.list[0]: expected JSON, got undefined'],
  ])('that JSON would change is refused: %s', (_, value, message) => {
    expect(() => snapshotOf({ save: () => value })).toThrow(message)
  })

  it('may leave out what is not there', () => {
    expect(snapshotOf({ save: () => ({ a: undefined, b: [null, 'x', true, 0.1] }) })).toEqual({
      b: [null, 'x', true, 0.1],
    })
  })

  it('that is missing or broken is an error that says where', async () => {
    const run = RunFolder.create(join(folder, 'broken state'), { config: {} })
    const stop = { shouldStop: () => readMetrics(run.dir).length === 2 }
    await train(new FakePolicy(), counting(), run, settings, 0, stop)
    const { dir, step } = run.resume('hash')
    rmSync(join(dir, 'recipe-state.json'))
    await expect(train(new FakePolicy(), counting(), run, settings, step)).rejects.toThrow(
      /recipe-state\.json: expected the recipe's state, got no file/,
    )
    run.close()
  })
})
