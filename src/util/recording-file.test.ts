import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { RecordingFile, type RecordingFormat, readRecorded, recordingKind } from './recording-file.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-recording-'))
afterAll(() => rmSync(root, { recursive: true }))

type Row = { id: string; attempt: number; text: string }
const FORMAT: RecordingFormat<{ gradus: 'made-up' }, Row> = {
  kind: 'made-up',
  words: { what: 'attempts', command: 'nothing' },
  header: z.strictObject({ gradus: z.literal('made-up') }),
  row: z.strictObject({ id: z.string(), attempt: z.number(), text: z.string() }),
}
const lineOf = (id: string, text: string) => `${JSON.stringify({ id, attempt: 1, text })}\n`

it('goes on after a line that a kill has torn, also within a character', () => {
  const path = join(root, 'torn.jsonl')
  const whole = `{"gradus":"made-up"}\n${lineOf('a', 'é')}`
  const torn = Buffer.from(lineOf('b', 'é')).subarray(0, -4)
  writeFileSync(path, Buffer.concat([Buffer.from(whole), torn]))
  expect(torn.at(-1)).toBe(0xc3)
  expect(() => readRecorded(FORMAT, path)).toThrow(/torn\.jsonl:3: expected text in UTF-8/)
  const file = RecordingFile.open(FORMAT, path, { gradus: 'made-up' })
  expect(file.rows.map(({ id }) => id)).toEqual(['a'])
  file.append({ id: 'c', attempt: 1, text: '' })
  file.close()
  expect(readFileSync(path, 'utf8')).toBe(whole + lineOf('c', ''))
})

it('says of a file without a whole line what it is', () => {
  const path = join(root, 'none.jsonl')
  writeFileSync(path, '')
  expect(() => recordingKind(path)).toThrow('expected at least one attempt, got none')
  expect(() => readRecorded(FORMAT, path)).toThrow('expected at least one attempt, got none')
  writeFileSync(path, '{"gradus":')
  expect(() => readRecorded(FORMAT, path, { torn: true })).toThrow('got one that was cut off')
})
