import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lossPreset } from '../rl/loss-presets.ts'
import { creditRollouts, datumsOf, type Graded } from '../rl/rollout.ts'
import { readRollouts } from '../runs/readers.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { FakePolicy } from './fake-policy.fixture.ts'
import { type LoopSettings, train } from './loop.ts'
import { learntFrom, type Recipe } from './recipe.ts'
import type { RollOutRequest, StepIo } from './rollout.ts'

type Rolled = Graded<string, number>[][]

const SETTINGS: LoopSettings = {
  steps: 4,
  seed: 7,
  optimizer: {},
  learningRate: { kind: 'linear', peak: 1, warmup: 0, floor: 0 },
  evalEvery: 0,
  checkpointEvery: 1,
  keepCheckpoints: 10,
  maxMinutes: null,
  configHash: 'hash',
  pipeline: true,
}

const REQUEST: RollOutRequest<string, number> = {
  problems: ['a', 'b'],
  prompt: () => [1],
  samples: 2,
  sampling: { maxTokens: 4, temperature: 1 },
  grade: async items => items.map(({ rollout }) => rollout.tokens[0]),
  reward: grade => ({ reward: grade, parts: {} }),
}

const recipeOf = (own: Partial<Recipe<Rolled>>): Recipe<Rolled> => ({
  rollOut: (_, io) => io.rollOut({ ...REQUEST, last: true }),
  learn: async (step, groups) => {
    const credited = creditRollouts(
      groups,
      groups.map(group => group.map(({ rollout }) => 2 * rollout.sample - 1)),
    )
    const how = { loss: lossPreset('trl:grpo'), temperature: 1, minibatches: 1, epochs: 1 }
    return {
      phases: [{ name: 'policy', datums: datumsOf(credited), ...how }],
      metrics: {},
      rollouts: learntFrom(credited, ({ reward, rollout: { role, key, tokens } }) => ({
        ...{ step, role, problemId: key, prompt: '', response: [...tokens].join(' '), reward },
      })),
    }
  },
  evaluate: async () => [],
  ...own,
})

