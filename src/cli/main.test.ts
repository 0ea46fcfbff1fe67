import { spawnSync } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { packageVersion } from '../util/package.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const CLONED = fileURLToPath(new URL('../../bin/gradus.js', import.meta.url))
const FULL = '/dev/full'

it('is started by the command of a clone, which first looks whether dist/ is older than its source', () => {
  const { status, stdout } = spawnSync(process.execPath, [CLONED, '--version'], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, `${packageVersion()}\n`])
}, 120_000)

describe('standard output', () => {
  it.skipIf(!existsSync(FULL))('that cannot be written is an error in words', () => {
    const stdio = ['ignore', openSync(FULL, 'w'), 'pipe'] as const
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'grade', '--rules'], { stdio: [...stdio] })
    expect(String(stderr)).toMatch(
      /^gradus: standard output could not be written: the disk is full \(ENOSPC\)/,
    )
    expect(status).toBe(1)
  })

  it.skipIf(process.platform === 'win32')('whose reader has seen enough is none', () => {
    const line = `"$0" "$1" grade --rules | head -n 1; exit "\${PIPESTATUS[0]}"`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', line, process.execPath, MAIN])
    expect([status, String(stderr)]).toEqual([0, ''])
    expect(String(stdout).split('\n')).toHaveLength(2)
  })
})
