import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { dashboardBeside, wantsDashboard } from './beside.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-beside-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a dashboard beside a training', () => {
  it('is served where it is asked for, or where somebody sits before a terminal', () => {
    const terminal = { err: { isTTY: true, write: () => {} } }
    const pipe = { err: { write: () => {} } }
    expect(wantsDashboard({}, terminal, {})).toBe(true)
    expect(wantsDashboard({}, pipe, {})).toBe(false)
    expect(wantsDashboard({}, terminal, { CI: 'true' })).toBe(false)
    expect(wantsDashboard({ json: true }, terminal, {})).toBe(false)
    expect(wantsDashboard({ quiet: true }, terminal, {})).toBe(false)
    expect(wantsDashboard({ dashboard: false }, terminal, {})).toBe(false)
    expect(wantsDashboard({ dashboard: true }, pipe, { CI: 'true' })).toBe(true)
  })

  it('says where it is, answers, and ends with the training', { timeout: 120_000 }, async () => {
    const run = join(folder, 'runs', 'one')
    mkdirSync(run, { recursive: true })
    writeFileSync(join(run, 'config.json'), JSON.stringify({ id: 'one', config: {}, createdAt: '' }))
    let close = () => {}
    const text = await new Promise<string>(said => {
      close = dashboardBeside(run, said).close
    })
    const [, url] = /^dashboard (http:\/\/127\.0\.0\.1:\d+)\/run\/one#token=[\w-]{22}$/.exec(text) ?? []
    expect((await (await fetch(`${url}/api/runs`)).json()) as object).toMatchObject([{ id: 'one' }])
    close()
    const ended = async () => {
      for (let look = 0; look < 200; look++) {
        const there = await fetch(`${url}/api/runs`).then(
          () => true,
          () => false,
        )
        if (!there) return true
        await new Promise(resolve => setTimeout(resolve, 50))
      }
      return false
    }
    expect(await ended()).toBe(true)
  })
})