describe('a run that has sampled ahead', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-ahead-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Rollouts of a run; its tokens tell how many updates the weights had. Stopped after two steps where `between` is given. */
  const rolloutsOf = async (
    makeRecipe: () => Recipe<Rolled>,
    between?: (checkpoint: string) => void,
    changes: Partial<LoopSettings> = {},
  ) => {
    const run = RunFolder.create(join(folder, between ? 'in parts' : 'at once'), { config: {} })
    const part = (done: number, stopAfter: number) => {
      const policy: FakePolicy = new FakePolicy(() => [done + policy.updates.length])
      const shouldStop = () => done + policy.updates.length === stopAfter
      return train(policy, makeRecipe(), run, { ...SETTINGS, ...changes }, done, { shouldStop })
    }
    try {
      if (between) {
        await part(0, 2)
        between(run.resume('hash').dir)
        await part(2, 4)
      } else await part(0, 4)
      return readRollouts(run.dir)
    } finally {
      run.close()
    }
  }

  /** The first turn ends at once, the second one long after what was asked for beside it. */
  const slow: RollOutRequest<string, number>['environment'] = {
    world: {
      start: () => ({
        reply: async () => {
          await new Promise(resolve => setTimeout(resolve, 15))
          return [5]
        },
      }),
    },
    limits: { turns: 2, tokens: 20 },
  }
  const twoAtOnce = async (_: number, io: StepIo) => {
    const slower = { ...REQUEST, role: 'slower', environment: slow }
    return (await Promise.all([io.rollOut(slower), io.rollOut({ ...REQUEST, last: true })])).flat()
  }

  it('goes on the same where a request beside the last one takes longer', async () => {
    const recipe = () => recipeOf({ rollOut: twoAtOnce })
    const whole = await rolloutsOf(recipe)
    // Both turns of a step sampled ahead come from the weights of its beginning: no update in between.
    expect(whole.filter(({ role }) => role === 'slower').map(({ response }) => response)).toEqual(
      expect.arrayContaining(['0 5 0', '1 5 1', '2 5 2']),
    )
    expect(await rolloutsOf(recipe, () => {})).toEqual(whole)
  })

  it.each([
    ['one step', { pipeline: true }, [0, 1, 2]],
    ['two steps', { pipeline: 2 }, [0, 1]],
  ] as const)(
    'goes on the same where the recipe hands out its state itself, and changes it later: %s ahead',
    async (_, changes, seen) => {
      const recipe = () => {
        const bank = { learnt: 0 }
        const plain = recipeOf({})
        return recipeOf({
          rollOut: (_, io) => {
            const reward = bank.learnt
            return io.rollOut({ ...REQUEST, reward: () => ({ reward, parts: {} }), last: true })
          },
          learn: (step, groups) => {
            bank.learnt++
            return plain.learn(step, groups)
          },
          state: { save: () => bank, load: value => Object.assign(bank, value) },
        })
      }
      const whole = await rolloutsOf(recipe, undefined, changes)
      expect(new Set(whole.map(({ reward }) => reward))).toEqual(new Set(seen))
      expect(await rolloutsOf(recipe, () => {}, changes)).toEqual(whole)
    },
  )

  it('goes on from a state as it was written before there could be two steps ahead', async () => {
    const whole = await rolloutsOf(withState)
    const old = (checkpoint: string) => {
      const path = join(checkpoint, 'recipe-state.json')
      const { now, begun } = JSON.parse(readFileSync(path, 'utf8')) as { now: unknown; begun: unknown[] }
      expect(begun).toHaveLength(1)
      writeFileSync(path, JSON.stringify({ now, ahead: begun[0] }))
    }
    expect(await rolloutsOf(withState, old)).toEqual(whole)
  })

  const withState = () => recipeOf({ state: { save: () => ({ n: 1 }), load: () => {} } })

  it('is not gone on with where one of its two files is gone', async () => {
    const without = (name: string) => (checkpoint: string) => {
      expect(existsSync(join(checkpoint, name))).toBe(true)
      rmSync(join(checkpoint, name))
    }
    const parts = rolloutsOf(() => recipeOf({}), without('sampled-ahead.json'))
    await expect(parts).rejects.toThrow(/sampled-ahead\.json: expected what sampled-ahead\.safetensors/)
  })

  it('is not gone on with where they are those of another step', async () => {
    const swap = (checkpoint: string) => {
      const path = join(checkpoint, 'sampled-ahead.json')
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/"7\/\d+/g, '"7/9'))
    }
    await expect(rolloutsOf(() => recipeOf({}), swap)).rejects.toThrow(
      /expected rollouts that were sampled ahead for step \d, got those of seed 7\/9/,
    )
  })

  it.each([
    ['the rollouts', ['sampled-ahead.json', 'sampled-ahead.safetensors']],
    ['the state that they began with', ['recipe-state.json']],
  ])('is not gone on with without %s', async (_, names) => {
    const lose = (checkpoint: string) => {
      for (const path of names.map(name => join(checkpoint, name))) {
        if (path.endsWith('state.json')) {
          const { now } = JSON.parse(readFileSync(path, 'utf8')) as { now: unknown }
          writeFileSync(path, JSON.stringify({ now }))
        } else rmSync(path)
      }
    }
    await expect(rolloutsOf(withState, lose)).rejects.toThrow(
      /expected rollouts that were sampled ahead and the recipe's state of then, got (0 of the first and 1|1 of the first and 0) of the second/,
    )
  })

  it.each([
    ['undefined', undefined, 'state: expected JSON, got undefined'],
    ['a Map', { bank: new Map([[1, 2]]) }, 'state.bank: expected JSON, got Map'],
    ['a bigint', { count: 1n }, 'state.count: expected JSON, got a bigint'],
    ['a number that JSON lacks', [Number.NaN], 'state[0]: expected JSON, got NaN'],
  ])('refuses a state that no resume would bring back: %s', async (_, value, message) => {
    const recipe = () => recipeOf({ state: { save: () => value, load: () => {} } })
    await expect(rolloutsOf(recipe)).rejects.toThrow(message)
  })
})
