import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { commandLineIn, commandLineOf, commandName, type Invocation, shellWord } from './invocation.ts'

const bin = mkdtempSync(join(tmpdir(), 'gradus-bin-'))
writeFileSync(join(bin, 'gradus'), '')
writeFileSync(join(bin, 'gradus.cmd'), '')
chmodSync(join(bin, 'gradus'), 0o755)
afterAll(() => rmSync(bin, { recursive: true }))

const called = (more: Partial<Invocation>): Invocation => ({
  argv: ['node', join('/home', 'a', 'gradus', 'bin', 'gradus.js')],
  env: { PATH: '/usr/bin' },
  cwd: join('/home', 'a'),
  platform: 'linux',
  ...more,
})

describe('the name of the command to paste', () => {
  it('is that by which a shell finds it', () => {
    expect(commandName(called({ env: { PATH: bin } }))).toBe('gradus')
    expect(commandName(called({ env: { PATH: bin, npm_command: 'exec' } }))).toBe('npx gradus')
    expect(commandName(called({ env: { npm_lifecycle_event: 'start' } }))).toBe('npx gradus')
    expect(commandName(called({}))).toBe(`node ${join('gradus', 'bin', 'gradus.js')}`)
    expect(commandName(called({ cwd: join('/srv') }))).toBe(
      `node ${join('/home', 'a', 'gradus', 'bin', 'gradus.js')}`,
    )
  })

  it('is found from the folder that is gone into first', () => {
    const words = ['train', 'train.yaml']
    expect(commandLineIn('my', words, called({}))).toBe(
      `cd my && node ${join('/home', 'a', 'gradus', 'bin', 'gradus.js')} train train.yaml`,
    )
    const npx = called({ env: { npm_command: 'exec' } })
    expect(commandLineIn('my runs', words, npx)).toBe("cd 'my runs' && npx gradus train train.yaml")
    expect(commandLineIn('.', words, npx)).toBe('npx gradus train train.yaml')
  })

  it('quotes words for the shell that is there', () => {
    expect(shellWord('runs/a', 'linux')).toBe('runs/a')
    expect(shellWord("a b'c", 'linux')).toBe("'a b'\\''c'")
    expect(shellWord("a b'c", 'win32')).toBe("'a b''c'")
    expect(shellWord('runs\\a', 'win32')).toBe('runs\\a')
    // PowerShell makes a list of what has a comma, and a splat of what has an @.
    expect(shellWord('seed=1,2', 'win32')).toBe("'seed=1,2'")
    expect(commandLineOf(['train', 'x y'], called({ env: { PATH: bin } }))).toBe("gradus train 'x y'")
  })
})
