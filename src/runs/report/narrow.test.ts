import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { afterAll, expect, it } from 'vitest'
import { chromiumPath } from './chromium.fixture.ts'
import { buildFakeRun } from './fake-run.fixture.ts'
import { writeReport } from './report.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-narrow-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

it.skipIf(chromiumPath === undefined)(
  'a report on a phone lists criteria and labels one below the other, each with its name',
  async () => {
    const report = writeReport(buildFakeRun(join(root, 'run'), { steps: 30 }))
    // Tests in containers run as root, for whom its sandbox is not made.
    const browser = await chromium.launch({
      executablePath: chromiumPath,
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    })
    const page = await browser.newPage({ viewport: { width: 360, height: 900 } })
    await page.goto(pathToFileURL(report).href)
    await page.evaluate(`document.querySelectorAll('details').forEach(own => (own.open = true))`)
    const places = `[...document.querySelectorAll('.figures-place')]`
    expect(await page.evaluate(`${places}.length`)).toBeGreaterThan(2)
    expect(await page.evaluate(`${places}.filter(own => own.scrollWidth > own.clientWidth).length`)).toBe(0)
    expect(await page.evaluate(`document.documentElement.scrollWidth - innerWidth`)).toBe(0)
    const scrolling = `[...document.querySelectorAll('.scroll')].filter(own => own.scrollWidth > own.clientWidth).length`
    expect(await page.evaluate(scrolling)).toBe(0)
    const unnamed = `[...document.querySelectorAll('.figure-table td.num')].filter(own => !own.dataset.name).length`
    expect(await page.evaluate(unnamed)).toBe(0)
    await browser.close()
  },
  60_000,
)
