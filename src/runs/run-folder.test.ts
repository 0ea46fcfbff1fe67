import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointError, ConfigError, NumericError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { RunError } from './errors.ts'
import { isLocked } from './lock.ts'
import {
  latestCheckpoint,
  readEvents,
  readMetrics,
  readRollouts,
  readRunInfo,
  withoutTimings,
} from './readers.ts'
import { clearRun, RunFolder } from './run-folder.ts'
import { configHash } from './run-state.ts'

let root: string
let dir: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-run-'))
  dir = join(root, 'first')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const config = { learningRate: 1e-4, groups: 8 }
const hash = configHash(config, [])
const create = () => RunFolder.create(dir, { config, seed: 7, version: '0.1.0', recipe: 'rubric-as-reward' })
const state = (step: number) => ({ step, configHash: hash, rng: { data: new Rng(7).state() } })
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid
const lockOf = (pid: number, host = hostname()) =>
  writeFileSync(join(dir, 'lock'), JSON.stringify({ pid, host, born: null, since: '2026-01-01T00:00:00Z' }))

describe('a run folder', () => {
  it('that is begun anew says nothing of the rows and the rubric that it had', () => {
    const rubric = { criteria: [], ofRows: 3, sha256: 'x' }
    const forkedFrom = { run: 'other', step: 2 }
    const run = RunFolder.create(dir, { config, rubric, primarySet: 'held-out', forkedFrom })
    run.restart({ config, rewardFormula: 'another' })
    run.close()
    for (const info of [run.info, readRunInfo(dir)]) {
      expect(info).not.toHaveProperty('rubric')
      expect(info).not.toHaveProperty('primarySet')
      expect(info).toMatchObject({ id: 'first', rewardFormula: 'another', forkedFrom })
    }
  })

  it('holds config, version, seed and environment, and rows that can be read while it is open', () => {
    const run = create()
    run.appendMetrics({ step: 1, reward: 0.5, criteria: { C1: 1 }, time: { total: 2 } })
    run.appendRollouts([{ step: 1, problemId: 'a', prompt: 'p', response: 'r', reward: 1 }])
    run.appendEvent({ level: 'warning', message: 'low entropy', step: 1 })
    expect(readRunInfo(dir)).toMatchObject({ id: 'first', seed: 7, version: '0.1.0', config })
    expect(readRunInfo(dir).environment.node).toBe(process.version)
    expect(readMetrics(dir)).toEqual([{ step: 1, reward: 0.5, criteria: { C1: 1 }, time: { total: 2 } }])
    expect(readRollouts(dir)).toHaveLength(1)
    expect(readEvents(dir)[0].at).toMatch(/^\d{4}-/)
    run.close()
  })

  it('refuses to be made where a run or other files are', () => {
    create().close()
    expect(create).toThrow(/there is a run here already.*--resume/)
    mkdirSync(join(root, 'other'))
    writeFileSync(join(root, 'other', 'thesis.txt'), '')
    expect(() => RunFolder.create(join(root, 'other'), { config })).toThrow(/not empty/)
    writeFileSync(join(root, 'file'), '')
    expect(() => RunFolder.create(join(root, 'file'), { config })).toThrow(/got a file/)
    expect(readdirSync(join(root, 'other'))).toEqual(['thesis.txt'])
  })

  it('refuses NaN and steps out of order, and writes neither', () => {
    const run = create()
    run.appendMetrics({ step: 3, reward: 1 })
    expect(() => run.appendMetrics({ step: 4, criteria: { C2: Number.NaN } })).toThrow(NumericError)
    expect(() => run.appendMetrics({ step: 3, reward: 1 })).toThrow(/step 3 comes after step 3/)
    expect(readMetrics(dir)).toHaveLength(1)
    const rollout = { step: 4, problemId: 'a', prompt: 'p', response: '', reward: 0, advantage: Number.NaN }
    expect(() => run.appendRollouts([rollout])).toThrow('rollout of a, step 4: advantage is NaN')
    expect(readRollouts(dir)).toEqual([])
    run.close()
  })

  it('skips a torn last line when reading and drops it when opened', () => {
    const run = create()
    run.appendMetrics({ step: 1, reward: 1 })
    run.close()
    appendFileSync(join(dir, 'metrics.jsonl'), '{"step":2,"rew')
    expect(readMetrics(dir)).toHaveLength(1)
    const again = RunFolder.open(dir)
    again.appendMetrics({ step: 2, reward: 2 })
    expect(readFileSync(join(dir, 'metrics.jsonl'), 'utf8')).toBe(
      '{"step":1,"reward":1}\n{"step":2,"reward":2}\n',
    )
    again.close()
  })

  it('names file and line of damage in the middle', () => {
    create().close()
    writeFileSync(join(dir, 'metrics.jsonl'), '{"step":1}\n{"st\n{"step":3}\n')
    expect(() => readMetrics(dir)).toThrow(/metrics\.jsonl:2: not JSON/)
  })
})

