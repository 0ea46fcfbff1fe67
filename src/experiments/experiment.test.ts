import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { saveRunState } from '../runs/run-state.ts'
import { writeFileAtomic } from '../util/atomic.ts'
import { Experiment } from './experiment.ts'
import { fakeContent, fakeRegistration } from './fake-paper.fixture.ts'
import type { ResolveTraining } from './plan/jobs.ts'
import { readRecord, writeRecord } from './run/ledger.ts'
import type { Execute } from './run/runner.ts'

let work: string
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'gradus-experiment-'))
})
afterEach(() => rmSync(work, { recursive: true, force: true }))

const merged: ResolveTraining = ({ settings }) => Object.assign({ steps: 10 }, ...settings)

const experimentOf = (
  execute: Execute,
  registration = fakeRegistration({ seeds: [1] }),
  resolve: ResolveTraining = merged,
) =>
  new Experiment(registration, {
    work,
    results: join(work, 'results'),
    width: 1,
    resolve,
    execute,
    probe: async () => {},
    command: 'gradus experiment made-up.yaml',
  })

const leaveCheckpoint = (dir: string, finished = true) => {
  const folder = join(dir, 'checkpoints', 'step-000001')
  mkdirSync(folder, { recursive: true })
  saveRunState(folder, { step: 1, configHash: 'x', rng: {}, recipe: { finished, trainedMs: 0 } })
}

const never = new AbortController().signal

it('an analysis tells of runs that failed in an earlier call, until one of them goes well', async () => {
  const failing = experimentOf(async () => {
    throw new Error('out of memory')
  })
  await failing.run(failing.jobs.slice(0, 1), never, {})
  const later = experimentOf(async () => ({ finished: true }))
  expect(later.report().result.failed).toEqual([{ id: 'start/a', message: 'out of memory' }])
  await later.run(later.jobs.slice(0, 1), never, {})
  expect(later.report().result.failed).toEqual([])
})

it('a start that is there takes no time: a plan knows how long the rest takes though nobody has looked at it', () => {
  const model = join(work, 'model')
  mkdirSync(model)
  writeFileAtomic(join(model, 'model.safetensors'), 'weights')
  const experiment = experimentOf(
    async () => ({ finished: true }),
    fakeRegistration({ seeds: [1], starts: [{ name: 'a', model }] }),
  )
  const arms = experiment.jobs.filter(({ kind }) => kind === 'arm')
  for (const job of arms) writeRecord(job, { ...readRecord(job), finished: true, seconds: 60 })
  expect(experiment.plan()).toMatchObject({ secondsAll: 0, done: arms.length })
})

/** What a run says of itself. */
const infoOf = (config: object): string =>
  JSON.stringify({ id: 'run', createdAt: '2026-01-01T00:00:00.000Z', config })

describe('settings that changed since', () => {
  /** The preset has this learning rate by now. */
  const withRate = (rate: number, more: object = {}) => {
    const resolve: ResolveTraining = ({ settings }) =>
      Object.assign({ steps: 10, rate, ...more }, ...settings)
    const execute: Execute = async ({ dir, training }) => {
      writeFileAtomic(join(dir, 'config.json'), infoOf(resolve(training, '')))
      leaveCheckpoint(dir)
      return { finished: true }
    }
    return experimentOf(execute, undefined, resolve)
  }
  /** The second cold start is not there yet: an arm of the first one is asked. */
  const first = (experiment: Experiment, n: number) => experiment.run(experiment.jobs.slice(0, n), never, {})

  it('refuse to go on, and say what changed and what to do', async () => {
    await first(withRate(0.1), 2)
    const changed = withRate(0.2)
    await expect(first(changed, 3)).rejects.toThrow(
      /better\/a\/1: was trained with other settings than it would be now: .*rate 0.1, now 0.2.*begin anew with another --work/,
    )
    // What is there can be analysed, and nothing new is mixed in.
    expect(changed.report().result.runs.done).toBe(1)
  })

  it('are noticed in a run that was stopped half-way, where the model that it began with has other weights', async () => {
    const model = join(work, 'model')
    const registration = fakeRegistration({ seeds: [1], starts: [{ name: 'a', model }] })
    const begin = async (weights: string) => {
      mkdirSync(model, { recursive: true })
      writeFileAtomic(join(model, 'model.safetensors'), weights)
      const stop = new AbortController()
      const experiment = experimentOf(async ({ dir, training }) => {
        // A look at the start, which has no steps, is not what is stopped.
        if (training.settings.some(layer => layer.steps === 0)) return { finished: true }
        writeFileAtomic(join(dir, 'config.json'), infoOf(merged(training, '')))
        leaveCheckpoint(dir, false)
        stop.abort()
        return { finished: false }
      }, registration)
      return experiment.run(experiment.jobs.slice(0, 2), stop.signal, {})
    }
    expect((await begin('one')).interrupted).toBe(true)
    expect((await begin('one')).interrupted).toBe(true)
    await expect(begin('another')).rejects.toThrow(
      /better\/a\/1: was trained with other settings .*: its cold start has others/,
    )
  })

  it('are no matter where only threads and folders differ, or where the record is from before they were kept', async () => {
    const begun = withRate(0.1)
    await first(begun, 2)
    expect((await first(withRate(0.1, { out: '/elsewhere', checkpoint: { every: 7 } }), 3)).failed).toEqual(
      [],
    )
    for (const job of begun.jobs.slice(0, 3)) {
      const { configHash: _hash, provenance: _made, ...old } = readRecord(job)
      writeRecord(job, old)
    }
    expect((await first(withRate(0.2), 3)).failed).toEqual([])
  })
})

