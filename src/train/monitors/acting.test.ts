import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lossPreset } from '../../rl/loss-presets.ts'
import { creditRollouts, datumsOf, type Graded } from '../../rl/rollout.ts'
import { appendControl } from '../../runs/control.ts'
import { hasGivenUp } from '../../runs/given-up.ts'
import { readEvals, readEvents, readMetrics, readRollouts, withoutTimings } from '../../runs/readers.ts'
import type { RolloutRow } from '../../runs/rows.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import { checkpointSteps } from '../../runs/run-state.ts'
import { FakePolicy } from '../fake-policy.fixture.ts'
import { type LoopSettings, train } from '../loop.ts'
import { learntFrom, type Recipe } from '../recipe.ts'
import { progressOf, type StepEvents } from '../steps.ts'
import { MonitorActions } from './acting.ts'
import { monitorsSchema } from './config.ts'
import { Latch } from './latch.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-acting-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const STEPS = 30
const SLOW_MS = 240_000
/** Updates from which on the policy knows the trick. */
const HACKED = 12
const WINDOW = 4

/** Called before a checkpoint goes. */
let forgets = () => {}

/** Its only weight is how many updates it has had; what it says follows from that and from the seed. */
class CountingPolicy extends FakePolicy {
  weight = 0
  readonly seeds: string[] = []
  constructor() {
    super()
    const { sample, step } = this
    this.sample = (...args) => {
      this.seeds.push(String(args[0].seed))
      return sample.apply(this, args)
    }
    this.step = async (...options) => {
      this.weight++
      return step.apply(this, options as never)
    }
    const { accumulate } = this
    this.accumulate = async (...args) => ({
      ...(await accumulate.apply(this, args)),
      maxLogprobDifference: this.weight * 1e-6,
    })
    this.save = async dir => writeFileSync(join(dir, 'model.txt'), String(this.weight))
  }

  forget() {
    forgets()
    return async () => {}
  }

  override async load(dir?: string): Promise<void> {
    this.weight = Number(readFileSync(join(dir!, 'model.txt'), 'utf8'))
  }
}

const loss = { ...lossPreset('gradus:ruscarl'), kl: { kind: 'k3', coef: 0.001 } as const }

/** A little noise, so that changes have an error; by the seed that was drawn by, so that streams can be distinguished. */
const noiseOf = (seed: string): number =>
  [...seed].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 97, 7) / 970

type Item = Graded<string, number>

const recipeOf = (policy: CountingPolicy, cured = Number.POSITIVE_INFINITY): Recipe<Item[][]> => {
  let count = 0
  return {
    rollOut: (_step, io) =>
      io.rollOut({
        problems: ['a', 'b'],
        prompt: () => [1],
        samples: 2,
        sampling: { maxTokens: 4, temperature: 1 },
        grade: async items => items.map(({ rollout }) => rollout.tokens.length),
        reward: grade => ({ reward: grade, parts: {} }),
        last: true,
      }),
    learn: async (step, groups) => {
      count++
      const credited = creditRollouts(groups, [
        [-1, 1],
        [-1, 1],
      ])
      const noise = noiseOf(groups[0][0].rollout.group)
      const isHacked = policy.weight >= HACKED && step < cured
      const rowOf = ({ problem, reward }: Item): RolloutRow => ({
        step,
        problemId: problem,
        prompt: problem,
        response: '',
        reward,
      })
      return {
        phases: [{ name: 'policy', datums: datumsOf(credited), loss, temperature: 1 }],
        metrics: { reward: 1, count, exploits: { trick: (isHacked ? 0.8 : 0.1) + noise } },
        rollouts: learntFrom(credited, rowOf),
      }
    },
    evaluate: async step => [
      { step, set: 'test', n: 1, scores: { right: { value: 0.5 } }, primary: 'right' },
    ],
    state: {
      save: () => ({ count }),
      load: value => {
        count = (value as { count: number }).count
      },
    },
  }
}

