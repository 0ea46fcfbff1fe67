import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import { examineRun, latestCheckpoint, readEvents, readMetrics, withoutTimings } from '../../runs/index.ts'
import { Rng } from '../../util/rng.ts'
import { cli, Sandbox, SLOW_MS, tinyColdStart, tinyModel, tinyReinforcement } from '../cli.fixture.ts'

/** Processes killed over all kinds of runs; `GRADUS_KILLS=64` for a thorough look. */
const KILLS = Number(process.env.GRADUS_KILLS ?? 2)
const STEPS = 8
const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

const sandbox = new Sandbox()
let model: string
beforeAll(async () => {
  model = await tinyModel(sandbox)
}, SLOW_MS)
afterAll(() => sandbox.remove())

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  err: string
}

const start = (file: string, run: string, ...more: string[]) => {
  const args = [main, 'train', file, '--out', sandbox.path(run), '--json', ...more]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let err = ''
  child.stderr.on('data', chunk => {
    err += chunk
  })
  const ended = new Promise<Ended>(resolve =>
    child.once('close', (code, signal) => resolve({ code, signal, err })),
  )
  return { child, ended }
}

/** What must be the same whatever happened on the way. */
const tracesOf = (run: string) => ({
  metrics: readMetrics(sandbox.path(run)).map(withoutTimings),
  weights: readFileSync(
    sandbox.path(run, 'checkpoints', `step-${String(STEPS).padStart(6, '0')}`, 'model.safetensors'),
  ).toString('base64'),
})

const isTemporary = (name: string) => /\.tmp(\.old|\.new)?$/.test(name)
const leftovers = (run: string) =>
  readdirSync(sandbox.path(run), { recursive: true, encoding: 'utf8' }).filter(isTemporary)

const packing = (more: object) => ({
  recipe: 'ruscarl',
  steps: STEPS,
  coldStart: {
    steps: 4,
    batch: 8,
    model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 96 } },
    policy: { threads: 1 },
    evaluation: { problems: 4 },
    checkpoint: { every: 2 },
  },
  policy: { threads: 1 },
  rollout: { prompts: 2, samples: 4, maxTokens: 26 },
  evaluation: { problems: 4 },
  checkpoint: { every: 2 },
  pipeline: true,
  ...more,
})

const KINDS: [string, () => object][] = [
  ['plain', () => tinyReinforcement(model, STEPS, { checkpoint: { every: 2 } })],
  // One engine in a pipeline that is stopped: train/paired.test.ts, golden runs.
  [
    'pipelined on two engines, its cold start included',
    () => packing({ policy: { threads: 1, sampler: { threads: 1 } } }),
  ],
]

describe('a run that is killed at any moment and started again', { timeout: SLOW_MS * 10 }, () => {
  it.each(KINDS)('leaves the same metrics and weights, and nothing else: %s', async (kind, settings) => {
    const file = sandbox.write(`${kind}.yaml`, settings())
    const startMs = performance.now()
    expect(await start(file, `${kind} whole`).ended).toMatchObject({ code: 0 })
    let wholeMs = performance.now() - startMs
    const expected = tracesOf(`${kind} whole`)
    expect(expected.metrics).toHaveLength(STEPS)
    const rng = new Rng(`kills of ${kind}`)
    let kills = 0
    for (let round = 0; kills < KILLS / KINDS.length; round++) {
      const run = `${kind} ${round}`
      for (let finished = false; !finished; ) {
        const { child, ended } = start(file, run, '--resume-or-start')
        if (kills < KILLS / KINDS.length) {
          await Promise.race([wait(rng.next() * wholeMs), ended])
          child.kill('SIGKILL')
        }
        const { code, signal, err } = await ended
        // Machines get faster and slower: kills are to come while there is something to kill.
        if (signal === null) wholeMs *= 0.7
        if (signal === 'SIGKILL') kills++
        else expect(err).toBe('')
        finished = code === 0
      }
      expect(tracesOf(run)).toEqual(expected)
      expect(leftovers(run)).toEqual([])
      expect(examineRun(sandbox.path(run)).whole).toBe(true)
    }
    expect(kills).toBeGreaterThanOrEqual(KILLS / KINDS.length)
  })
})

