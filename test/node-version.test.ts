import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { isSupported } from '../bin/node-version.js'

const root = fileURLToPath(new URL('..', import.meta.url))

it('every package needs the same versions of Node', () => {
  const packages = readdirSync(join(root, 'packages')).map(name => join('packages', name, 'package.json'))
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const needed = ['package.json', ...packages].map(file => read(file).engines.node)
  expect([...new Set([...needed, read('package-lock.json').packages[''].engines.node])]).toEqual([
    '^20.19 || >=22.12',
  ])
})

// Which load ES modules by require(): release notes of 20.19.0, 22.12.0 and 23.0.0.
it.each([
  ['18.20.8', false],
  ['20.18.3', false],
  ['20.19.0', true],
  ['21.7.3', false],
  ['22.11.0', false],
  ['22.12.0', true],
  ['23.0.0', true],
  ['24.1.0', true],
])('Node %s: %s', (version, expected) => {
  expect(isSupported(version)).toBe(expected)
})

it.each([
  ['gradus', 'gradus'],
  ['gradus-rewards', '@gradus/serve'],
])('%s says what it needs before it loads anything', (command, packageName) => {
  const older = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '22.11.0' })"
  const args = ['--import', older, join(root, 'bin', `${command}.js`), '--version']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: `${command}: expected Node.js 20 from 20.19 on, or 22.12 or newer, got 22.11.0; install one of these, or name it: npx -p node@22 -p ${packageName} ${command}\n`,
  })
})
