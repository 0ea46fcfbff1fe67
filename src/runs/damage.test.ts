import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointError } from '../util/errors.ts'
import { examineRun } from './check-run.ts'
import { evalRow } from './eval-row.fixture.ts'
import { readEvals, readEvents, readMetrics } from './readers.ts'
import { RunFolder } from './run-folder.ts'

let root: string
let dir: string
/** Twelve steps, checkpoints at 4 and 8; rows of every file. Killed after step 12. */
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'gradus-damage-'))
  dir = join(root, 'run')
  const run = RunFolder.create(dir, { config: {} })
  await record(run, 1, 12)
  run.close()
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const record = async (run: RunFolder, from: number, to: number) => {
  for (let step = from; step <= to; step++) {
    run.appendMetrics({ step, reward: step / 7 })
    run.appendRollouts([{ step, problemId: `p${step}`, prompt: '', response: 'r', reward: 1 }])
    if (step % 2 === 0) run.appendEvals([evalRow(0.5, { step })])
    if (step % 3 === 0) run.appendEvent({ level: 'info', message: `note ${step}` })
    if (step % 4 === 0 && step < 12) {
      await run.writeCheckpoint(
        { step, configHash: 'h', rng: {} },
        folder => {
          writeFileSync(join(folder, 'model.safetensors'), `weights ${step}`)
          writeFileSync(join(folder, 'optimizer.safetensors'), `moments ${step}`)
        },
        { keepLast: 1 },
      )
    }
  }
}

const path = (...parts: string[]) => join(dir, ...parts)
const newest = (...parts: string[]) => path('checkpoints', 'step-000008', ...parts)
const change = (file: string, edit: (text: string) => string) =>
  writeFileSync(file, edit(readFileSync(file, 'utf8')))
const lines = (edit: (lines: string[]) => string[]) => (text: string) =>
  `${edit(text.trimEnd().split('\n')).join('\n')}\n`
const without = (i: number) => lines(all => all.toSpliced(i, 1))
const doubled = (i: number) => lines(all => all.toSpliced(i, 0, all[i]))

/** Resumes, and goes on to step 12 as it was. */
const resumed = async (options = {}) => {
  const run = RunFolder.open(dir)
  try {
    const { step, warnings } = run.resume('h', options)
    await record(run, step + 1, 12)
    return { step, warnings: warnings.join('\n') }
  } finally {
    run.close()
  }
}

it('goes on from the newest checkpoint where nothing is damaged, and says nothing', async () => {
  expect(await resumed()).toEqual({ step: 8, warnings: '' })
  expect(examineRun(dir)).toMatchObject({ whole: true, leftovers: [], lockedBy: null, resumesFrom: newest() })
})

describe('a damaged checkpoint gives way to the one before it', () => {
  it.each<[string, () => void, RegExp]>([
    ['moments gone', () => rmSync(newest('optimizer.safetensors')), /optimizer\.safetensors is missing/],
    [
      'weights flipped',
      () => change(newest('model.safetensors'), text => text.replace('w', 'v')),
      /model.*SHA-256/,
    ],
    ['moments cut', () => writeFileSync(newest('optimizer.safetensors'), 'mom'), /expected 9 bytes, got 3/],
    [
      'another step',
      () => change(newest('run-state.json'), text => text.replace('8', '7')),
      /run-state\.json.*SHA-256/,
    ],
    ['no state', () => rmSync(newest('run-state.json')), /run-state\.json is missing/],
    ['no manifest', () => rmSync(newest('manifest.json')), /manifest\.json is missing/],
    [
      'manifest changed',
      () => change(newest('manifest.json'), text => text.replace('8', '9')),
      /manifest\.json/,
    ],
    [
      'half a manifest',
      () => change(newest('manifest.json'), text => text.slice(0, 40)),
      /manifest\.json: not JSON/,
    ],
  ])('%s', async (_, damage, message) => {
    const before = readMetrics(dir)
    damage()
    expect(examineRun(dir)).toMatchObject({ whole: false, resumesFrom: path('checkpoints', 'step-000004') })
    const { step, warnings } = await resumed()
    expect(step).toBe(4)
    expect(warnings).toMatch(message)
    expect(warnings).toContain('Going on from step-000004')
    expect(readEvents(dir).filter(({ level }) => level === 'warning')).toHaveLength(1)
    expect(readMetrics(dir)).toEqual(before)
    expect(readdirSync(path('checkpoints')).sort()).toEqual([
      'latest',
      'step-000004',
      'step-000008',
      'step-000008.damaged',
    ])
    expect(examineRun(dir).whole).toBe(true)
  })

  it('under another name as well', () => {
    renameSync(newest(), path('checkpoints', 'step-000010'))
    writeFileSync(path('checkpoints', 'latest'), 'step-000010\n')
    const run = RunFolder.open(dir)
    expect(run.resume('h')).toMatchObject({
      step: 4,
      warnings: [expect.stringMatching(/manifest is of step 8/)],
    })
    run.close()
  })

  it('until there is none: an error that names all of it and the way out', () => {
    for (const name of ['step-000004', 'step-000008'])
      rmSync(path('checkpoints', name, 'optimizer.safetensors'))
    const run = RunFolder.open(dir)
    const before = readFileSync(path('metrics.jsonl'), 'utf8')
    expect(() => run.resume('h')).toThrow(CheckpointError)
    expect(() => run.resume('h')).toThrow(
      /no checkpoint will do.*step-000008.*step-000004.*from a copy.*another folder/,
    )
    run.close()
    expect(readFileSync(path('metrics.jsonl'), 'utf8')).toBe(before)
  })
})