const until = async (condition: () => boolean, child: ChildProcess) => {
  while (!condition() && child.exitCode === null) await wait(5)
}

describe('what a scheduler does', { timeout: SLOW_MS }, () => {
  it('starts, is asked to stop by SIGTERM, goes on, and finds it finished', async () => {
    const file = sandbox.write('cs.yaml', tinyColdStart(60, { checkpoint: { every: 50 } }))
    const { child, ended } = start(file, 'job', '--resume-or-start')
    await until(() => existsSync(sandbox.path('job', 'metrics.jsonl')), child)
    child.kill('SIGTERM')
    expect((await ended).code).toBe(130)
    const steps = readMetrics(sandbox.path('job')).length
    expect(steps).toBeGreaterThan(0)
    expect(steps).toBeLessThan(60)
    expect(existsSync(sandbox.path('job', 'lock'))).toBe(false)
    expect(await start(file, 'job', '--resume-or-start').ended).toMatchObject({ code: 0 })
    expect(readMetrics(sandbox.path('job'))).toHaveLength(60)
    const again = await cli(['train', file, '--out', sandbox.path('job'), '--resume-or-start'])
    expect(again.code).toBe(0)
    expect(again.err).toContain('finished already at step 60')
  })

  it('loses the terminal, which hangs up twice: the step is finished and saved', async () => {
    const file = sandbox.write('hup.yaml', tinyColdStart(60, { checkpoint: { every: 50 } }))
    const { child, ended } = start(file, 'hung up', '--resume-or-start')
    await until(() => existsSync(sandbox.path('hung up', 'metrics.jsonl')), child)
    child.kill('SIGHUP')
    child.kill('SIGHUP')
    expect((await ended).code).toBe(130)
    const steps = readMetrics(sandbox.path('hung up')).length
    expect(steps).toBeLessThan(60)
    expect(latestCheckpoint(sandbox.path('hung up'))).toContain(`step-${String(steps).padStart(6, '0')}`)
    expect(existsSync(sandbox.path('hung up', 'lock'))).toBe(false)
  })

  it('asks twice: it ends at once, and goes on from the last checkpoint', async () => {
    const file = sandbox.write('cs2.yaml', tinyColdStart(60, { checkpoint: { every: 2 } }))
    const { child, ended } = start(file, 'twice', '--resume-or-start')
    await until(() => existsSync(sandbox.path('twice', 'checkpoints', 'latest')), child)
    child.kill('SIGTERM')
    child.kill('SIGINT')
    expect((await ended).code).toBe(130)
    expect(existsSync(sandbox.path('twice', 'lock'))).toBe(false)
    expect(examineRun(sandbox.path('twice')).resumesFrom).not.toBeNull()
    expect(await start(file, 'twice', '--resume-or-start').ended).toMatchObject({ code: 0, err: '' })
    expect(examineRun(sandbox.path('twice'))).toMatchObject({ whole: true, leftovers: [] })
  })

  it('starts again in place what was killed before its first checkpoint', async () => {
    const file = sandbox.write('cs3.yaml', tinyColdStart(40))
    const { child, ended } = start(file, 'early')
    await until(
      () =>
        existsSync(sandbox.path('early', 'metrics.jsonl')) && readMetrics(sandbox.path('early')).length > 2,
      child,
    )
    child.kill('SIGKILL')
    expect((await ended).signal).toBe('SIGKILL')
    const plain = await cli(['train', file, '--out', sandbox.path('early'), '--resume'])
    expect(plain).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no checkpoint was saved yet.*--resume-or-start/),
    })
    const args = ['train', file, '--out', sandbox.path('early'), '--resume-or-start']
    const again = await cli(args)
    expect(again.err).toMatch(
      /ended before its first checkpoint; begun again from the start, \d+ recorded steps dropped/,
    )
    expect(again.code).toBe(0)
    expect(readMetrics(sandbox.path('early')).map(({ step }) => step)).toEqual(
      Array.from({ length: 40 }, (_, i) => i + 1),
    )
    expect(readEvents(sandbox.path('early'))[0].message).toContain('begun again')
  })

  it.each<[string, (dir: string) => void]>([
    ['nothing', () => {}],
    ['an empty folder', dir => mkdirSync(dir)],
    [
      'a dead lock and half a folder',
      dir => {
        mkdirSync(join(dir, 'checkpoints', 'step-000002.1.new.tmp'), { recursive: true })
        const owner = { pid: 2 ** 22 + 1, host: hostname(), born: null, since: '' }
        writeFileSync(join(dir, 'lock'), JSON.stringify(owner))
      },
    ],
  ])('starts where there is %s', async (what, prepare) => {
    const file = sandbox.write('cs4.yaml', tinyColdStart(2))
    const dir = sandbox.path(`from ${what}`)
    prepare(dir)
    const { code, err } = await cli(['train', file, '--out', dir, '--resume-or-start', '--quiet'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(leftovers(`from ${what}`)).toEqual([])
  })

  it('is refused while another process holds the run, and where other files are', async () => {
    const file = sandbox.write('cs5.yaml', tinyColdStart(2))
    const dir = sandbox.path('held')
    await cli(['train', file, '--out', dir, '--quiet'])
    writeFileSync(
      join(dir, 'lock'),
      JSON.stringify({ pid: process.ppid, host: hostname(), born: null, since: '' }),
    )
    const held = await cli(['train', file, '--out', dir, '--resume-or-start'])
    expect(held).toMatchObject({ code: 1, err: expect.stringContaining('being written by process') })
    mkdirSync(sandbox.path('foreign'))
    writeFileSync(sandbox.path('foreign', 'thesis.txt'), '')
    const foreign = await cli(['train', file, '--out', sandbox.path('foreign'), '--resume-or-start'])
    expect(foreign).toMatchObject({ code: 1, err: expect.stringContaining('not empty') })
    const both = await cli(['train', file, '--out', dir, '--resume', '--resume-or-start'])
    expect(both.code).toBe(2)
  })

  it('says of damage also when it is quiet; the command that checks says it beforehand', async () => {
    const file = sandbox.write('cs6.yaml', tinyColdStart(9, { checkpoint: { every: 3 } }))
    const dir = sandbox.path('damaged')
    await cli(['train', file, '--out', dir, '--quiet'])
    const whole = await cli(['runs', 'check', dir])
    expect(whole).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/\nwhole\n$/) })
    writeFileSync(join(dir, 'checkpoints', 'step-000009', 'optimizer.safetensors'), '')
    const checked = await cli(['runs', 'check', dir, '--json'])
    expect(checked.code).toBe(1)
    expect(JSON.parse(checked.out)).toMatchObject({
      whole: false,
      resumesFrom: join(dir, 'checkpoints', 'step-000006'),
    })
    const resumed = await cli(['train', file, '--out', dir, '--resume', '--quiet'])
    expect(resumed.code).toBe(0)
    expect(resumed.err).toMatch(/step-000009 is damaged: optimizer\.safetensors.*Going on from step-000006/)
    expect((await cli(['runs', 'check', dir])).code).toBe(0)
    writeFileSync(join(dir, 'checkpoints', 'step-000009', 'model.safetensors'), 'x')
    const loaded = LocalPolicy.start({ folder: join(dir, 'checkpoints', 'step-000009') })
    await expect(loaded).rejects.toThrow(/model\.safetensors: expected \d+ bytes, got 1/)
  })
})