type Monitors = Parameters<typeof monitorsSchema.parse>[0]
const settingsOf = (monitors: Monitors, changes: Partial<LoopSettings> = {}): LoopSettings => ({
  ...{ steps: STEPS, seed: 7, evalEvery: 0, checkpointEvery: 2, keepCheckpoints: 2, configHash: 'hash' },
  learningRate: { kind: 'constant', peak: 1, warmup: 0, floor: 0 },
  monitors: monitorsSchema.parse({ window: WINDOW, ...(monitors as object) }),
  ...changes,
})

const trained = async (name: string, settings: LoopSettings, events: StepEvents = {}, cured?: number) => {
  const dir = join(folder, name)
  const run = RunFolder.create(dir, { config: {}, steps: STEPS })
  const policy = new CountingPolicy()
  try {
    const result = await train(policy, recipeOf(policy, cured), run, settings, 0, events)
    return { dir, policy, result }
  } finally {
    run.close()
  }
}

/** Goes on in a process of its own, as it were. */
const resumed = async (
  dir: string,
  settings: LoopSettings,
  {
    events = {},
    unattended = false,
    cured,
  }: { events?: StepEvents; unattended?: boolean; cured?: number } = {},
) => {
  const run = RunFolder.open(dir)
  const policy = new CountingPolicy()
  try {
    const point = run.resume('hash')
    await policy.load(point.dir)
    const own = { ...settings, ...progressOf({ ...point, unattended }) }
    const result = await train(policy, recipeOf(policy, cured), run, own, point.step, events)
    return { policy, result, from: point.step }
  } finally {
    run.close()
  }
}

const all = (dir: string) => ({
  metrics: readMetrics(dir).map(withoutTimings),
  rollouts: readRollouts(dir),
  evals: readEvals(dir),
  events: readEvents(dir).map(({ at: _, ...event }) => event),
})
const actionsIn = (dir: string) => readEvents(dir).filter(({ action }) => action !== undefined)
const stepsIn = (dir: string) => readMetrics(dir).map(({ step }) => step)
const upTo = (step: number) => Array.from({ length: step }, (_, i) => i + 1)
/** The folder of a run as a kill at this moment would leave it. */
const copyOf = (dir: string, name: string | number): string => {
  const copy = `${dir} ${name}`
  cpSync(dir, copy, { recursive: true, filter: path => !basename(path).includes('lock') })
  return copy
}
let asked = 0
const ask = (dir: string, request: object) => {
  appendControl(dir, { ...request, id: `request ${asked++}`, at: '' } as never)
}

describe('a monitor that only warns', () => {
  it('changes nothing: the numbers are those of a run that is not watched', async () => {
    const watched = await trained('warns', settingsOf({}))
    const not = await trained('not watched', settingsOf({}, { monitors: null }))
    expect(readEvents(watched.dir).filter(({ turn }) => turn === 'on')).toMatchObject([
      { monitor: 'exploits' },
    ])
    expect(all(watched.dir).metrics).toEqual(all(not.dir).metrics)
    expect(actionsIn(watched.dir)).toEqual([])
  })
})