describe('the lock', () => {
  it('keeps a second writer out, in this process and in another', () => {
    const run = create()
    expect(() => RunFolder.open(dir)).toThrow(/being written by process \d+.*two processes/)
    run.close()
    lockOf(process.ppid)
    expect(() => RunFolder.open(dir)).toThrow(RunError)
    expect(isLocked(dir)).toBe(true)
  })

  it('is taken over from a dead process, and from an earlier life of this pid', () => {
    create().close()
    for (const pid of [deadPid(), process.pid]) {
      lockOf(pid)
      expect(isLocked(dir)).toBe(false)
      RunFolder.open(dir).close()
      expect(existsSync(join(dir, 'lock'))).toBe(false)
    }
  })

  it('is not guessed about when another host holds it', () => {
    create().close()
    lockOf(1, 'elsewhere')
    expect(() => RunFolder.open(dir)).toThrow(/on elsewhere.*is gone .*or delete .*lock/)
  })
})

describe('two processes', () => {
  it('do not both write a run: one that was taken over and given back is left alone by the sleeper', () => {
    const sleeper = create()
    rmSync(join(dir, 'lock'))
    const other = RunFolder.open(dir)
    other.appendMetrics({ step: 1 })
    other.close()
    expect(() => sleeper.appendMetrics({ step: 2 })).toThrow(/lock of this process is gone/)
    expect(() => sleeper.remove()).toThrow(RunError)
    sleeper.close()
    expect(readMetrics(dir)).toEqual([{ step: 1 }])
  })

  it('nor is one cleared away that a living process has taken', () => {
    const run = create()
    run.appendMetrics({ step: 1 })
    run.close()
    lockOf(process.ppid)
    expect(() => clearRun(dir)).toThrow(/being written by process/)
    expect(readMetrics(dir)).toHaveLength(1)
    rmSync(join(dir, 'lock'))
    clearRun(dir)
    expect(readdirSync(dir)).toEqual([])
    create().close()
  })
})

describe('what is no run', () => {
  it.each<[string, (path: string) => void, RegExp]>([
    ['a folder', path => mkdirSync(path), /config\.json: expected a file, got a folder/],
    ['null', path => writeFileSync(path, 'null'), /config\.json: expected the description of a run/],
    ['a list', path => writeFileSync(path, '[]'), /config\.json: expected the description of a run/],
    ['cut', path => writeFileSync(path, '{"id"'), /config\.json: not JSON.*put it back/],
  ])('is told in words: config.json as %s', (_what, damage, words) => {
    create().close()
    rmSync(join(dir, 'config.json'))
    damage(join(dir, 'config.json'))
    expect(() => readRunInfo(dir)).toThrow(words)
    expect(() => RunFolder.open(dir)).toThrow(words)
  })

  it.each<[string, (path: string) => void, RegExp]>([
    ['a folder', path => mkdirSync(path), /metrics\.jsonl: expected a file, got a folder/],
    ['null in a line', path => writeFileSync(path, 'null\n'), /metrics\.jsonl:1: expected a row/],
  ])('is told in words: rows as %s', (_what, damage, words) => {
    create().close()
    damage(join(dir, 'metrics.jsonl'))
    expect(() => readMetrics(dir)).toThrow(words)
  })
})

