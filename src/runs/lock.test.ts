import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
    takeLock(dir)()
  })

  it('is held until it is given back, and leaves nothing', () => {
    const dir = join(folder, 'held')
    const release = takeLock(dir)
    expect(isLocked(dir)).toBe(true)
    expect(readdirSync(dir)).toEqual(['lock'])
    expect(() => takeLock(dir)).toThrow('is being written by process')
    release()
    expect(existsSync(join(dir, 'lock'))).toBe(false)
  })
})