describe('stop', () => {
  const settings = settingsOf({ exploits: { action: 'stop', patience: 2 } })

  it('ends the run two looks after the warning, and says who did it', async () => {
    const { dir, result } = await trained('stop', settings)
    const [{ step: warned }] = readEvents(dir).filter(({ turn }) => turn === 'on')
    expect(result).toEqual({ step: warned! + 2, finished: false, stoppedBy: 'exploits' })
    expect(actionsIn(dir)).toMatchObject([
      { action: 'stop', by: 'exploits', step: warned! + 2, level: 'warning' },
    ])
    expect(checkpointSteps(join(dir, 'checkpoints'))).toContain(warned! + 2)
  })

  it('stays as it is for a scheduler; a person has it go on, and it does not stop for the same sign again', async () => {
    const { dir, result } = await trained('stop and go on', settings)
    expect((await resumed(dir, settings, { unattended: true })).result).toEqual(result)
    expect(stepsIn(dir)).toEqual(upTo(result.step))
    expect((await resumed(dir, settings)).result).toEqual({ step: STEPS, finished: true })
    expect(actionsIn(dir)).toHaveLength(1)
  })

  it('waits for the patience that is asked for', async () => {
    const [{ result: soon }, { result: late }] = [
      await trained('at once', settingsOf({ exploits: { action: 'stop', patience: 0 } })),
      await trained('late', settingsOf({ exploits: { action: 'stop', patience: 5 } })),
    ]
    expect(late.step - soon.step).toBe(5)
    // The sign is over before it has stood for ten looks.
    const { result } = await trained(
      'over before',
      settingsOf({ exploits: { action: 'stop', patience: 10 }, calm: 3 }),
      {},
      20,
    )
    expect(result).toEqual({ step: STEPS, finished: true })
  })
})