describe('resuming', () => {
  it('needs a run and a checkpoint', () => {
    expect(() => RunFolder.open(dir)).toThrow(/no run here.*resume/)
    const run = create()
    run.appendMetrics({ step: 1, reward: 1 })
    expect(() => run.resume()).toThrow(/nothing to resume: no checkpoint/)
    expect(readMetrics(dir)).toHaveLength(1)
    run.close()
  })

  it('gives the metrics of an uninterrupted run after a kill', async () => {
    const train = async (run: RunFolder, from: number, to: number, rng: Rng) => {
      for (let step = from; step <= to; step++) {
        run.appendMetrics({ step, reward: rng.next(), time: { total: Math.random() } })
        if (step % 5 === 0) {
          const saved = { step, configHash: hash, rng: { data: rng.state() } }
          await run.writeCheckpoint(saved, at => writeFileSync(join(at, 'weights'), `${step}`))
        }
      }
    }
    const whole = RunFolder.create(join(root, 'whole'), { config })
    await train(whole, 1, 12, new Rng(1))
    whole.close()

    const killed = create()
    await train(killed, 1, 8, new Rng(1))
    killed.appendRollouts([{ step: 8, problemId: 'x', prompt: '', response: '', reward: 0 }])
    killed.close()
    lockOf(deadPid())
    appendFileSync(join(dir, 'metrics.jsonl'), '{"step":9,"re')
    for (const half of ['new.tmp', 'new.tmp.new', 'new.tmp.old'])
      mkdirSync(join(dir, 'checkpoints', `step-000010.99.${half}`))

    const resumed = RunFolder.open(dir)
    const point = resumed.resume(hash)
    expect(point.step).toBe(5)
    expect(readFileSync(join(point.dir, 'weights'), 'utf8')).toBe('5')
    expect(readMetrics(dir)).toHaveLength(5)
    expect(readRollouts(dir)).toHaveLength(0)
    expect(readdirSync(join(dir, 'checkpoints')).sort()).toEqual(['latest', 'step-000005'])
    await train(resumed, 6, 12, Rng.from(point.state.rng.data))
    resumed.close()
    expect(readMetrics(dir).map(withoutTimings)).toEqual(readMetrics(join(root, 'whole')).map(withoutTimings))
  })

  it('refuses a changed configuration and a broken state', async () => {
    const run = create()
    await run.writeCheckpoint(state(5), () => {})
    expect(() => run.resume(configHash({ ...config, groups: 9 }, []))).toThrow(ConfigError)
    writeFileSync(join(dir, 'checkpoints/step-000005/run-state.json'), '{"step":5')
    expect(() => run.resume()).toThrow(CheckpointError)
    run.close()
  })

  it('finds the newest whole checkpoint when the pointer is lost', async () => {
    const run = create()
    await run.writeCheckpoint(state(5), () => {})
    await run.writeCheckpoint(state(10), () => {})
    rmSync(join(dir, 'checkpoints', 'latest'))
    expect(latestCheckpoint(dir)).toBe(join(dir, 'checkpoints', 'step-000010'))
    run.close()
  })
})

describe('checkpoints', () => {
  it('leave the earlier one in place when saving fails', async () => {
    const run = create()
    await run.writeCheckpoint(state(5), at => writeFileSync(join(at, 'weights'), 'good'))
    const full = () => {
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    }
    await expect(run.writeCheckpoint(state(10), full)).rejects.toThrow(/disk is full.*--resume/)
    expect(readdirSync(join(dir, 'checkpoints')).sort()).toEqual(['latest', 'step-000005'])
    expect(run.resume().step).toBe(5)
    run.close()
  })

  it('are pruned to the newest and every k-th', async () => {
    const run = create()
    for (let step = 10; step <= 80; step += 10) {
      await run.writeCheckpoint(state(step), () => {}, { keepLast: 2, keepEvery: 30 })
    }
    expect(readdirSync(join(dir, 'checkpoints')).sort()).toEqual([
      'latest',
      'step-000030',
      'step-000060',
      'step-000070',
      'step-000080',
    ])
    run.close()
  })
})

describe.skipIf(!existsSync('/dev/full'))('a full disk', () => {
  it('is named, says what to do, and loses nothing', () => {
    const run = create()
    run.appendMetrics({ step: 1, reward: 1 })
    symlinkSync('/dev/full', join(dir, 'rollouts.jsonl'))
    const row = { step: 1, problemId: 'a', prompt: 'p', response: 'r', reward: 1 }
    expect(() => run.appendRollouts([row])).toThrow(/rollouts\.jsonl.*disk is full \(ENOSPC\).*--resume/)
    expect(readMetrics(dir)).toEqual([{ step: 1, reward: 1 }])
    run.close()
  })
})
