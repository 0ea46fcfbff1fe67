#!/usr/bin/env node
// The command. In a clone it builds dist/ first when the sources are newer; an installed package has dist/ already.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { requireNode } from './node-version.js'

requireNode('gradus', 'gradus')

const at = path => fileURLToPath(new URL(path, import.meta.url))
if (existsSync(at('../src')) && !(await import('../scripts/fresh.js')).isFresh()) {
  const build = spawnSync(process.execPath, [at('../scripts/build.js')], { stdio: ['ignore', 2, 2] })
  if (build.status !== 0) process.exit(build.status ?? 1)
}
await import('../dist/cli/main.js')