describe('rollback', () => {
  const monitors = { exploits: { action: 'rollback', patience: 1 }, actions: { rollbacks: 1 } }
  const settings = settingsOf(monitors)

  it('goes back before the sign, on with other random numbers, and the last time stops there', async () => {
    const { dir, policy, result } = await trained('back', settings)
    const free = await trained('free', settingsOf({}))
    const events = actionsIn(dir)
    expect(events.map(({ action, by }) => [action, by])).toEqual(Array(2).fill(['rollback', 'exploits']))
    const [{ from, to }, last] = events.map(({ figures }) => figures!)
    // Weights of twelve updates know the trick; of the checkpoints before them the newest is that of step 10.
    expect(to).toBe(10)
    expect(from).toBeGreaterThan(HACKED + 3)
    expect(result).toEqual({ step: last.to, finished: false, stoppedBy: 'exploits' })
    expect(policy.weight).toBe(last.to)
    expect(stepsIn(dir)).toEqual(upTo(last.to))
    expect(all(dir).metrics).toEqual(all(free.dir).metrics.slice(0, last.to))
    // The same steps once more, by other seeds.
    const again = policy.seeds.filter(seed => seed.endsWith('/12'))
    expect(new Set(again).size).toBe(2)
  })

  it('keeps a checkpoint to go back to, whatever the number that is kept, and the start where there is none', async () => {
    const late = settingsOf({ exploits: { action: 'rollback', patience: 12 }, actions: { rollbacks: 0 } })
    const { dir } = await trained('kept', late)
    expect(actionsIn(dir)).toMatchObject([{ figures: { to: 10 } }])
    const rare = settingsOf(monitors, { checkpointEvery: 20 })
    const { dir: far, result } = await trained('far', rare)
    expect(actionsIn(far)[0]).toMatchObject({ figures: { to: 0 } })
    expect(result.step).toBe(0)
    expect(readEvals(far)).toHaveLength(1)
  })

  it(
    'is bit by bit the same where it was stopped and resumed after any step',
    async () => {
      const whole = await trained('whole', settings)
      // Before and between checkpoints, while the sign is told, right after going back, in the new course, and before its end.
      for (const stop of [1, 9, 11, 16, 18, 19, 20, 21, 24, 27]) {
        let done = 0
        const events = { onStep: () => done++, shouldStop: () => done === stop }
        const { dir, result } = await trained(`stopped after ${stop}`, settings, events)
        expect(result.stoppedBy).toBeUndefined()
        const { result: end } = await resumed(dir, settings, { unattended: true })
        expect(end).toEqual(whole.result)
        expect(all(dir)).toEqual(all(whole.dir))
      }
    },
    SLOW_MS,
  )

  it(
    'is the same with steps sampled ahead, stopped or not',
    async () => {
      const ahead = settingsOf(monitors, { pipeline: true })
      const whole = await trained('ahead', ahead)
      expect(actionsIn(whole.dir)).toHaveLength(2)
      for (const stop of [7, 17, 20]) {
        let done = 0
        const events = { onStep: () => done++, shouldStop: () => done === stop }
        const { dir } = await trained(`ahead, stopped after ${stop}`, ahead, events)
        await resumed(dir, ahead)
        expect(all(dir).metrics).toEqual(all(whole.dir).metrics)
      }
    },
    SLOW_MS,
  )

  it(
    'is the same after a kill in the middle of it, and nothing looks damaged',
    async () => {
      const whole = await trained('not killed', settings)
      const dir = join(folder, 'killed')
      const killed: string[] = []
      const kill = () => {
        killed.push(copyOf(dir, killed.length))
      }
      let isBack = false
      const onMessage = (text: string) => {
        if (!text.includes('went back')) return
        // All of it but the checkpoint with the state of now.
        if (!isBack) kill()
        isBack = true
      }
      forgets = () => {
        if (!isBack && stepsIn(dir).length > 18) kill()
      }
      await trained('killed', settings, { onMessage })
      forgets = () => {}
      expect(killed.length).toBeGreaterThan(2)
      for (const copy of killed) {
        await resumed(copy, settings)
        expect(all(copy)).toEqual(all(whole.dir))
      }
    },
    SLOW_MS,
  )

  it('is undone by request: the run goes on from where it was, and what came since is gone', async () => {
    const dir = join(folder, 'undone')
    let was: ReturnType<typeof all> | null = null
    let backAt = 0
    let killed = ''
    const { result } = await trained('undone', settings, {
      onMessage: text => {
        if (text.includes('was undone')) killed = copyOf(dir, 'undone')
        if (!text.includes('went back')) return
        backAt = actionsIn(dir)[0].figures!.from
        was = {
          metrics: readFileSync(join(dir, 'given-up', 'metrics.jsonl'), 'utf8')
            .trim()
            .split('\n')
            .map(line => withoutTimings(JSON.parse(line))),
        } as never
      },
      onStep: ({ step }) => {
        if (was !== null && step === 11 && backAt > 0) ask(dir, { action: 'undo', of: 'rollback' })
      },
    })
    // A kill just before: it was not undone, may be asked for again, and nothing is damaged.
    const { from } = await resumed(killed, settings)
    const plain = await trained('not undone', settings)
    expect([from, hasGivenUp(killed), all(killed)]).toEqual([10, true, all(plain.dir)])
    expect(result).toEqual({ step: STEPS, finished: true })
    expect(stepsIn(dir)).toEqual(upTo(STEPS))
    const free = await trained('free to the end', settingsOf({}))
    // Up to the rollback it is the run that never went back; what comes after it has streams of its own.
    expect(all(dir).metrics.slice(0, backAt)).toEqual(all(free.dir).metrics.slice(0, backAt))
    expect(all(dir).metrics[backAt]).not.toEqual(all(free.dir).metrics[backAt])
    expect(existsSync(join(dir, 'given-up'))).toBe(false)
    const found = readEvents(dir).flatMap(({ action, control, undone }) =>
      action || control ? [[action ?? control, undone]] : [],
    )
    expect(found).toEqual([
      ['rollback', undefined],
      ['undo', 'rollback'],
    ])
  })

  it('keeps a pause and a threshold that were asked for when the run goes back', async () => {
    const dir = join(folder, 'asked while back')
    let isAsked = false
    const { result } = await trained('asked while back', settings, {
      onStep: ({ step }) => {
        // The run goes back after this one.
        if (step !== 19 || isAsked) return
        isAsked = true
        ask(dir, { action: 'pause' })
        ask(dir, { action: 'threshold', monitor: 'exploits', thresholds: null })
      },
      onMessage: text => {
        if (text === 'paused after step 10') setTimeout(() => ask(dir, { action: 'go-on' }), 50)
      },
    })
    expect(result).toEqual({ step: STEPS, finished: true })
    expect(actionsIn(dir).map(({ action }) => action)).toEqual(['rollback'])
    expect(readEvents(dir).flatMap(({ control }) => control ?? [])).toEqual(['pause', 'threshold', 'go-on'])
  })

  it('that was noted and is not asked for any more when the run is resumed is not done', async () => {
    let done = 0
    const noted = { onStep: () => done++, shouldStop: () => done === 19 }
    const { dir, result } = await trained('noted', settings, noted)
    expect(result.step).toBe(19)
    expect((await resumed(dir, settingsOf({}))).result).toEqual({ step: STEPS, finished: true })
    expect(actionsIn(dir)).toEqual([])
  })

  it('says so where there is nothing to undo, and stops where there is nothing to go back to', async () => {
    const dir = join(folder, 'nothing to undo')
    await trained('nothing to undo', settingsOf({}), {
      onStep: ({ step }) => {
        if (step === 3) ask(dir, { action: 'undo', of: 'rollback' })
      },
    })
    expect(readEvents(dir).flatMap(({ control }) => control ?? [])).toEqual(['refused'])
    // Checkpoints of before the sign went while nobody asked for them.
    let stopped = false
    const warns = settingsOf({}, { checkpointEvery: 1 })
    const { dir: late } = await trained('late decision', warns, {
      onStep: ({ step }) => {
        stopped = step === 18
      },
      shouldStop: () => stopped,
    })
    const { result } = await resumed(late, settings)
    expect(result).toEqual({ step: 19, finished: false, stoppedBy: 'exploits' })
    expect(actionsIn(late).at(-1)!.message).toMatch(/no whole checkpoint at or before step 1[01]/)
    // A person has read it.
    expect((await resumed(late, settings)).result.finished).toBe(true)
  })
})

