import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { workerUrl } from '../util/worker-url.ts'
import { isLocked, takeLock } from './lock.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-lock-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a lock', () => {
  it.skipIf(process.platform === 'win32')('that the disk has no room for is not left behind', () => {
    const dir = join(folder, 'full')
    const code = `import { takeLock } from ${JSON.stringify(workerUrl(import.meta.url, './lock.js').href)}
      try { takeLock(${JSON.stringify(dir)}) } catch (error) { process.exit(7) }`
    const limited = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', code]
    expect(spawnSync('sh', limited).status).toBe(7)
    expect(readdirSync(dir)).toEqual([])
    takeLock(dir).release()
  })

  it('is held until it is given back, and leaves nothing', () => {
    const dir = join(folder, 'held')
    const lock = takeLock(dir)
    expect(isLocked(dir)).toBe(true)
    expect(readdirSync(dir)).toEqual(['lock'])
    expect(() => takeLock(dir)).toThrow('is being written by process')
    lock.release()
    expect(existsSync(join(dir, 'lock'))).toBe(false)
  })

  describe('of another host', () => {
    const foreign = (name: string, minutesAgo: number) => {
      const dir = join(folder, name)
      const path = join(dir, 'lock')
      mkdirSync(dir)
      const owner = { pid: 1, host: 'elsewhere', born: null, since: 'then' }
      writeFileSync(path, JSON.stringify(owner))
      const touched = new Date(Date.now() - minutesAgo * 60_000)
      utimesSync(path, touched, touched)
      return dir
    }

    it('is taken over when it has given no sign of life for minutes', () => {
      const dir = foreign('silent', 6)
      expect(isLocked(dir)).toBe(false)
      takeLock(dir).release()
      expect(readdirSync(dir)).toEqual([])
    })

    it('is another one too where two machines have one name', () => {
      const dir = foreign('namesakes', 4)
      const path = join(dir, 'lock')
      const owner = {
        pid: process.pid,
        host: hostname(),
        boot: 'another life',
        born: null,
        since: 'then',
      }
      writeFileSync(path, JSON.stringify(owner))
      expect(() => takeLock(dir)).toThrow(/since then/)
    })

    it('is respected while it does', () => {
      const dir = foreign('alive', 4)
      expect(isLocked(dir)).toBe(true)
      expect(() => takeLock(dir)).toThrow(/process 1 on elsewhere since then/)
      expect(readdirSync(dir)).toEqual(['lock'])
    })
  })

  it('is touched while it is held', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const dir = join(folder, 'beating')
    const lock = takeLock(dir)
    const path = join(dir, 'lock')
    utimesSync(path, 1, 1)
    vi.advanceTimersByTime(30_000)
    expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(60_000)
    lock.release()
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  it('that another took over is neither written under nor removed', () => {
    const dir = join(folder, 'lost')
    const lock = takeLock(dir)
    lock.assertHeld()
    const path = join(dir, 'lock')
    writeFileSync(path, JSON.stringify({ pid: 7, host: 'elsewhere', born: null, since: 'now' }))
    expect(() => lock.assertHeld()).toThrow(/taken over by process 7 on elsewhere/)
    lock.release()
    expect(existsSync(path)).toBe(true)
  })

  it('that another took over and gave back is not written under either', () => {
    const dir = join(folder, 'lost and given back')
    const lock = takeLock(dir)
    rmSync(join(dir, 'lock'))
    expect(() => lock.assertHeld()).toThrow(/lock of this process is gone.*gradus runs check/)
    lock.release()
    expect(readdirSync(dir)).toEqual([])
  })
})
