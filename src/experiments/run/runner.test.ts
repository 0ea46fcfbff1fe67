import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { saveRunState } from '../../runs/run-state.ts'
import { fakeRegistration } from '../fake-paper.fixture.ts'
import { type Job, jobsOf, workFolders } from '../plan/jobs.ts'
import { isDone, provenanceOf, readRecord, startModel, startSetting } from './ledger.ts'
import { countTrained, type Provenance } from './provenance.ts'
import { type Execute, type Launch, type RunnerEvents, runJobs } from './runner.ts'

let work: string
let jobs: Job[]
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'gradus-runner-'))
  const registration = fakeRegistration({ seeds: [1, 2] })
  jobs = jobsOf(registration, workFolders(work, registration), () => ({ steps: 10 })).slice(0, 5)
})
afterEach(() => rmSync(work, { recursive: true, force: true }))

/** Leaves a checkpoint as training would. */
const checkpoint = (dir: string, finished: boolean) => {
  const folder = join(dir, 'checkpoints', 'step-000001')
  mkdirSync(folder, { recursive: true })
  saveRunState(folder, { step: 1, configHash: 'x', rng: {}, recipe: { finished, trainedMs: 0 } })
  writeFileSync(join(dir, 'checkpoints', 'latest'), 'step-000001')
}

const armOf = ({ dir }: Launch) => jobs.find(job => dir.startsWith(`${job.dir}/`))!.id

const record = (behave: (launch: Launch, stop: AbortSignal) => boolean | Promise<boolean>) => {
  const launches: { id: string; resume: boolean; model: unknown }[] = []
  const execute: Execute = async (launch, stop) => {
    const model = launch.training.settings.at(-1)?.model
    launches.push({ id: armOf(launch), resume: launch.resume, model })
    const finished = await behave(launch, stop)
    checkpoint(launch.dir, finished)
    return { finished }
  }
  return { execute, launches }
}

/** As of a commit of that name. */
const madeBy = (commit: string): Provenance => ({ versions: { commit }, machine: {} })

const run = (
  execute: Execute,
  stop = new AbortController(),
  events: RunnerEvents = {},
  width = 1,
  commit = 'one',
) =>
  runJobs(jobs, {
    execute,
    probe: async () => {},
    isComplete: isDone,
    provenance: () => madeBy(commit),
    width,
    stop: stop.signal,
    events,
  })

