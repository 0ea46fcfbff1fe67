import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { takeFileLock } from '../runs/lock.ts'
import { RecordingFile, type RecordingFormat, readRecorded, recordingKind } from './recording-file.ts'
import { workerUrl } from './worker-url.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-recording-'))
afterAll(() => rmSync(root, { recursive: true }))

type Row = { id: string; attempt: number; text: string }
const FORMAT: RecordingFormat<{ gradus: 'made-up' }, Row> = {
  kind: 'made-up',
  words: { what: 'attempts', command: 'nothing' },
  header: z.strictObject({ gradus: z.literal('made-up') }),
  row: z.strictObject({ id: z.string(), attempt: z.number(), text: z.string() }),
}
const open = (path: string) =>
  RecordingFile.open(FORMAT, path, { gradus: 'made-up' }, file =>
    takeFileLock(file, { noun: 'recording', place: 'file', whenTaken: 'stop', whenGone: 'stop' }),
  )
const lineOf = (id: string, text: string) => `${JSON.stringify({ id, attempt: 1, text })}\n`

it('goes on after a line that a kill has torn, also within a character', () => {
  const path = join(root, 'torn.jsonl')
  const whole = `{"gradus":"made-up"}\n${lineOf('a', 'é')}`
  const torn = Buffer.from(lineOf('b', 'é')).subarray(0, -4)
  writeFileSync(path, Buffer.concat([Buffer.from(whole), torn]))
  expect(torn.at(-1)).toBe(0xc3)
  expect(() => readRecorded(FORMAT, path)).toThrow(/torn\.jsonl:3: expected text in UTF-8/)
  const file = open(path)
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

it('keeps nothing of a line for which the disk has no room, and names the file', () => {
  const path = join(root, 'full.jsonl')
  const script = `
    import { z } from 'zod'
    import { RecordingFile } from ${JSON.stringify(workerUrl(import.meta.url, './recording-file.js').href)}
    const format = { kind: 'made-up', words: {}, header: z.any(), row: z.any() }
    const unlocked = () => ({ release() {}, assertHeld() {} })
    const file = RecordingFile.open(format, ${JSON.stringify(path)}, { gradus: 'made-up' }, unlocked)
    try { file.append({ id: 'a', attempt: 1, text: 'x'.repeat(5000) }) } catch (error) { console.log(error.message) }
    file.append({ id: 'b', attempt: 1, text: '' })`
  const limited = `trap '' XFSZ; ulimit -f 4; exec "$0" --input-type=module -e "$1"`
  const { stdout } = spawnSync('bash', ['-c', limited, process.execPath, script], { encoding: 'utf8' })
  expect(stdout).toContain(`${path}: cannot be written: the file is larger than this system allows`)
  expect(readRecorded(FORMAT, path).rows).toEqual([{ id: 'b', attempt: 1, text: '' }])
})

it('has one writer, by whichever name, until it is closed', () => {
  const path = join(root, 'shared.jsonl')
  const file = open(path)
  const link = join(root, 'link.jsonl')
  symlinkSync(path, link)
  for (const name of [path, link])
    expect(() => open(name)).toThrow(
      new RegExp(
        `shared\\.jsonl\\.lock: this recording is being written by process ${process.pid} on .*choose another recording file`,
      ),
    )
  file.close()
  const next = open(path)
  rmSync(`${path}.lock`)
  expect(() => next.append({ id: 'a', attempt: 1, text: '' })).toThrow('the lock of this process is gone')
  next.close()
  expect(readFileSync(path, 'utf8')).toBe('{"gradus":"made-up"}\n')
})

it('gives its lock back where it cannot be opened', () => {
  const path = join(root, 'foreign.jsonl')
  writeFileSync(path, '{"gradus":"another"}\n')
  for (const _ of [1, 2]) expect(() => open(path)).toThrow('foreign.jsonl:1: expected the first line')
  expect(() => open(join(root, 'none', 'x.jsonl'))).toThrow('cannot be written: there is no such file')
})
