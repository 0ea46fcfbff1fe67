import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { TINY } from '../policy/local/tiny-model.fixture.ts'
import { engineService } from '../policy/tinker/engine-service.fixture.ts'
import { TinkerPolicy } from '../policy/tinker/tinker-policy.ts'
import { grpoAdvantages } from '../rl/advantages.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { type Credited, creditRollouts, datumsOf, type Graded } from '../rl/rollout.ts'
import { evalRow } from '../runs/eval-row.fixture.ts'
import { readEvals, readMetrics, readRollouts, withoutTimings } from '../runs/readers.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { type FakeOptions, FakeServer, type Fault } from '../tinker/fake-server.fixture.ts'
import { CheckpointError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { mean } from '../util/statistics.ts'
import { type LoopSettings, train } from './loop.ts'
import { learntFrom, type Recipe } from './recipe.ts'

const SLOW_MS = 120_000
const STEPS = 4
const settings: LoopSettings = {
  ...{ steps: STEPS, seed: 3, optimizer: { maxGradNorm: 1 }, monitors: null, evalEvery: 2 },
  ...{ checkpointEvery: 1, keepCheckpoints: 2, configHash: 'days' },
  learningRate: { kind: 'constant', peak: 0.02, warmup: 0, floor: 0 },
}

type Rolled = Graded<number, number>[][]

/** Groups of four, paid for tokens above 8; a reference, two mini-batches, an evaluation that samples. */
const recipeOf = (policy: TinkerPolicy): Recipe<Rolled> => ({
  rollOut: (step, io) =>
    io.rollOut({
      problems: [2 * step, 2 * step + 1],
      prompt: problem => {
        const rng = new Rng(`prompt ${problem}`)
        return Array.from({ length: 4 }, () => rng.int(TINY.vocabSize))
      },
      ...{ samples: 4, sampling: { maxTokens: 8, stopTokens: [0] } },
      grade: async items =>
        items.map(({ rollout: { tokens } }) => tokens.filter(token => token > 8).length / tokens.length),
      reward: grade => ({ reward: grade, parts: {} }),
      last: true,
    }),
  learn: async (step, groups) => {
    const { advantages_P_G } = grpoAdvantages(groups.map(group => group.map(({ grade }) => grade)))
    const credited = creditRollouts(groups, advantages_P_G)
    const rowOf = ({ problem, reward, rollout: { tokens, sample } }: Credited<number, number>) => ({
      ...{ step, problemId: String(problem), sample, prompt: '', reward },
      response: [...tokens].join(' '),
    })
    const loss = { ...lossPreset('trl:grpo'), kl: { kind: 'k3' as const, coef: 0.05 } }
    return {
      phases: [{ name: 'policy', datums: datumsOf(credited, {}), loss, temperature: 1, minibatches: 2 }],
      metrics: { reward: mean(groups.flatMap(group => group.map(({ grade }) => grade))) },
      rollouts: learntFrom(credited, rowOf),
    }
  },
  evaluate: async step => {
    const samples = await policy.sample({ prompts: [[1], [2, 3]], maxTokens: 6, seed: 'evaluation' })
    const sum = samples.flatMap(({ logprobs }) => [...logprobs]).reduce((a, b) => a + b, 0)
    return [evalRow(sum, { step, n: 2 })]
  },
})

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const end of open.splice(0).reverse()) await end()
})

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-days-'))
  open.push(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'run')
}

const serverOf = async (options: FakeOptions = {}) => {
  const server = new FakeServer(engineService(), options)
  open.push(() => server.close())
  return { server, url: await server.listen() }
}

interface Day {
  resume?: boolean
  /** Called when the policy is there, before the first step. */
  begin?: () => unknown
  onStep?: (step: number) => void
  patienceMs?: number
}

/** A run, or the rest of it. @throws what it ends with */
const runOn = async (url: string, dir: string, day: Day = {}): Promise<void> => {
  const { resume = false, begin, onStep, patienceMs = 5000 } = day
  const run = resume ? RunFolder.open(dir) : RunFolder.create(dir, { config: {} })
  const options = { url, model: 'tiny', lora: { rank: 4, seed: 3 }, backoffMs: 2, patienceMs }
  const policy = await TinkerPolicy.start(options)
  try {
    await policy.freezeReference()
    const from = resume ? run.resume('days') : null
    if (from) await policy.load(from.dir)
    begin?.()
    await train(policy, recipeOf(policy), run, settings, from?.step ?? 0, {
      onStep: ({ step }) => onStep?.(step),
    })
  } finally {
    await policy.close()
    run.close()
  }
}

const rowsOf = (dir: string) => ({
  metrics: readMetrics(dir).map(row => withoutTimings(row)),
  rollouts: readRollouts(dir),
  evals: readEvals(dir),
})

