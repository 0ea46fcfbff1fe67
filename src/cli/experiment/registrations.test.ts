/** @file This project's own registrations can be run: every arm is planned by its recipe, every claim has what it needs. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { cli, SLOW_MS } from '../cli.fixture.ts'

const FOLDER = fileURLToPath(new URL('../../../experiments', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'gradus-registrations-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

it.each(readdirSync(FOLDER).filter(name => name.endsWith('.yaml')))(
  '%s',
  async name => {
    const { code, out, err } = await cli([
      ...['experiment', join(FOLDER, name), '--dry-run'],
      ...['--work', work, '--results', join(work, 'results')],
    ])
    expect(err).toBe('')
    expect(code).toBe(0)
    // Pairs that cannot reach their level are told as warnings; a registration of ours has to do without.
    expect(out).not.toContain('cannot reach')
  },
  SLOW_MS,
)