describe('rows of any number and of any step', () => {
  it.each([1e12, 1e300, 2.5, -3])('a step %d is told, not counted up to', step => {
    appendFileSync(path('metrics.jsonl'), `${JSON.stringify({ step, reward: 0 })}\n`)
    expect(examineRun(dir).whole).toBe(false)
  })

  it('as many rollouts as a long run has', () => {
    appendFileSync(path('rollouts.jsonl'), '{"step":12}\n'.repeat(200_000))
    const rollouts = examineRun(dir).examined.find(({ name }) => name === 'rollouts.jsonl')
    expect(rollouts).toMatchObject({ problems: [], notes: ['200012 rows, up to step 12'] })
  })

  it.skipIf(process.platform === 'win32')('a pipe in place of a file is told, not waited at', () => {
    for (const file of [
      'rollouts.jsonl',
      'lock',
      'checkpoints/latest',
      'checkpoints/step-000008/manifest.json',
    ]) {
      rmSync(path(file), { force: true })
      spawnSync('mkfifo', [path(file)])
    }
    const { whole, examined } = examineRun(dir)
    expect(whole).toBe(false)
    expect(JSON.stringify(examined)).toMatch(/rollouts\.jsonl: expected a file, got a pipe or a device/)
  })
})

describe('rows from before a checkpoint that are not as they were', () => {
  it.each<[string, string, (text: string) => string, RegExp]>([
    ['missing', 'metrics.jsonl', without(6), /step 7 missing/],
    ['doubled', 'metrics.jsonl', doubled(6), /step 7 more than once/],
    [
      'changed',
      'metrics.jsonl',
      text => text.replace('"step":7,"reward":1', '"step":7,"reward":0'),
      /not those that were written/,
    ],
    [
      'out of order',
      'metrics.jsonl',
      lines(all => [...all.slice(0, 5), all[6], all[5], ...all.slice(7)]),
      /out of order/,
    ],
    ['no JSON', 'metrics.jsonl', text => text.replace('"step":7', '"step":,7'), /metrics\.jsonl:7: not JSON/],
    ['missing', 'rollouts.jsonl', without(6), /rollouts\.jsonl/],
    ['doubled', 'evals.jsonl', doubled(2), /evals\.jsonl/],
    ['without its step', 'evals.jsonl', text => text.replace('"step":6', '"wtep":6'), /evals\.jsonl/],
    ['without its step', 'metrics.jsonl', text => text.replace('"step":7', '"wtep":7'), /step 7 missing/],
    ['missing', 'events.jsonl', without(1), /events\.jsonl/],
  ])('%s in %s: made again from the checkpoint before', async (_, file, edit, message) => {
    const before = readMetrics(dir)
    const evals = readEvals(dir)
    change(path(file), edit)
    expect(examineRun(dir).whole).toBe(false)
    const { step, warnings } = await resumed()
    expect(step).toBe(4)
    expect(warnings).toMatch(message)
    expect(readMetrics(dir)).toEqual(before)
    expect(readEvals(dir)).toEqual(evals)
    expect(examineRun(dir)).toMatchObject({ whole: true })
  })

  it('are refused where no checkpoint is older, unless they are accepted', async () => {
    change(path('metrics.jsonl'), without(1))
    const run = RunFolder.open(dir)
    expect(() => run.resume('h')).toThrow(/step 2 missing.*--accept-rows/)
    run.close()
    const { step, warnings } = await resumed({ acceptRows: true })
    expect(step).toBe(8)
    expect(warnings).toMatch(/step 2 missing; taken as it is/)
    expect(readMetrics(dir).map(row => row.step)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })

  it('are not those that came later: a doubled last row and a torn one go', async () => {
    const before = readMetrics(dir)
    const row = readFileSync(path('metrics.jsonl'), 'utf8').split('\n')[7]
    change(path('metrics.jsonl'), text => `${text.split('\n').slice(0, 8).join('\n')}\n${row}\n{"step":9,"re`)
    expect(await resumed()).toEqual({ step: 8, warnings: '' })
    expect(readMetrics(dir)).toEqual(before)
  })

  it('keep events without a step, each once', async () => {
    await resumed()
    const notes = readEvents(dir).map(({ message }) => message)
    // Of steps 9 and 12 there are two: events have no step, and what was noted stays.
    expect(notes).toEqual(['note 3', 'note 6', 'note 9', 'note 12', 'note 9', 'note 12'])
  })
})

describe('what is kept', () => {
  it('is two whole checkpoints whatever is asked for, and none is removed for a damaged one', async () => {
    rmSync(newest('optimizer.safetensors'))
    const run = RunFolder.open(dir)
    const save = (step: number) =>
      run.writeCheckpoint({ step, configHash: 'h', rng: {} }, () => {}, { keepLast: 1 })
    await save(12)
    expect(readdirSync(path('checkpoints')).sort()).toEqual([
      'latest',
      'step-000004',
      'step-000008',
      'step-000012',
    ])
    await save(16)
    expect(readdirSync(path('checkpoints')).sort()).toEqual([
      'latest',
      'step-000008',
      'step-000012',
      'step-000016',
    ])
    run.close()
  })

  it('stays when a course was given up: later checkpoints do not count', async () => {
    writeFileSync(path('checkpoints', 'latest'), 'step-000004\n')
    const run = RunFolder.open(dir)
    expect(run.resume('h').step).toBe(4)
    run.appendMetrics({ step: 5, reward: 0 })
    await run.writeCheckpoint({ step: 5, configHash: 'h', rng: {} }, () => {}, { keepLast: 2 })
    rmSync(path('checkpoints', 'step-000005', 'run-state.json'))
    expect(run.resume('h').step).toBe(4)
    run.close()
  })
})

describe('an examination', () => {
  it('tells of a changed configuration, a lost pointer, a torn row and leftovers, and writes nothing', () => {
    change(path('config.json'), text => text.replace('"run"', '"walk"'))
    rmSync(path('checkpoints', 'latest'))
    appendFileSync(path('metrics.jsonl'), '{"step":13,')
    const dead = spawnSync(process.execPath, ['-e', '']).pid
    const left = path('checkpoints', `step-000012.${dead}.new.tmp.new`)
    writeFileSync(left, '')
    writeFileSync(newest('notes.txt'), '')
    const files = () => readdirSync(root, { recursive: true }).sort()
    const before = files()
    const found = examineRun(dir)
    expect(files()).toEqual(before)
    const of = (name: string) => found.examined.find(each => each.name === name)!
    expect(of('config.json').problems).toEqual(['it was changed since the checkpoint was saved'])
    expect(of('checkpoints/latest').problems).toHaveLength(1)
    expect(of('metrics.jsonl')).toMatchObject({
      problems: [],
      notes: [expect.any(String), expect.stringMatching(/torn/)],
    })
    expect(of('checkpoints/step-000008').notes).toEqual(['files that were not saved with it: notes.txt'])
    expect(found.leftovers).toEqual([left])
    RunFolder.open(dir).close()
    expect(existsSync(left)).toBe(false)
  })
})

it('a phase of its own without its config.json is not whole', async () => {
  const phase = RunFolder.create(path('cold-start'), { config: {} })
  await record(phase, 1, 8)
  phase.close()
  expect(examineRun(dir).whole).toBe(true)
  rmSync(path('cold-start', 'config.json'))
  const { whole, phases } = examineRun(dir)
  expect(whole).toBe(false)
  expect(phases[0].examined[0].problems[0]).toContain('no config.json')
})
