import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { DataError } from '../../util/errors.ts'
import { TrackerLedger } from './ledger.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-ledger-'))
afterAll(() => rmSync(root, { recursive: true }))
const path = join(root, 'mlflow-12345678.jsonl')

const opened = (...lines: string[]) => {
  writeFileSync(path, lines.map(line => `${line}\n`).join(''))
  return () => new TrackerLedger(path)
}

describe('a ledger from its file', () => {
  const begun = '{"identity":"run"}'

  it('knows what was sent and what has arrived', () => {
    const sent = '{"sending":[["metrics/1","a",5],["metrics/2","b",6]]}'
    expect(opened(begun, sent, '{"arrived":1}')()).toMatchObject({ identity: 'run', arrived: 1, lastStep: 2 })
  })

  it.each(['{"sending":5}', '{"sending":[["metrics/1"]]}', '{"identity":7}', '{"arrived":"all"}', '[1]'])(
    'refuses %s by its line',
    line => {
      const open = opened(begun, line)
      expect(open).toThrow(DataError)
      expect(open).toThrow(
        `${path}:2: expected identity, sending or arrived as a tracker's ledger has them, got`,
      )
    },
  )
})