describe('raise-kl', () => {
  const settings = settingsOf({
    exploits: { action: 'raise-kl', patience: 0 },
    actions: { klFactor: 4, klMost: 10 },
  })
  const coefs = (policy: CountingPolicy) => policy.updates.map(({ options }) => options.loss.kl.coef)

  it('raises the coefficient a window apart while the sign stands, up to its bound', async () => {
    const { dir, policy } = await trained('raise', settings)
    const events = actionsIn(dir)
    expect(events.map(({ figures }) => figures)).toEqual([
      { before: 1, klFactor: 4 },
      { before: 4, klFactor: 10 },
    ])
    const [first, second] = events.map(({ step }) => step!)
    expect(second - first).toBe(WINDOW)
    expect(coefs(policy)).toEqual(
      upTo(STEPS).map(step => (step <= first ? 0.001 : step <= second ? 0.004 : 0.01)),
    )
    expect(readMetrics(dir).at(-1)).toMatchObject({ klCoef: 0.01 })
    expect(readMetrics(dir)[0]).not.toHaveProperty('klCoef')
  })

  it('is the same where it was stopped and resumed', async () => {
    const whole = await trained('raise whole', settings)
    for (const stop of [15, 17, 20, 25]) {
      let done = 0
      const events = { onStep: () => done++, shouldStop: () => done === stop }
      const { dir } = await trained(`raise stopped after ${stop}`, settings, events)
      const { policy } = await resumed(dir, settings)
      expect(all(dir)).toEqual(all(whole.dir))
      expect(coefs(policy)).toEqual(coefs(whole.policy).slice(stop))
    }
  })

  it('is undone by request, and not done again about the sign that stands', async () => {
    const dir = join(folder, 'raise undone')
    const { policy } = await trained('raise undone', settings, {
      onStep: ({ step }) => {
        if (step === 20) ask(dir, { action: 'undo', of: 'raise-kl' })
        if (step === 21) ask(dir, { action: 'undo', of: 'raise-kl' })
      },
    })
    expect(coefs(policy).slice(-9)).toEqual(Array(9).fill(0.001))
    expect(readEvents(dir).flatMap(({ control }) => control ?? [])).toEqual(['undo', 'refused'])
    expect(actionsIn(dir)).toHaveLength(1)
  })
})

