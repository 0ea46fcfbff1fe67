#!/usr/bin/env node
// The command. In a clone it builds dist/ first when the sources are newer; an installed package has dist/ already.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Before anything of ours is loaded: an older Node fails there, with words that help nobody.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `gradus: expected Node.js 20.19 or newer, got ${process.versions.node}; install a newer one, or name it: npx -p node@22 -p gradus gradus`,
  )
  process.exit(1)
}

const at = path => fileURLToPath(new URL(path, import.meta.url))
if (existsSync(at('../src'))) {
  const build = spawnSync(process.execPath, [at('../scripts/build.js'), '--if-stale'], {
    stdio: ['ignore', 2, 2],
  })
  if (build.status !== 0) process.exit(build.status ?? 1)
}
await import('../dist/cli/main.js')
