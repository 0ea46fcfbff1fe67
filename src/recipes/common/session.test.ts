import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { withRun } from './session.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-session-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('begins anew with what the run made once where nothing changed, and without it where settings or files did', async () => {
  const begin = async (seed: number, sha256 = 'a'.repeat(64)) => {
    let found: string[] = []
    const options = {
      ...{ dir: join(folder, 'run'), resume: 'or-start' as const, events: {} },
      ...{ info: { config: { seed }, recipe: 'own' }, files: [{ path: 'rows.jsonl', sha256 }] },
    }
    const killed = withRun(options, async ({ run }) => {
      const names = ['curriculum.json', 'notes.txt']
      found = names.filter(name => existsSync(run.path(name)))
      for (const name of names) writeFileSync(run.path(name), '')
      throw new Error('killed')
    })
    await expect(killed).rejects.toThrow('killed')
    return found
  }
  expect(await begin(1)).toEqual([])
  expect(await begin(1)).toEqual(['curriculum.json', 'notes.txt'])
  expect(await begin(2)).toEqual(['notes.txt'])
  expect(await begin(2)).toEqual(['curriculum.json', 'notes.txt'])
  expect(await begin(2, 'b'.repeat(64))).toEqual(['notes.txt'])
})
