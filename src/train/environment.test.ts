import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { LocalPolicy } from '../policy/local/local-policy.ts'
import { TINY, tinyEngine } from '../policy/local/tiny-model.fixture.ts'
import type { Policy } from '../policy/policy.ts'
import { grpoAdvantages } from '../rl/advantages.ts'
import type { Environment, TurnLimits } from '../rl/environment.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { creditRollouts, datumsOf, type Graded, type Rollout } from '../rl/rollout.ts'
import { readMetrics, readRollouts, withoutTimings } from '../runs/readers.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { Rng } from '../util/rng.ts'
import { mean } from '../util/statistics.ts'
import { FakePolicy } from './fake-policy.fixture.ts'
import { type LoopSettings, train } from './loop.ts'
import { learntFrom, type Recipe } from './recipe.ts'
import { type RollOutRequest, StepRollouts } from './rollout.ts'
import { rolloutFields } from './update-rows.ts'

const SLOW_MS = 400_000
const folder = mkdtempSync(join(tmpdir(), 'gradus-environment-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('rollouts of several turns', () => {
  const LIMITS: TurnLimits = { turns: 3, tokens: 12 }

  /** Every problem is how its environment answers, turn by turn. */
  type Script = readonly (readonly number[] | null | Error)[]
  const scripted: Environment<Script> = {
    start: script => {
      let turn = 0
      return {
        reply: async () => {
          const said = script[turn++]
          // Later ones answer sooner: what is sampled next must not depend on that.
          await new Promise(resolve => setTimeout(resolve, 5 - turn))
          if (said instanceof Error) throw said
          return said === null ? null : [...said]
        },
      }
    },
  }

  const rollOut = async (
    policy: FakePolicy,
    problems: readonly Script[],
    changes: Partial<RollOutRequest<Script, number>> = {},
  ) => {
    const io = new StepRollouts(policy, { seed: 7, step: 3 })
    const graded = await io.rollOut({
      ...{ problems, samples: 1, sampling: { maxTokens: 4 }, prompt: () => [1] },
      environment: { world: scripted, limits: LIMITS },
      grade: async items => items.map(({ rollout }) => rollout.turns.length),
      reward: grade => ({ reward: grade, parts: {} }),
      ...changes,
    })
    return { rollouts: graded.flat().map(({ rollout }) => rollout), graded: graded.flat() }
  }

  it('go in rounds: all that wait are sampled in one call, each with a stream of its own', async () => {
    const policy = new FakePolicy((prompt, index) => [10 + prompt, 20 + index])
    await rollOut(policy, [[[5], null], [null], [[6, 7], [8], null]])
    expect(policy.sampled.map(({ prompts }) => prompts.map(prompt => [...prompt]))).toEqual([
      [[1], [1], [1]],
      [
        [1, 10, 20, 5],
        [1, 12, 20, 6, 7],
      ],
      [[1, 12, 20, 6, 7, 11, 20, 8]],
    ])
    expect(policy.sampled.map(({ seed, promptSeeds }) => seed ?? promptSeeds)).toEqual([
      '7/3',
      ['7/3/0/0/turn 2', '7/3/2/0/turn 2'],
      ['7/3/2/0/turn 3'],
    ])
  })

  it('keep what the environment wrote apart: mask 0, no log-probs, not within any turn', async () => {
    const { rollouts, graded } = await rollOut(new FakePolicy(), [[[6, 7], [8], null]])
    const [{ tokens, mask, logprobs, turns, end }] = rollouts
    expect([...tokens]).toEqual([10, 20, 6, 7, 10, 20, 8, 10, 20])
    expect([...mask]).toEqual([1, 1, 0, 0, 1, 1, 0, 1, 1])
    expect([...logprobs]).toEqual([-0.5, -0.5, 0, 0, -0.5, -0.5, 0, -0.5, -0.5])
    expect(turns).toEqual([
      { start: 0, end: 2 },
      { start: 4, end: 6 },
      { start: 7, end: 9 },
    ])
    expect(end).toBe('over')
    expect(graded[0].grade).toBe(3)
  })

  it.each<[Rollout['end'], Script, string]>([
    ['over', [[5], null], 'the environment says so'],
    ['turns', [[5], [5], [5]], 'its turns are used up'],
    ['length', [[5, 5, 5, 5, 5, 5, 5, 5, 5, 5], null], 'a reply leaves no room'],
    ['failed', [[5], new Error('the tool is gone')], 'the environment fails'],
  ])('end as %s when %s', async (end, script) => {
    // Beside one that does not fail: where all do, the step is over.
    const { rollouts, graded } = await rollOut(new FakePolicy(), [script, [null]])
    expect(rollouts[0].end).toBe(end)
    expect(graded[0].reward).toBe(end === 'failed' ? null : rollouts[0].turns.length)
    expect(rollouts[0].failure).toBe(end === 'failed' ? 'the tool is gone' : undefined)
    expect(rollouts[0].tokens.length).toBeLessThanOrEqual(LIMITS.tokens)
  })

  it.each([
    ['nothing', undefined, 'expected token ids, or null at its end, got undefined'],
    ['a text', 'done', 'expected token ids, or null at its end, got string'],
    ['what is no token', [1.5], 'expected token ids, or null at its end, got a list of other things'],
  ])('fail, and leave no rejection to nobody, where the environment says %s', async (_, reply, failure) => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    const world = { start: () => ({ reply: async () => reply as unknown as number[] }) }
    // Samples that come one by one: a reply is there before the last one is.
    const rolled = rollOut(new FakePolicy(undefined, 5), [[], []], { environment: { world, limits: LIMITS } })
    // Where all of a step's fail, the step is over.
    await expect(rolled).rejects.toThrow(failure)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('are asked for no more than they may have: a context that holds prompt and rollout is enough', async () => {
    const policy = new FakePolicy((_, index) => [10, index])
    const limits = { turns: 9, tokens: 9 }
    await rollOut(
      policy,
      [
        [[5], [5], [5]],
        [[5, 5], [5], [5]],
      ],
      { environment: { world: scripted, limits } },
    )
    const largest = policy.sampled.map(({ prompts, maxTokens }) => {
      return Math.max(...prompts.map(prompt => prompt.length - 1)) + maxTokens
    })
    expect(largest.every(size => size <= limits.tokens)).toBe(true)
    const [first] = policy.sampled
    await rollOut(policy, [[null]], { environment: { world: scripted, limits: { turns: 1, tokens: 3 } } })
    expect([first.maxTokens, policy.sampled.at(-1)?.maxTokens]).toEqual([4, 3])
  })

  it('end as length when a turn does not stop, or is cut at the last token', async () => {
    const long = await rollOut(new FakePolicy(() => [1, 2, 3]), [[[5], null]])
    expect(long.rollouts[0]).toMatchObject({ end: 'length', turns: [{ start: 0, end: 3 }] })
    const cut = await rollOut(new FakePolicy(() => [1, 2]), [[[5], [5], [5]]], {
      environment: { world: scripted, limits: { turns: 9, tokens: 4 } },
    })
    expect(cut.rollouts[0]).toMatchObject({ end: 'length' })
    expect([...cut.rollouts[0].tokens]).toEqual([1, 2, 5, 1])
  })

  it('that fail all of them end the step, with the first reason', async () => {
    const dead: Script = [new Error('the tool is gone')]
    await expect(rollOut(new FakePolicy(), [dead, dead])).rejects.toThrow(
      'environment: expected rollouts, got 2 that failed, every one of the step (the tool is gone)',
    )
  })

  it('an environment that cannot start fails its rollout alone; every episode is closed once', async () => {
    const closed: string[] = []
    const world: Environment<Script> = {
      start: (script, key) => {
        if (script.length === 0) throw new Error('no such table')
        return { ...scripted.start(script, key), close: () => void closed.push(key) }
      },
    }
    const problems: Script[] = [[], [null], [[5], [5], [5]], [[5], new Error('gone')]]
    const { rollouts } = await rollOut(new FakePolicy(), problems, { environment: { world, limits: LIMITS } })
    expect(rollouts.map(({ end, failure }) => [end, failure])).toEqual([
      ['failed', 'no such table'],
      ['over', undefined],
      ['turns', undefined],
      ['failed', 'gone'],
    ])
    expect(closed.toSorted()).toEqual(['7/3/1/0', '7/3/2/0', '7/3/3/0'])
  })

  it('are graded as they end, while others go on', async () => {
    const policy = new FakePolicy()
    const gradedAfter: number[] = []
    await rollOut(policy, [[null], [[5], [5], null]], {
      gradeBatch: 1,
      grade: async items => {
        gradedAfter.push(policy.sampled.length)
        return items.map(() => 0)
      },
    })
    expect(gradedAfter).toEqual([1, 3])
  })
})

/** Asks for a look-up, is told the value behind its key, and has to say it. A turn ends with the question or an answer. */
const [ASK, TOLD] = [2, 3]
const answerTo = (key: number) => 12 + key
const STOPS = [ASK, 12, 13, 14, 15]
const lookUp: Environment<number> = {
  start: key => ({ reply: async turn => (turn.includes(ASK) ? [TOLD, answerTo(key)] : null) }),
}

/** Paid for having asked, and more for saying the value after that. */
const payOf = (key: number, { tokens, turns, mask }: Rollout): number => {
  const asked = mask.includes(0)
  const last = turns.at(-1)!
  return Number(asked) / 2 + Number(asked && tokens.slice(last.start, last.end).includes(answerTo(key))) / 2
}

type Rolled = Graded<number, number>[][]

const lookUpRecipe = (policy: Policy, seen: Rolled[] = []): Recipe<Rolled> => ({
  rollOut: (_step, io) =>
    io.rollOut({
      problems: [0, 1, 2, 3],
      prompt: key => [1, 5 + key],
      samples: 8,
      sampling: { maxTokens: 4, temperature: 1, stopTokens: STOPS },
      environment: { world: lookUp, limits: { turns: 3, tokens: 18 } },
      grade: async items => items.map(({ problem, rollout }) => payOf(problem, rollout)),
      reward: grade => ({ reward: grade, parts: {} }),
      last: true,
    }),
  learn: async (step, groups) => {
    seen.push(groups)
    const rewards_P_G = groups.map(group => group.map(({ grade }) => grade))
    const credited = creditRollouts(groups, grpoAdvantages(rewards_P_G).advantages_P_G)
    const how = { loss: lossPreset('trl:grpo'), temperature: 1, minibatches: 1, epochs: 1 }
    return {
      phases: [{ name: 'policy', datums: datumsOf(credited), ...how }],
      metrics: { reward: mean(rewards_P_G.flat()) },
      rollouts: learntFrom(credited, item => ({
        ...rolloutFields(step, item),
        problemId: String(item.problem),
        prompt: '',
        response: [...item.rollout.tokens].join(' '),
      })),
    }
  },
  evaluate: async step => {
    const samples = await policy.sample({ prompts: [[1, 5]], maxTokens: 4, seed: `${step}` })
    expect(samples).toHaveLength(1)
    return []
  },
})

const SETTINGS: LoopSettings = {
  steps: 12,
  seed: 1,
  optimizer: { maxGradNorm: 1 },
  learningRate: { kind: 'constant', peak: 0.01, warmup: 0, floor: 0 },
  evalEvery: 0,
  checkpointEvery: 0,
  keepCheckpoints: 2,
  maxMinutes: null,
  configHash: 'hash',
  monitors: null,
}

const SOURCE = { init: { config: TINY, seed: 3 } }

/** Everything that a run leaves but times, and the rollouts of its steps. */
const trained = async (
  name: string,
  {
    settings = {},
    maxRows = 128,
    stopAfter = 0,
  }: { settings?: Partial<LoopSettings>; maxRows?: number; stopAfter?: number } = {},
) => {
  const run = RunFolder.create(join(folder, name), { config: {} })
  const seen: Rolled[] = []
  const part = async (from: { dir: string; step: number } | null) => {
    const policy = await LocalPolicy.start(SOURCE, { threads: 1, maxRows })
    try {
      if (from) await policy.load(from.dir)
      const shouldStop = () => from === null && readMetrics(run.dir).length === stopAfter
      const whole = { ...SETTINGS, ...settings }
      await train(policy, lookUpRecipe(policy, seen), run, whole, from?.step ?? 0, { shouldStop })
    } finally {
      await policy.close()
    }
  }
  await part(null)
  if (stopAfter > 0) await part(run.resume('hash'))
  run.close()
  return { metrics: readMetrics(run.dir).map(withoutTimings), rollouts: readRollouts(run.dir), seen }
}

describe('training with a tool', { timeout: SLOW_MS }, () => {
  it('learns to call it, and its rows are the same whatever is batched, stopped or sampled ahead', async () => {
    const { seen, ...whole } = await trained('whole', { settings: { steps: 40 } })
    const rewards = whole.metrics.map(({ reward }) => Number(reward))
    expect(mean(rewards.slice(-5))).toBeGreaterThan(mean(rewards.slice(0, 5)) + 0.2)
    expect(seen.flat(2).some(({ rollout }) => rollout.turns.length > 1)).toBe(true)
    expect(whole.metrics.some(({ turns, failedRollouts }) => Number(turns) > 1 && failedRollouts === 0)).toBe(
      true,
    )

    const { seen: _, ...few } = await trained('few rows', { maxRows: 3 })
    // Another batch rounds otherwise in the last digits, but draws the same.
    expect(few.rollouts.slice(0, 3)).toEqual(whole.rollouts.slice(0, 3))
    const { seen: __, ...short } = await trained('short')
    const { seen: ___, ...stopped } = await trained('stopped', { stopAfter: 5 })
    expect(stopped).toEqual(short)
    const ahead = await trained('ahead', { settings: { pipeline: true } })
    const resumed = await trained('ahead, stopped', { settings: { pipeline: true }, stopAfter: 5 })
    expect({ ...resumed, seen: [] }).toEqual({ ...ahead, seen: [] })
  })

  it("the tool's tokens have exactly zero gradient", async () => {
    const { seen } = await trained('gradient', { settings: { steps: 6 } })
    const withTool = seen.flat(2).filter(({ rollout }) => rollout.mask.includes(0))
    expect(withTool.length).toBeGreaterThan(0)
    const gradNorm = async (advantageOf: (wrote: boolean) => number, temperAt = false) => {
      const engine = tinyEngine()
      const credited = withTool.map(item => ({
        ...item,
        advantages: Float32Array.from(item.rollout.mask, m => advantageOf(m === 1)),
      }))
      const datums = datumsOf([credited]).map(({ datum }) => ({
        ...datum,
        // What the tool's tokens are said to have been likely must not matter either.
        ...(temperAt && {
          oldLogprobs: Float32Array.from(datum.mask, (m, t) => (m === 0 ? -9 : datum.oldLogprobs[t])),
        }),
      }))
      await engine.accumulate(datums, { loss: { ...lossPreset('trl:grpo'), entropyCoef: 0 } })
      return (await engine.step({ learningRate: 0 })).gradNorm
    }
    expect(await gradNorm(wrote => (wrote ? 0 : 5))).toBe(0)
    const own = await gradNorm(wrote => (wrote ? 1 : 0))
    expect(own).toBeGreaterThan(0)
    expect(await gradNorm(wrote => (wrote ? 1 : 7), true)).toBe(own)
  })

  it('an environment may draw by the key that it is given: a resumed run meets the same', async () => {
    const keys: string[] = []
    const io = new StepRollouts(new FakePolicy(), { seed: 7, step: 2 })
    const world: Environment<string> = {
      start: (problem, key) => {
        keys.push(`${problem} ${new Rng(key).int(1000)}`)
        return { reply: async () => null }
      },
    }
    await io.rollOut({
      ...{ problems: ['a', 'b'], samples: 2, sampling: { maxTokens: 4 }, prompt: () => [1] },
      environment: { world, limits: { turns: 2, tokens: 9 } },
      grade: async items => items.map(() => null),
    })
    const places = ['0/0', '0/1', '1/0', '1/1']
    const expected = places.map((place, i) => `${'aabb'[i]} ${new Rng(`7/2/${place}`).int(1000)}`)
    expect(keys.toSorted()).toEqual(expected.toSorted())
  })
})
