import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { appendPreference, type Preference, readPreferences, somePreferences } from './preferences.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-preferences-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const answer = { step: 1, response: 'said', credits: { right: 1, long: null } }
const chosen = (id: string, more: Partial<Preference> = {}): Preference => ({
  ...{ id, at: '2026-01-01T00:00:00Z', who: 'ann', pair: id, problemId: 'p', prompt: 'q', choice: 'a' },
  ...{ a: answer, b: answer, points: { right: 2, long: -1 } },
  ...more,
})
const ids = () => readPreferences(dir).standing.map(({ id }) => id)

it('choices stand until they are undone, and one person has one of a pair', () => {
  expect(readPreferences(dir)).toEqual({ standing: [], broken: 0 })
  for (const id of ['1', '2', '3']) appendPreference(dir, chosen(id))
  appendPreference(dir, { undo: '2', at: '', who: 'ann' })
  appendPreference(dir, chosen('4', { pair: '1', choice: 'b' }))
  appendPreference(dir, chosen('5', { pair: '1', who: 'ben' }))
  expect(ids()).toEqual(['3', '4', '5'])
  expect(readPreferences(join(dir, 'preferences.jsonl')).standing).toEqual(somePreferences(dir))
  expect(readPreferences(dir).standing[1]).toEqual(chosen('4', { pair: '1', choice: 'b' }))
})

it('a line that a kill cut off costs itself alone', () => {
  appendPreference(dir, chosen('1'))
  const file = join(dir, 'preferences.jsonl')
  appendFileSync(file, JSON.stringify(chosen('2')).slice(0, 90))
  expect(readPreferences(dir)).toMatchObject({ standing: [{ id: '1' }], broken: 1 })
  appendPreference(dir, chosen('3'))
  appendFileSync(file, '7\n{"id":"4"}\n')
  expect(ids()).toEqual(['1', '3'])
  expect(readPreferences(dir).broken).toBe(3)
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(6)
})

it('is refused where the file is a link, and told where nobody has chosen', () => {
  writeFileSync(join(dir, 'elsewhere'), '')
  symlinkSync(join(dir, 'elsewhere'), join(dir, 'preferences.jsonl'))
  expect(() => appendPreference(dir, chosen('1'))).toThrow(/expected a file, found a link/)
  expect(readFileSync(join(dir, 'elsewhere'), 'utf8')).toBe('')
  rmSync(join(dir, 'preferences.jsonl'))
  if (process.platform !== 'win32') {
    execFileSync('mkfifo', [join(dir, 'preferences.jsonl')])
    expect(() => appendPreference(dir, chosen('1'))).toThrow(/expected a file, found .* or a pipe/)
    rmSync(join(dir, 'preferences.jsonl'))
  }
  expect(() => somePreferences(dir)).toThrow(/expected choices between pairs, found none/)
})
