import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { shellWord } from '../../util/invocation.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { readEvents } from '../readers.ts'
import { RunFolder } from '../run-folder.ts'
import type { TrackerSettings } from './config.ts'
import { readEventFiles } from './events.fixture.ts'
import { exportRun } from './export.ts'
import { FakeMlflow, type FakeRun } from './servers.fixture.ts'
import { metricsRow, type TrackedRunFixture, trackedRun } from './tracked-run.fixture.ts'
import { checkTrackers, RunTrackers } from './trackers.ts'

let server: FakeMlflow
let tracked: TrackedRunFixture
let run: RunFolder
let logged: string[]
beforeEach(async () => {
  server = await new FakeMlflow().start()
  tracked = trackedRun()
  run = RunFolder.open(tracked.dir)
  logged = []
})
afterEach(async () => {
  run.close()
  await server.stop()
  tracked.remove()
})

const mlflow = (): TrackerSettings => ({ kind: 'mlflow', uri: server.url, experiment: 'live' })
/** A name that a shell reads otherwise unless it is quoted. */
const named = (): TrackerSettings => ({ kind: 'mlflow', uri: server.url, experiment: 'live "$HOME"' })
const files: TrackerSettings = { kind: 'tensorboard', folder: null }
const follow = (settings: readonly TrackerSettings[] = [mlflow()], options = {}) =>
  new RunTrackers(settings, run, {
    env: {},
    tell: words => logged.push(words),
    firstWaitMs: 5,
    longestWaitMs: 20,
    timeoutMs: 60_000,
    lastMs: 60_000,
    ...options,
  })
const rewards = ({ metrics }: FakeRun = server.runs.at(-1)!) =>
  metrics.filter(({ key }) => key === 'reward').map(({ step, value }) => [step, value])
const upTo = (last: number) => Array.from({ length: last }, (_, i) => [i + 1, (i + 1) / 8])
const until = async (so: () => boolean) => {
  while (!so()) await wait(5)
}
const noted = () => {
  const folder = join(tracked.dir, 'trackers')
  return JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]), 'utf8'))
}
const folder = () => join(tracked.dir, 'tensorboard')
const warnings = () => readEvents(tracked.dir).filter(({ level }) => level === 'warning')

/** A process that follows the run with both trackers, and stays. */
const followsInAProcess = (rows: readonly object[]) => {
  const modules = ['../run-folder.js', './trackers.js'].map(path => workerUrl(import.meta.url, path).href)
  return `
    const [{ RunFolder }, { RunTrackers }] = await Promise.all(${JSON.stringify(modules)}.map(url => import(url)))
    const run = RunFolder.open(${JSON.stringify(tracked.dir)})
    new RunTrackers(${JSON.stringify([mlflow(), files])}, run, { env: {}, tell() {}, firstWaitMs: 5, longestWaitMs: 20 })
    for (const row of ${JSON.stringify(rows)}) run.appendMetrics(row)
    setInterval(() => {}, 1_000)`
}

