import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeFileAtomic } from './atomic.ts'
import { DataError } from './errors.ts'
import { readJsonl } from './jsonl.ts'
import { sharedData } from './shared-data.fixture.ts'
import { workerUrl } from './worker-url.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-util-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('writeFileAtomic', () => {
  it('writes text, bytes and lists of bytes, making folders', () => {
    const path = join(folder, 'a', 'b.bin')
    writeFileAtomic(path, 'text')
    expect(readFileSync(path, 'utf8')).toBe('text')
    writeFileAtomic(path, new Uint8Array([1, 2]))
    writeFileAtomic(path, [new Uint8Array([1]), new Uint8Array([2, 3])])
    expect([...readFileSync(path)]).toEqual([1, 2, 3])
    expect(readdirSync(join(folder, 'a'))).toEqual(['b.bin'])
  })

  it('leaves the old file and no temporary file when it fails', () => {
    const path = join(folder, 'kept.txt')
    writeFileAtomic(path, 'old')
    const broken = [new Uint8Array([1]), null as unknown as Uint8Array]
    expect(() => writeFileAtomic(path, broken)).toThrow()
    expect(readFileSync(path, 'utf8')).toBe('old')
    expect(readdirSync(folder)).toEqual(['kept.txt'])
  })

  it('removes the temporary file when the rename fails', () => {
    const path = join(folder, 'is-a-folder')
    mkdirSync(join(path, 'inside'), { recursive: true })
    expect(() => writeFileAtomic(path, 'x')).toThrow()
    expect(readdirSync(folder)).toEqual(['is-a-folder'])
  })
})

describe('JSON Lines', () => {
  it('skips empty lines', () => {
    const path = join(folder, 'rows.jsonl')
    writeFileSync(path, '{"a":1}\n{"a":2}\n\n{"a":3}\n\n\n')
    expect(readJsonl(path)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
  })

  it('names the file and the line of a bad row', () => {
    const path = join(folder, 'rows.jsonl')
    writeFileSync(path, '{"a":1}\n{"a":\n')
    expect(() => readJsonl(path)).toThrow(`${path}:2`)
    const refuse = () => {
      throw new DataError('a: expected a string, got 1')
    }
    expect(() => readJsonl(path, refuse)).toThrow(`${path}:1: a: expected a string`)
  })

  it('says when the file cannot be read', () => {
    expect(() => readJsonl(join(folder, 'absent.jsonl'))).toThrow(
      'cannot be read: there is no such file or folder (ENOENT); check the path',
    )
  })
})

describe('paths', () => {
  it('knows which shared data exist', () => {
    expect(sharedData('no/such/file')).toBeNull()
  })

  it('finds the built worker from sources and from the build', () => {
    expect(workerUrl('file:///src/gradus/src/policy/local.ts', './worker.js').pathname).toBe(
      '/src/gradus/dist/policy/worker.js',
    )
    expect(workerUrl('file:///app/dist/policy/local.js', './worker.js').pathname).toBe(
      '/app/dist/policy/worker.js',
    )
  })
})
