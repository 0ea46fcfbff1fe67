import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DataError } from '../util/errors.ts'
import { RunError } from './errors.ts'
import { appendRows, keepThrough, readRows } from './row-files.ts'

// A disk that takes a few bytes of a row and then no more.
const disk = vi.hoisted(() => ({ bytesLeft: Number.POSITIVE_INFINITY }))
vi.mock('node:fs', async original => {
  const fs = await original<typeof import('node:fs')>()
  const writeSync = (fd: number, data: Uint8Array, offset = 0) => {
    const count = Math.min(data.byteLength - offset, disk.bytesLeft)
    if (count === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    disk.bytesLeft -= count
    return fs.writeSync(fd, data, offset, count)
  }
  return { ...fs, writeSync }
})

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-rows-'))
})
afterEach(() => {
  disk.bytesLeft = Number.POSITIVE_INFINITY
  rmSync(dir, { recursive: true, force: true })
})

it('takes back half a row when the disk fills up', () => {
  const path = join(dir, 'metrics.jsonl')
  appendRows(path, [{ step: 1 }])
  disk.bytesLeft = 5
  expect(() => appendRows(path, [{ step: 2 }, { step: 3 }])).toThrow(RunError)
  expect(readFileSync(path, 'utf8')).toBe('{"step":1}\n')
})

it('leaves the file as it was when there is no room to rewrite it', () => {
  const path = join(dir, 'metrics.jsonl')
  appendRows(path, [{ step: 1 }, { step: 2 }, { note: 'no step' }])
  disk.bytesLeft = 3
  expect(() => keepThrough(path, 1)).toThrow(/disk is full/)
  expect(readRows(path)).toHaveLength(3)
  disk.bytesLeft = Number.POSITIVE_INFINITY
  keepThrough(path, 1)
  expect(readRows(path)).toEqual([{ step: 1 }, { note: 'no step' }])
})

it('names the line that is broken, blank ones counted', () => {
  const path = join(dir, 'metrics.jsonl')
  writeFileSync(path, '{"step":1}\n\n{"step":\n{"step":3}\n')
  const place = `${path}:3: not JSON`
  expect(() => readRows(path)).toThrow(place)
  expect(() => keepThrough(path, 1)).toThrow(DataError)
  expect(() => keepThrough(path, 1)).toThrow(place)
  expect(readFileSync(path, 'utf8')).toContain('{"step":3}')
})
