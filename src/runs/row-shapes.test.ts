import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DataError } from '../util/errors.ts'
import { evalRow } from './eval-row.fixture.ts'
import { readEvals, readEvents, readNewRows, readRollouts, readRunInfo } from './readers.ts'
import { compareRuns } from './report/compare.ts'
import { writeReport } from './report/report.ts'
import type { EvalItem } from './rows.ts'
import { RunFolder } from './run-folder.ts'

let root: string
let dir: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-row-shapes-'))
  dir = join(root, 'run')
  RunFolder.create(dir, { config: {} }).close()
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const rollout = { step: 1, problemId: 'p', prompt: '', response: 'r', reward: 1 }
const event = { step: 1, level: 'warning', message: 'seen' }

it('criteria may be called as what every object has', () => {
  const criteria = { constructor: 0.25, toString: 0.5, ['__proto__']: 0.75, fair: 1 }
  const info = {
    id: 'r',
    createdAt: '2026-01-01',
    config: {},
    criterionNames: { fair: 'fairness' },
    environment: {},
  }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(info))
  const rows = [
    evalRow(0.5, { criteria: { fair: 0.5 }, tax: {} }),
    evalRow(1, { step: 1, criteria, tax: {} }),
  ]
  writeFileSync(join(dir, 'evals.jsonl'), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const page = readFileSync(writeReport(dir), 'utf8')
  for (const id of Object.keys(criteria))
    expect(page).toContain(`<th scope="row" data-head="Criterion"><span>${id}`)
  expect(page).not.toMatch(/native code|NaN/)
  const [changed] = compareRuns(dir, dir).json.criteria
  expect(changed).toMatchObject({ criterion: 'constructor', label: 'constructor', sinceStart: { a: null } })
})

describe('rows that cannot be shown', () => {
  it.each([null, 5, 'x', {}, [null], ['x'], [[]]])('are refused with their file and field: %j', value => {
    for (const name of ['turns', 'steps', 'verdicts', 'judgeCalls', 'lessons']) {
      writeFileSync(join(dir, 'rollouts.jsonl'), `${JSON.stringify({ ...rollout, [name]: value })}\n`)
      const said = new RegExp(`rollouts\\.jsonl: ${name} of a row: expected a list of objects`)
      expect(() => readRollouts(dir)).toThrow(DataError)
      expect(() => readNewRows(dir, 'rollouts')).toThrow(said)
      expect(() => writeReport(dir)).toThrow(said)
      expect(existsSync(join(dir, 'report.html'))).toBe(false)
    }
  })

  it.each([null, 5, 'x', {}, [null]])('are refused in what an evaluation keeps for reading: %j', value => {
    const evalOf = (sample: unknown) => evalRow(1, { items: [{ id: 'p', scores: {}, sample } as EvalItem] })
    const says = (sample: unknown) => {
      writeFileSync(join(dir, 'evals.jsonl'), `${JSON.stringify(evalOf(sample))}\n`)
      return () => writeReport(dir)
    }
    expect(says({ prompt: '', response: '', reward: 1, verdicts: value })).toThrow(
      /evals\.jsonl: verdicts of a sample: expected a list of objects/,
    )
    if (JSON.stringify(value) !== '{}')
      expect(says(value)).toThrow(/evals\.jsonl: sample of an item: expected an object/)
  })

  it.each([null, 5, 'x', {}, [null]])('are refused as the problems of an evaluation: %j', value => {
    const says = (items: unknown) => {
      writeFileSync(join(dir, 'evals.jsonl'), `${JSON.stringify(evalRow(1, { items } as object))}\n`)
      return () => readEvals(dir)
    }
    expect(says(value)).toThrow(/evals\.jsonl: items of a row: expected a list of objects/)
    writeFileSync(join(dir, 'evals.jsonl'), `${JSON.stringify({ ...evalRow(1), set: [value] })}\n`)
    expect(() => readEvals(dir)).toThrow(/set of a row: expected a text/)
    if (value !== 'x') expect(says([{ id: value, scores: {} }])).toThrow(/id of an item: expected a text/)
    if (JSON.stringify(value) !== '{}')
      expect(says([{ id: 'p', scores: value }])).toThrow(/scores of an item: expected an object/)
  })

  it.each([
    null,
    5,
    'x',
    {},
    { criteria: [null] },
    { criteria: [{ id: true, text: 't', points: 1, check: null }] },
  ])('are refused as the rubric of a run: %j', rubric => {
    writeFileSync(join(dir, 'config.json'), JSON.stringify({ id: 'r', config: {}, rubric }))
    expect(() => readRunInfo(dir)).toThrow(/config\.json: expected .* criteria of its rubric/)
  })

  it.each([
    ['message', null],
    ['message', 5],
    ['message', undefined],
    ['monitor', {}],
    ['title', [{}]],
    ['step', { a: 1 }],
    ['step', true],
  ])('are refused of events: %s %j', (name, value) => {
    writeFileSync(join(dir, 'events.jsonl'), `${JSON.stringify({ ...event, [name]: value })}\n`)
    expect(() => readEvents(dir)).toThrow(new RegExp(`events\\.jsonl: ${name} of a row: expected a`))
    expect(() => writeReport(dir)).toThrow(DataError)
  })

  it('are not those that lack what may be absent, nor a last line that is half written', () => {
    writeFileSync(join(dir, 'rollouts.jsonl'), `${JSON.stringify({ ...rollout, verdicts: [] })}\n`)
    appendFileSync(join(dir, 'rollouts.jsonl'), '{"step":2,"verdi')
    writeFileSync(join(dir, 'events.jsonl'), `${JSON.stringify({ level: 'info', message: '' })}\n`)
    expect(readRollouts(dir)).toHaveLength(1)
    expect(readEvents(dir)).toHaveLength(1)
    expect(existsSync(writeReport(dir))).toBe(true)
  })
})
