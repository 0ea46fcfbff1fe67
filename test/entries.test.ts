import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

const LIST = `for (const entry of process.argv.slice(1))
  for (const name of Object.keys(await import(entry)).sort()) console.log(entry, name)`

/**
 * What others import by name: a name that goes or comes shows as a line of entries.txt (`vitest run test/entries.test.ts -u` writes
 * it anew), and in the changelog.
 */
it('entries of the package export what they did', async () => {
  const entries = Object.keys(manifest.exports)
    .filter(entry => !entry.endsWith('.json'))
    .map(entry => entry.replace('.', manifest.name))
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const names = execFileSync(process.execPath, ['--input-type=module', '-e', LIST, ...entries], { cwd })
  await expect(names.toString()).toMatchFileSnapshot('entries.txt')
}, 60_000)