describe('pause', () => {
  const settings = settingsOf({ exploits: { action: 'pause', patience: 1 } })

  it('waits for a person, who may have it go on; then it pauses no more for this sign', async () => {
    const dir = join(folder, 'pause')
    const messages: string[] = []
    const { result } = await trained('pause', settings, {
      onMessage: text => {
        messages.push(text)
        if (text.startsWith('paused')) setTimeout(() => ask(dir, { action: 'go-on' }), 50)
      },
    })
    expect(result).toEqual({ step: STEPS, finished: true })
    expect(messages.filter(text => text.startsWith('paused after'))).toHaveLength(1)
    expect(readEvents(dir).flatMap(({ control }) => control ?? [])).toEqual(['pause', 'go-on'])
  })

  it('is kept by a checkpoint: a scheduler finds it waiting, a person has it go on', async () => {
    const stopWhilePaused = () => {
      let paused = false
      return {
        onMessage: (text: string) => {
          paused ||= /paused/.test(text)
        },
        shouldStop: () => paused,
      }
    }
    const { dir, result } = await trained('pause killed', settings, stopWhilePaused())
    const waiting = await resumed(dir, settings, { unattended: true, events: stopWhilePaused() })
    expect(waiting.result).toEqual({ step: result.step, finished: false })
    expect(stepsIn(dir)).toEqual(upTo(result.step))
    expect((await resumed(dir, settings)).result.finished).toBe(true)
    expect(actionsIn(dir)).toHaveLength(1)
  })
})

it('a metric of 0 over a threshold of 0 is no sign, and no reason to go back further', () => {
  const latch = new Latch(1, { calm: 2, release: 0.75 })
  expect([latch.look(Number.NaN, 3), latch.stood, latch.healthyThrough]).toEqual([null, null, 3])
  expect(latch.look(Number.POSITIVE_INFINITY, 4)).toBe('on')
})

describe('settings of actions', () => {
  it('are not asked for, and monitors of the start neither go back nor raise', () => {
    expect(monitorsSchema.parse({ truncation: {} })).toEqual(monitorsSchema.parse({}))
    for (const action of ['rollback', 'raise-kl'])
      expect(() => monitorsSchema.parse({ hotSampling: { action } })).toThrow(/warn/)
    expect(() => monitorsSchema.parse({ truncation: { action: 'panic' } })).toThrow(/raise-kl/)
  })

  it('of two that are due at once the stronger is done, and the other at the next step', () => {
    const actions = new MonitorActions(monitorsSchema.parse({}))
    const sign = { level: 2, seen: 'something', figures: {} }
    const due = [
      { monitor: 'lengthDrift', action: 'raise-kl', sign, seenAt: 5 },
      { monitor: 'truncation', action: 'pause', sign, seenAt: 5 },
      { monitor: 'repetition', action: 'pause', sign, seenAt: 5 },
    ] as const
    expect(actions.decide(5, due)).toMatchObject({ action: 'pause', monitors: ['truncation', 'repetition'] })
    expect(actions.decide(6, due)).toMatchObject({ action: 'raise-kl', monitors: ['lengthDrift'] })
    expect(actions.decide(7, due)).toBeNull()
    // Its sign was over and is there again.
    actions.turned('truncation')
    expect(actions.decide(8, due)).toMatchObject({ action: 'pause', monitors: ['truncation'] })
    // An evaluation raises once, however many steps the next one is away.
    const evaluated = new MonitorActions(monitorsSchema.parse({ window: WINDOW }))
    const raise = (step: number, seenAt: number) =>
      evaluated.decide(step, [{ monitor: 'evaluationFalls', action: 'raise-kl', sign, seenAt }])
    expect(raise(10, 10)).not.toBeNull()
    expect(raise(19, 10)).toBeNull()
    expect(raise(20, 20)).not.toBeNull()
    const supervised = new MonitorActions(monitorsSchema.parse({}), undefined, ['stop', 'pause'])
    expect(supervised.decide(5, due.slice(0, 1))).toBeNull()
  })
})