describe('claims that cannot show', () => {
  /** A start whose score leaves so much room; trainings of no steps evaluate it. */
  const evaluating =
    (score: number): Execute =>
    async ({ dir, training }) => {
      const { steps } = Object.assign({}, ...training.settings) as { steps?: number }
      if (steps === 0) {
        const scores = { primary: 'accuracy', scores: { accuracy: { value: score } } }
        const row = { step: 0, set: 'unseen', n: 2048, ...scores, responseTokens: 10 }
        writeFileAtomic(join(dir, 'evals.jsonl'), `${JSON.stringify(row)}\n`)
      }
      leaveCheckpoint(dir)
      return { finished: true }
    }
  const [claim] = fakeContent().claims as object[]
  const registration = fakeRegistration({
    seeds: [1],
    claims: [{ ...claim, arms: { a: 'better', b: 'start' } }],
  })

  it('are told once the cold starts are there, before any arm runs, and in plans from then on', async () => {
    const experiment = experimentOf(evaluating(0.996), registration)
    const said: string[] = []
    const events = {
      onNote: (text: string) => said.push(text),
      onStart: ({ id }: { id: string }) => said.push(id),
    }
    expect(experiment.plan().warnings.join()).not.toContain('untestable')
    await experiment.run(
      experiment.jobs.filter(({ kind }) => kind === 'start'),
      never,
      events,
    )
    expect(said).toEqual([
      'start/a',
      'start/b',
      expect.stringMatching(/^FAKE-1: untestable, ceiling: what it is compared with is at 99\.6%/),
    ])
    expect(experiment.plan().warnings.join()).toContain('FAKE-1: untestable, ceiling')
    expect(experiment.plan().done).toBe(2)
  })

  it('are not told where there is room, and a look that fails does not stop the arms', async () => {
    const roomy = experimentOf(evaluating(0.6), registration)
    await roomy.run(roomy.jobs.slice(0, 2), never, {})
    expect(roomy.plan().warnings.join()).not.toContain('untestable')
    rmSync(work, { recursive: true })
    const failing: Execute = async (launch, stop) => {
      if (launch.dir.includes('starts/better')) throw new Error('no such test set')
      return evaluating(0.996)(launch, stop)
    }
    const said: string[] = []
    const experiment = experimentOf(failing, registration)
    const { failed } = await experiment.run(experiment.jobs.slice(0, 2), never, {
      onNote: text => said.push(text),
    })
    expect(failed).toEqual([])
    expect(said).toEqual(['start/a: could not be looked at beforehand: no such test set'])
    expect(experiment.jobs.filter(job => experiment.isComplete(job)).map(({ id }) => id)).toEqual([
      'better/a/1',
    ])
  })
})

describe('two commands at once', () => {
  it('of one registration: the second is refused and touches nothing, until the first is done', async () => {
    const launched: string[] = []
    let open = () => {}
    const gate = new Promise<void>(resolve => {
      open = resolve
    })
    const first = experimentOf(async ({ dir }) => {
      launched.push(dir)
      await gate
      return { finished: true }
    })
    const second = experimentOf(async ({ dir }) => {
      launched.push(`second ${dir}`)
      return { finished: true }
    })
    const running = first.run(first.jobs.slice(0, 1), never, {})
    await expect(second.run(second.jobs, never, {})).rejects.toThrow(
      `another gradus experiment is at work on this registration: process ${process.pid} on `,
    )
    open()
    expect((await running).failed).toEqual([])
    expect(launched).toEqual([join(first.jobs[0].dir, 'run')])
    expect((await second.run(second.jobs.slice(0, 1), never, {})).failed).toEqual([])
    expect(existsSync(join(first.folder, 'registration.json'))).toBe(true)
  })

  it('of which one may be gone with its host: the lock file to delete is named', async () => {
    const experiment = experimentOf(async () => ({ finished: true }))
    const owner = { pid: 1, host: 'replaced', born: null, since: '2026-01-01T00:00:00Z' }
    writeFileAtomic(join(experiment.folder, 'lock'), JSON.stringify(owner))
    await expect(experiment.run(experiment.jobs, never, {})).rejects.toThrow(
      `delete ${join(experiment.folder, 'lock')}`,
    )
  })

  it('of two registrations in one folder go side by side', async () => {
    const execute: Execute = async ({ dir }) => {
      leaveCheckpoint(dir)
      return { finished: true }
    }
    const both = [fakeRegistration({ seeds: [1] }), fakeRegistration({ seeds: [2] })].map(registration =>
      experimentOf(execute, registration),
    )
    const results = await Promise.all(both.map(each => each.run(each.jobs.slice(0, 3), never, {})))
    expect(results.map(({ failed }) => failed)).toEqual([[], []])
  })
})
