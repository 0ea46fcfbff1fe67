import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  bytesOf,
  endedWell,
  fingerprint,
  inventedVerdicts,
  leftovers,
  locksLeft,
  rawErrors,
  sameRun,
  stepsInOrder,
  verdictsOfCache,
  verdictsOfRun,
} from '../scripts/chaos/checks.js'
import { damageRun } from '../scripts/chaos/damage.js'
import { Tally } from '../scripts/chaos/tally.js'
import { VerdictCache } from '../src/grade/judge/cache/index.ts'

let folder: string
let whole: string
let run: string
let nth = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-chaos-checks-'))
  whole = join(folder, 'whole')
  const checkpoint = join(whole, 'checkpoints', 'step-000003')
  mkdirSync(checkpoint, { recursive: true })
  const rows = [1, 2, 3].map(step => `${JSON.stringify({ step, loss: step / 7, time: { total: step } })}\n`)
  writeFileSync(join(whole, 'metrics.jsonl'), rows.join(''))
  writeFileSync(join(whole, 'evals.jsonl'), '{"step":3,"judgeCalls":6,"scores":{"a":{"value":0.5}}}\n')
  writeFileSync(join(checkpoint, 'model.safetensors'), Buffer.alloc(64, 7))
  writeFileSync(join(checkpoint, 'optimizer.safetensors'), Buffer.alloc(64, 9))
  writeFileSync(join(checkpoint, 'recipe-state.json'), '{"now":{"buffers":[1],"bank":null}}')
  writeFileSync(join(whole, 'rubrics.jsonl'), '{"step":1,"key":"a","rubrics":[]}\n')
  writeFileSync(join(whole, 'bank.jsonl'), '{"gradus":"bank","items":0}\n')
})
beforeEach(() => {
  run = join(folder, `run-${nth++}`)
  cpSync(whole, run, { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const edit = (name: string, change: (text: string) => string) => {
  const path = join(run, name)
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}
const problems = () => sameRun(fingerprint(run), fingerprint(whole))

describe('the comparison with an undisturbed run', () => {
  it('finds nothing in a copy, nor in other times and other numbers of calls', () => {
    edit('metrics.jsonl', text => text.replace('"total":2', '"total":99'))
    edit('evals.jsonl', text => text.replace('"judgeCalls":6', '"judgeCalls":1'))
    edit('checkpoints/step-000003/recipe-state.json', () => '{"now":{"bank":null,"buffers":[1]}}')
    expect(problems()).toEqual([])
  })

  it.each([
    ['rubrics', () => edit('rubrics.jsonl', text => text.replace('"a"', '"b"')), 'rubrics: row 1'],
    ['a bank', () => edit('bank.jsonl', text => text.replace('0', '1')), 'bank.jsonl: other bytes'],
    ['a bank that is missing', () => rmSync(join(run, 'bank.jsonl')), 'bank.jsonl: missing'],
    [
      "a recipe's state",
      () => edit('checkpoints/step-000003/recipe-state.json', text => text.replace('1', '2')),
      "recipe's state: row 1",
    ],
    ['a number', () => edit('metrics.jsonl', text => text.replace('0.285', '0.286')), 'metrics: row 2'],
    [
      'a row that is missing',
      () => edit('metrics.jsonl', text => text.slice(0, text.indexOf('\n') + 1)),
      '3 rows',
    ],
    ['a row twice', () => edit('metrics.jsonl', text => text + text), 'got 6'],
    ['an evaluation', () => edit('evals.jsonl', text => text.replace('0.5', '0.25')), 'evals: row 1'],
    [
      'a byte of the weights',
      () => writeFileSync(join(run, 'checkpoints/step-000003/model.safetensors'), Buffer.alloc(64, 8)),
      'model.safetensors: other bytes',
    ],
    [
      'moments that are gone',
      () => rmSync(join(run, 'checkpoints/step-000003/optimizer.safetensors')),
      'optimizer.safetensors: missing',
    ],
  ])('finds %s', (_, doctor, words) => {
    doctor()
    expect(problems().join()).toContain(words)
  })

  it('notices every kind of damage that it does itself', () => {
    for (let i = 0; i < 40; i++) {
      rmSync(run, { recursive: true })
      cpSync(whole, run, { recursive: true })
      const what = damageRun(run, { target: (i % 4) / 4, how: ((i * 7) % 10) / 10, place: i / 40 })
      expect(what).toMatch(/safetensors|jsonl|recipe-state/)
      expect([what, problems().length > 0 || what!.includes('a digit changed')]).toEqual([what, true])
    }
  })
})

describe('what a finished command leaves', () => {
  it('is looked through for temporary files, locks, and the order of steps', () => {
    expect([leftovers(run), locksLeft(run), stepsInOrder(run)]).toEqual([[], [], []])
    mkdirSync(join(run, 'checkpoints', 'step-000004.12.new.tmp.new'))
    writeFileSync(join(run, 'config.json.7.tmp'), '')
    writeFileSync(join(run, 'lock'), '{}')
    edit('metrics.jsonl', text => text.replace('"step":2', '"step":4'))
    expect(leftovers(run)).toHaveLength(2)
    expect(locksLeft(run)).toEqual(['a lock is left: lock'])
    expect(stepsInOrder(run)).toEqual(['metrics.jsonl: steps 1, 4, 3'])
  })

  it('has a size', () => {
    appendFileSync(join(run, 'big'), Buffer.alloc(5000))
    expect(bytesOf(run).largest).toBe(5000)
    expect(bytesOf(run).all).toBeGreaterThan(5000 + 128)
  })
})

describe('the end of a command', () => {
  const ended = { code: 0 as number | null, signal: null as string | null, hung: false, stacks: '' }
  const fine = { codes: [0], signals: ['SIGKILL'] }

  it.each([
    [ended, '', 0],
    [{ ...ended, code: null, signal: 'SIGKILL' }, '', 0],
    [{ ...ended, code: null, signal: 'SIGSEGV' }, '', 1],
    [{ ...ended, code: 7 }, '', 1],
    [{ ...ended, hung: true }, '', 1],
  ])('%j', (end, err, count) => {
    expect(endedWell(end, fine, err)).toHaveLength(count)
  })

  it('with code 1 needs words', () => {
    const refusal = { codes: [1], signals: [] }
    expect(endedWell({ ...ended, code: 1 }, refusal, 'gradus: the disk is full\n')).toEqual([])
    expect(endedWell({ ...ended, code: 1 }, refusal, '')).toHaveLength(1)
  })

  it('is no stack, and no error that nobody foresaw', () => {
    expect(rawErrors('gradus: lock: this run is being written by process 7; look at file.ts\n')).toEqual([])
    expect(rawErrors(new Error('x').stack ?? '')).toHaveLength(1)
    expect(rawErrors('gradus: x is undefined\n(GRADUS_DEBUG=1 shows where this came from)')).toHaveLength(1)
  })
})

describe('verdicts', () => {
  const id = '0123456789abcdef'
  const given = new Map([[id, true]])
  it.each([
    [{ met: true, explanation: `seal ${id} true` }, 0],
    [{ met: null }, 0],
    [{ met: false, explanation: `seal ${id} true` }, 1],
    [{ met: false, explanation: `seal ${id} false` }, 1],
    [{ met: true, explanation: `seal ${id} guessed` }, 1],
    [{ met: true, explanation: 'seal 1111111111111111 true' }, 1],
    [{ met: true }, 1],
  ])('%j', (verdict, count) => {
    expect(inventedVerdicts([verdict], given)).toHaveLength(count)
  })

  it('are read from rollouts and from a cache', () => {
    writeFileSync(join(run, 'rollouts.jsonl'), '{"step":1,"verdicts":[{"met":true}]}\n{"step":2}\n')
    expect(verdictsOfRun(run)).toEqual([{ met: true }])
    const cache = VerdictCache.open(join(run, 'cache'))
    cache.put('a'.repeat(32), [{ met: false, explanation: 'why' }])
    cache.close()
    expect(verdictsOfCache(join(run, 'cache'))).toEqual([{ met: false, explanation: 'why' }])
  })
})

it('the tally counts by job and fault, and names what failed', () => {
  const tally = new Tally()
  const trial = { job: { name: 'a' }, fault: 'kill', round: 1 }
  const result = { disturbances: 2, resumes: 1, outcome: 'identical', folder: null }
  tally.add(trial, { ...result, findings: [{ check: 'lock', problems: [] }] })
  tally.add(trial, {
    ...result,
    findings: [{ check: 'lock', problems: ['left', 'left'] }],
    folder: '/somewhere/kept',
  })
  expect(tally.total('kill')).toMatchObject({
    trials: 2,
    disturbances: 4,
    resumes: 2,
    identical: 1,
    failed: 1,
  })
  expect(tally.total('clock')).toMatchObject({ trials: 0 })
  expect(tally.checks).toEqual({ lock: { passed: 1, failed: 1 } })
  expect(tally.failures).toMatchObject([
    { job: 'a', fault: 'kill', check: 'lock', problem: 'left', more: 1, folder: 'kept' },
  ])
  expect(tally.lines().join('\n')).toContain('FAILED a, kill: lock: left (kept)')
})