describe('a run on a server that has a bad day', () => {
  let good: ReturnType<typeof rowsOf>
  beforeAll(async () => {
    const { url } = await serverOf()
    const dir = temporary()
    await runOn(url, dir)
    good = rowsOf(dir)
    expect(good.metrics).toHaveLength(STEPS)
    expect(good.rollouts.length).toBeGreaterThan(8)
  }, SLOW_MS)

  it.each<[string, Fault[]]>([
    ['is slow', ['asample', 'forward_backward', 'optim_step'].map(path => ({ path, at: 1, kind: 'slow' }))],
    ['asks to wait', [0, 1, 2].map(at => ({ path: 'asample', at, kind: 429 }))],
    ['is overloaded', ['forward', 'forward_backward'].map(path => ({ path, at: 1, kind: 503 }))],
    ['is not done yet', [3, 4, 5].map(at => ({ path: 'retrieve_future', at, kind: 'try again' }))],
    ['fails at a result once', [{ path: 'retrieve_future', at: 9, kind: 500 }]],
    [
      'stands behind a proxy that cuts connections before they arrive',
      ['asample', 'forward_backward', 'optim_step', 'save_weights'].map(path => ({
        ...{ path, at: 1, kind: 'cut before' as const },
      })),
    ],
    [
      'stands behind a proxy that cuts connections before the answer',
      ['asample', 'forward_backward', 'optim_step', 'save_weights', 'retrieve_future'].map(path => ({
        ...{ path, at: 1, kind: 'cut after' as const },
      })),
    ],
  ])('waits, and has the same rows, where it %s', { timeout: SLOW_MS }, async (_, faults) => {
    const { server, url } = await serverOf()
    const dir = temporary()
    await runOn(url, dir, { begin: () => faults.forEach(fault => void server.addFault(fault)) })
    expect(rowsOf(dir)).toEqual(good)
  })

  it.each<[string, Fault, RegExp, FakeOptions]>([
    ['has no credit left', { path: 'optim_step', at: 3, kind: 402 }, /402.*credit.*--resume/, {}],
    ['does not know the key any more', { path: 'asample', at: 13, kind: 401 }, /401.*policy\.apiKeyEnv/, {}],
    [
      'answers with the page of a proxy',
      { path: 'asample', at: 13, kind: 'web page' },
      /expected JSON.*proxy/,
      {},
    ],
    [
      'may have carried out a request whose answer was lost, and would do so twice',
      { path: 'forward_backward', at: 3, kind: 'cut after' },
      /nobody can tell.*--resume/,
      { idempotent: false },
    ],
  ])(
    'stops and says what to do where it %s; the rest has the same rows',
    {
      timeout: SLOW_MS,
    },
    async (_, fault, message, options) => {
      const { server, url } = await serverOf(options)
      const dir = temporary()
      await expect(runOn(url, dir, { begin: () => server.addFault(fault) })).rejects.toThrow(message)
      await runOn(url, dir, { resume: true })
      expect(rowsOf(dir)).toEqual(good)
    },
  )

  it('waits for one that is away for a while', { timeout: SLOW_MS }, async () => {
    const { server, url } = await serverOf()
    const dir = temporary()
    let back: Promise<unknown> = Promise.resolve()
    const away = async () => {
      await server.close()
      await sleep(300)
      await server.listen(Number(new URL(url).port))
    }
    await runOn(url, dir, {
      onStep: step => {
        if (step === 2) back = away()
      },
    })
    await back
    expect(rowsOf(dir)).toEqual(good)
  })

  it('gives up one that stays away, and goes on when it is back', { timeout: SLOW_MS }, async () => {
    const { server, url } = await serverOf()
    const dir = temporary()
    let gone: Promise<void> = Promise.resolve()
    const onStep = (step: number) => {
      if (step === 2) gone = server.close()
    }
    await expect(runOn(url, dir, { onStep, patienceMs: 300 })).rejects.toThrow(
      /connection failed.*policy\.url.*--resume/,
    )
    await gone
    await server.listen(Number(new URL(url).port))
    await runOn(url, dir, { resume: true })
    expect(rowsOf(dir)).toEqual(good)
  })

  it('goes on with one that was started anew, unless that lost the checkpoints', {
    timeout: SLOW_MS,
  }, async () => {
    const { server, url } = await serverOf()
    const dir = temporary()
    const at = (wanted: number, states: boolean) => (step: number) => {
      if (step === wanted) server.restart({ states })
    }
    await expect(runOn(url, dir, { onStep: at(2, true) })).rejects.toThrow(/--resume/)
    await expect(runOn(url, dir, { resume: true, onStep: at(3, false) })).rejects.toThrow(/--resume/)
    await expect(runOn(url, dir, { resume: true })).rejects.toThrow(CheckpointError)
    await expect(runOn(url, dir, { resume: true })).rejects.toThrow(/does not have the checkpoint.*storage/)
  })
})
