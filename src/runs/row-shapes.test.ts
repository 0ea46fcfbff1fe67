import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DataError } from '../util/errors.ts'
import { evalRow } from './eval-row.fixture.ts'
import { readEvents, readNewRows, readRollouts, readRunInfo } from './readers.ts'
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

  it.each([null, 5, 'x', {}, { criteria: [null] }])('are refused as the rubric of a run: %j', rubric => {
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