describe('trackers of a run that trains', () => {
  it('have each step as it comes, and the end', async () => {
    const trackers = follow([mlflow(), files])
    run.appendMetrics(metricsRow(1))
    await until(() => server.runs[0]?.metrics.some(({ step, key }) => step === 1 && key === 'reward'))
    expect(server.runs[0].status).toBe('RUNNING')
    run.appendMetrics(metricsRow(2))
    await trackers.close('finished')
    expect(rewards()).toEqual(upTo(2))
    expect(server.runs[0].status).toBe('FINISHED')
    const [{ scalars }] = readEventFiles(join(tracked.dir, 'tensorboard'))
    expect(scalars.filter(({ tag }) => tag === 'reward').map(({ step, value }) => [step, value])).toEqual(
      upTo(2),
    )
    expect(logged).toEqual([])
  })

  it('that are down are told once, and have everything when they are back', async () => {
    const { port } = server
    await server.stop()
    const trackers = follow()
    for (let step = 1; step <= 3; step++) {
      run.appendMetrics(metricsRow(step))
      await wait(30)
    }
    await until(() => logged.length > 0)
    expect(warnings()).toHaveLength(1)
    expect(logged).toEqual([warnings()[0].message])
    expect(logged[0]).toMatch(/MLflow at .*ECONNREFUSED.*the training goes on, and it is tried again/)
    await server.start(port)
    await until(() => server.runs.length > 0 && rewards().length === 3)
    await trackers.close('finished')
    expect(rewards()).toEqual(upTo(3))
    expect(logged).toHaveLength(1)
  })

  it.each([['hang'], [503], ['cut'], [429]] as const)(
    'that only %s hold nothing up; what is missing is said with the command that delivers it',
    async mood => {
      server.mood = mood
      const trackers = follow([named()], { timeoutMs: 100, lastMs: 300 })
      for (let step = 1; step <= 3; step++) run.appendMetrics(metricsRow(step))
      await trackers.close('finished')
      const command = `gradus export ${shellWord(tracked.dir)} --mlflow ${server.url} --experiment 'live "$HOME"'`
      expect(logged.at(-1)).toContain('4 of 4 rows were not delivered')
      expect(logged.at(-1)).toContain(command)
      expect(warnings().at(-1)?.message).toBe(logged.at(-1))
      server.mood = 'well'
      run.close()
      await exportRun(tracked.dir, named(), { env: {} })
      expect(rewards()).toEqual(upTo(3))
    },
  )

  it('that refuse are asked no more', async () => {
    server.mood = 403
    const trackers = follow()
    run.appendMetrics(metricsRow(1))
    await until(() => logged.length > 0)
    for (let step = 2; step <= 5; step++) {
      run.appendMetrics(metricsRow(step))
      await wait(10)
    }
    await trackers.close('failed')
    expect(server.requests).toHaveLength(1)
    expect(logged[0]).toContain('nothing more is sent there while this training goes on')
    expect(logged[1]).toContain('6 of 6 rows were not delivered')
  })

  it.each([
    ['an export wrote them as well', () => exportRun(tracked.dir, files, { env: {} })],
    [
      'somebody has removed them',
      async () =>
        readdirSync(folder()).forEach(name => {
          rmSync(join(folder(), name))
        }),
    ],
  ])('have each step once in their files where %s', async (_, meddle) => {
    const trackers = follow([files])
    const seen = () =>
      readEventFiles(folder()).flatMap(file =>
        file.scalars.flatMap(({ tag, step, value }) => (tag === 'reward' ? [[step, value]] : [])),
      )
    run.appendMetrics(metricsRow(1))
    await until(() => existsSync(folder()) && seen().length === 1)
    // The export is there before the training's own delivery.
    run.appendMetrics(metricsRow(2))
    await meddle()
    run.appendMetrics(metricsRow(3))
    await trackers.close('finished')
    expect(seen()).toEqual(upTo(3))
  })

  it('go on with a run that was stopped, in the same run', async () => {
    const first = follow([mlflow(), files])
    run.appendMetrics(metricsRow(1))
    run.appendMetrics(metricsRow(2))
    await first.close('stopped')
    expect(server.runs[0].status).toBe('KILLED')
    run.close()
    run = RunFolder.open(tracked.dir)
    const second = follow([mlflow(), files])
    run.appendMetrics(metricsRow(3))
    await second.close('finished')
    expect(server.runs).toHaveLength(1)
    expect(rewards()).toEqual(upTo(3))
    expect(server.runs[0].status).toBe('FINISHED')
    expect(readEventFiles(join(tracked.dir, 'tensorboard'))).toHaveLength(1)
  })

  it('have one value a step of a run that was killed and went on from an earlier step', async () => {
    run.close()
    const rows = Array.from({ length: 5 }, (_, i) => metricsRow(i + 1))
    const child = spawn(process.execPath, ['--input-type=module', '-e', followsInAProcess(rows)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const gone = once(child, 'exit')
    await until(() => server.runs.length > 0 && rewards().length === 5)
    // Killed when all was noted: nothing is closed.
    await until(() => existsSync(join(tracked.dir, 'trackers')) && noted().metrics.rows === 5)
    child.kill('SIGKILL')
    await gone
    run = RunFolder.open(tracked.dir)
    run.truncateAfter(2)
    const trackers = follow([mlflow(), files])
    for (let step = 3; step <= 6; step++) run.appendMetrics(metricsRow(step, { time: { total: 9 } }))
    await trackers.close('finished')
    expect(server.runs).toHaveLength(1)
    expect(rewards()).toEqual(upTo(6))
    const scalars = readEventFiles(join(tracked.dir, 'tensorboard')).flatMap(file => file.scalars)
    expect(scalars.filter(({ tag }) => tag === 'reward').map(({ step, value }) => [step, value])).toEqual(
      upTo(6),
    )
  })

  it('have no step that the run has no more', async () => {
    const first = follow()
    for (let step = 1; step <= 5; step++) run.appendMetrics(metricsRow(step))
    await first.close('stopped')
    run.truncateAfter(2)
    const second = follow()
    run.appendMetrics(metricsRow(3))
    await second.close('finished')
    expect(rewards()).toEqual(upTo(3))
    expect(server.runs[0].tags['gradus.replaced']).toBeDefined()
  })

  it('that cannot be written to are told, and no more', async () => {
    const trackers = follow([{ kind: 'tensorboard', folder: join(tracked.dir, 'config.json') }], {
      lastMs: 300,
    })
    run.appendMetrics(metricsRow(1))
    await trackers.close('finished')
    expect(logged.at(-1)).toContain('--tensorboard')
    expect(existsSync(join(tracked.dir, 'metrics.jsonl'))).toBe(true)
  })

  it('have everything where it could not be noted for a while what they have', async () => {
    writeFileSync(join(tracked.dir, 'trackers'), 'a file in the place of the folder')
    const trackers = follow()
    run.appendMetrics(metricsRow(1))
    await until(() => logged.length > 0)
    expect(logged[0]).toMatch(/could not be written.*the training goes on, and it is tried again/)
    expect(server.runs).toHaveLength(0)
    rmSync(join(tracked.dir, 'trackers'))
    run.appendMetrics(metricsRow(2))
    await trackers.close('finished')
    expect([logged.length, rewards()]).toEqual([1, upTo(2)])
  })

  it('are not sent rows that are broken', async () => {
    const trackers = follow()
    run.appendMetrics(metricsRow(1))
    appendFileSync(join(tracked.dir, 'metrics.jsonl'), '{"step":"two"}\n')
    await trackers.close('finished')
    expect(logged[0]).toContain('expected a row with its step')
  })
})

it('A setting that cannot be used is refused with its place', () => {
  expect(() => checkTrackers([files, { kind: 'mlflow', uri: null, experiment: null }], {})).toThrow(
    'trackers[1]: mlflow: expected the address of a server, got none',
  )
  expect(() => checkTrackers([mlflow(), files, mlflow()], {})).toThrow(
    /trackers\[2\]: the same place as trackers\[0\]/,
  )
  checkTrackers([{ kind: 'mlflow', uri: null, experiment: null }], { MLFLOW_TRACKING_URI: 'http://h:1/' })
  expect(readFileSync(join(tracked.dir, 'config.json'), 'utf8')).toContain('"rit"')
})