describe('the runner', () => {
  it('makes the cold start first and gives its checkpoint to the arms', async () => {
    const { execute, launches } = record(() => true)
    expect(await run(execute)).toEqual({ failed: [], interrupted: false })
    expect(launches.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id))
    const folder = join(jobs[0].dir, 'run', 'checkpoints', 'step-000001')
    expect(launches.slice(1).every(({ model }) => JSON.stringify(model) === JSON.stringify({ folder }))).toBe(
      true,
    )
  })

  it('does not run again what is done, and resumes what was begun', async () => {
    const stop = new AbortController()
    const begun = record(({ dir }) => {
      if (!dir.includes('plain')) return true
      stop.abort()
      return false
    })
    expect((await run(begun.execute, stop)).interrupted).toBe(true)
    expect(begun.launches.map(({ id }) => id)).toEqual(['start/a', 'better/a/1', 'plain/a/1'])
    const rest = record(() => true)
    await run(rest.execute)
    expect(rest.launches.map(({ id, resume }) => [id, resume])).toEqual([
      ['plain/a/1', true],
      ['worse/a/1', false],
      ['random/a/1', false],
    ])
  })

  it('notes down what had ended by itself, and does not tell of it as done now', async () => {
    const { execute, launches } = record(() => true)
    checkpoint(join(jobs[0].dir, 'run'), true)
    const logged: string[] = []
    await run(execute, undefined, { onDone: ({ id }) => logged.push(id) })
    expect(logged).toEqual(launches.map(({ id }) => id))
    expect(logged).toEqual(jobs.slice(1).map(({ id }) => id))
    expect(readRecord(jobs[0]).finished).toBe(true)
  })

  it('asked to stop while a run comes to its end, leaves its measuring to the next call', async () => {
    const stop = new AbortController()
    const probed: string[] = []
    const isComplete = (job: Job) => isDone(job) && (job.kind === 'start' || probed.includes(job.id))
    const options = {
      isComplete,
      probe: async (job: Job) => void probed.push(job.id),
      provenance: () => madeBy('one'),
      width: 1,
    }
    const ending = record(({ dir }) => {
      if (dir.includes('better')) stop.abort()
      return true
    })
    await runJobs(jobs, { ...options, execute: ending.execute, stop: stop.signal })
    expect(readRecord(jobs[1])).toMatchObject({ id: 'better/a/1', finished: true })
    expect(probed).toEqual([])
    const next = record(() => true)
    await runJobs(jobs, { ...options, execute: next.execute, stop: new AbortController().signal })
    expect(next.launches.map(({ id }) => id)).not.toContain('better/a/1')
    expect(probed).toContain('better/a/1')
  })

  it('goes on with a run that was killed after an earlier phase of its own', async () => {
    const { execute, launches } = record(() => true)
    for (const [i, phase] of ['cold-start', 'sft', 'no-phase'].entries()) {
      const file = join(jobs[i + 1].dir, 'run', phase, 'demonstrations.jsonl')
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, '')
    }
    await run(execute)
    expect(launches.slice(1, 4).map(({ resume }) => resume)).toEqual([true, true, false])
    expect(existsSync(join(jobs[2].dir, 'run', 'sft', 'demonstrations.jsonl'))).toBe(true)
    expect(existsSync(join(jobs[3].dir, 'run', 'no-phase'))).toBe(false)
  })

  it('begins with a given model by the name it was registered with, wherever that lies', () => {
    const given = {
      ...jobs[0],
      given: '/moved/since/models/x',
      training: { recipe: 'package:models/x', settings: [] },
    }
    expect(startSetting(given)).toBe('package:models/x')
    expect(startModel(given)).toBe('/moved/since/models/x')
  })

  it('says whom it waits for, and what to do where that may be gone for long', async () => {
    const dir = join(jobs[1].dir, 'run')
    const lock = join(dir, 'lock')
    mkdirSync(dir, { recursive: true })
    const owner = { pid: 1, host: 'replaced', born: null, since: '2026-01-01T00:00:00Z' }
    writeFileSync(lock, JSON.stringify(owner))
    const logged: string[] = []
    const { execute, launches } = record(() => true)
    await run(execute, undefined, {
      onWait: (job, { who, advice }) => {
        logged.push(`${job.id}: ${who}; ${advice}`)
        rmSync(lock)
      },
    })
    expect(logged).toEqual([
      `better/a/1: process 1 on replaced since 2026-01-01T00:00:00Z; if that process is gone (a container that was replaced, for example), try again when its lock has not been touched for 5 minutes, or delete ${lock}`,
    ])
    expect(launches).toHaveLength(5)
  })

  it('notes down what each run was trained with, also before it ends', async () => {
    const stop = new AbortController()
    const stopped = record(({ dir }) => {
      if (!dir.includes('plain')) return true
      expect(readRecord(jobs[2])).toMatchObject({ configHash: jobs[2].configHash, finished: false })
      stop.abort()
      return false
    })
    await run(stopped.execute, stop)
    await run(record(() => true).execute, undefined, {}, 1, 'two')
    const commits = jobs.map(job => readRecord(job).provenance!.map(({ versions }) => versions.commit))
    expect(commits).toEqual([['one'], ['one'], ['one', 'two'], ['two'], ['two']])
    expect(countTrained(jobs.map(provenanceOf))).toEqual([
      { ...madeBy('one'), runs: 3 },
      { ...madeBy('two'), runs: 3 },
    ])
  })

  it('refuses to train on something else when the checkpoint of a cold start is gone', async () => {
    await run(record(({ dir }) => !dir.includes('random')).execute, undefined, {}, 1)
    rmSync(join(jobs[0].dir, 'run', 'checkpoints'), { recursive: true })
    const { execute, launches } = record(() => true)
    const { failed } = await run(execute)
    expect(launches).toEqual([])
    expect(failed.map(({ job }) => job.id)).toEqual(['random/a/1'])
    expect(failed[0].message).toContain(
      `the checkpoint of its cold start start/a is gone; put it back, or remove ${jobs[0].dir}`,
    )
  })

  it('takes a run as done whose process finished after the command was killed', async () => {
    const { execute, launches } = record(() => true)
    checkpoint(join(jobs[0].dir, 'run'), true)
    await run(execute)
    expect(launches.map(({ id }) => id)).not.toContain('start/a')
    expect(readRecord(jobs[0])).toMatchObject({ finished: true, attempts: 1 })
  })

  it('tries a failed run once more, then reports it while the others go on', async () => {
    const logged: string[] = []
    const { execute, launches } = record(launch => {
      if (armOf(launch) === 'better/a/1') throw new Error('out of memory')
      return true
    })
    const { failed } = await run(execute, undefined, {
      onFailure: (job, message, again) => logged.push(`${job.id} ${message} ${again}`),
    })
    expect(failed.map(({ job, message }) => `${job.id}: ${message}`)).toEqual(['better/a/1: out of memory'])
    expect(logged).toEqual(['better/a/1 out of memory true', 'better/a/1 out of memory false'])
    expect(launches.filter(({ id }) => id === 'better/a/1')).toHaveLength(2)
    expect(launches.map(({ id }) => id)).toContain('random/a/1')
  })

  it('fails the arms of a cold start that fails', async () => {
    const { execute, launches } = record(() => {
      throw new Error('no')
    })
    const { failed } = await run(execute)
    expect(launches.map(({ id }) => id)).toEqual(['start/a', 'start/a'])
    expect(failed.map(({ message }) => message)).toEqual([
      'no',
      ...Array(4).fill('its cold start start/a failed'),
    ])
  })

  it('measures what is trained, once, also when the training was done before', async () => {
    const probed = new Set<string>()
    const measured = () => {
      const probe = async (job: Job) => void probed.add(job.id)
      const isComplete = (job: Job) => isDone(job) && (job.kind === 'start' || probed.has(job.id))
      return {
        probe,
        isComplete,
        provenance: () => madeBy('one'),
        width: 1,
        stop: new AbortController().signal,
      }
    }
    const first = record(() => true)
    await run(first.execute)
    const second = record(() => true)
    await runJobs(jobs, { ...measured(), execute: second.execute })
    expect(second.launches).toEqual([])
    expect([...probed]).toEqual(jobs.slice(1).map(({ id }) => id))
  })

  it('runs as many at a time as it may, none before its cold start', async () => {
    let [now, most] = [0, 0]
    const { execute, launches } = record(async () => {
      most = Math.max(most, ++now)
      await new Promise(done => setTimeout(done, 5))
      now--
      return true
    })
    await run(execute, undefined, {}, 3)
    expect(most).toBe(3)
    expect(launches[0].id).toBe('start/a')
    expect(launches).toHaveLength(5)
  })
})
