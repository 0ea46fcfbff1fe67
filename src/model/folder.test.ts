import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryPath } from '../util/atomic.ts'
import { CheckpointError } from '../util/errors.ts'
import { recoverFolder, replaceFolder } from './folder.ts'

let parent: string
let dir: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'gradus-folder-'))
  dir = join(parent, 'model')
})
afterEach(() => rmSync(parent, { recursive: true }))

const put = (content: string) =>
  replaceFolder(dir, folder => writeFileSync(join(folder, 'config.json'), content))
const content = () => readFileSync(join(dir, 'config.json'), 'utf8')

describe('replaceFolder', () => {
  it('creates and replaces, and leaves nothing beside', () => {
    put('one')
    writeFileSync(join(dir, 'extra'), '')
    put('two')
    expect(content()).toBe('two')
    expect(readdirSync(dir)).toEqual(['config.json'])
    expect(readdirSync(parent)).toEqual(['model'])
  })

  it('keeps the old folder when writing fails half-way', () => {
    put('one')
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })
    const failing = () =>
      replaceFolder(dir, folder => {
        writeFileSync(join(folder, 'config.json'), 'half')
        throw full
      })
    expect(failing).toThrow(CheckpointError)
    expect(failing).toThrow(/ENOSPC.*unchanged.*free some disk space/)
    expect(content()).toBe('one')
    expect(readdirSync(parent)).toEqual(['model'])
  })

  it('passes errors of the writer on as they are', () => {
    const failing = () =>
      replaceFolder(dir, () => {
        throw new RangeError('mine')
      })
    expect(failing).toThrow(RangeError)
    expect(existsSync(dir)).toBe(false)
  })

  it('clears what a killed process left', () => {
    put('one')
    const left = temporaryPath(dir).replace(`-${process.pid}`, '-99999999')
    mkdirSync(left)
    writeFileSync(join(left, 'half'), '')
    put('two')
    expect(readdirSync(parent)).toEqual(['model'])
    expect(readdirSync(dir)).toEqual(['config.json'])
  })

  it('refuses to replace a folder that is no checkpoint, and takes an empty one', () => {
    mkdirSync(dir)
    put('one')
    rmSync(dir, { recursive: true })
    mkdirSync(dir)
    writeFileSync(join(dir, 'thesis.txt'), '')
    expect(() => put('two')).toThrow(/expected a checkpoint folder or nothing, found thesis\.txt/)
    expect(readdirSync(dir)).toEqual(['thesis.txt'])
  })
})

describe('recoverFolder', () => {
  it('brings the old folder back after a death between the two renames', () => {
    mkdirSync(`${dir}.old`)
    writeFileSync(join(`${dir}.old`, 'config.json'), 'old')
    recoverFolder(dir)
    expect(content()).toBe('old')
  })

  it('leaves a good folder alone when only the clean-up was missed', () => {
    put('new')
    mkdirSync(`${dir}.old`)
    writeFileSync(join(`${dir}.old`, 'config.json'), 'old')
    recoverFolder(dir)
    expect(content()).toBe('new')
    put('newer')
    expect(readdirSync(parent)).toEqual(['model'])
  })
})
