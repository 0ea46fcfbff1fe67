import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from './chromium.fixture.ts'
import { buildFakeRun } from './fake-run.fixture.ts'
import { writeReport } from './report.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-narrow-'))
const axe: string = createRequire(import.meta.url)('axe-core').source

describe.skipIf(chromiumPath === undefined)('a report in a browser', { timeout: 60_000 }, () => {
  let browser: Browser
  let report: string
  beforeAll(async () => {
    report = pathToFileURL(writeReport(buildFakeRun(join(root, 'run'), { steps: 30 }))).href
    // Tests in containers run as root, for whom its sandbox is not made.
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    })
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(root, { recursive: true, force: true })
  })

  it('on a phone lists criteria and labels one below the other, each with its name', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 900 } })
    await page.goto(report)
    await page.evaluate(`document.querySelectorAll('details').forEach(own => (own.open = true))`)
    const places = `[...document.querySelectorAll('.figures-place')]`
    expect(await page.evaluate(`${places}.length`)).toBeGreaterThan(2)
    expect(await page.evaluate(`${places}.filter(own => own.scrollWidth > own.clientWidth).length`)).toBe(0)
    expect(await page.evaluate(`document.documentElement.scrollWidth - innerWidth`)).toBe(0)
    const scrolling = `[...document.querySelectorAll('.scroll')].filter(own => own.scrollWidth > own.clientWidth).length`
    expect(await page.evaluate(scrolling)).toBe(0)
    const unnamed = `[...document.querySelectorAll('.figure-table td.num')].filter(own => !own.dataset.name).length`
    expect(await page.evaluate(unnamed)).toBe(0)
    await page.close()
  })

  it.each([360, 1280, 3840])(
    'at %i pixels draws every chart, for every reader, and logs no error',
    async width => {
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      await page.addInitScript(`Object.defineProperty(navigator, 'language', { value: 'en-US@posix' })`)
      const problems: string[] = []
      page.on('pageerror', error => problems.push(error.message))
      page.on('console', message => message.type() === 'error' && problems.push(message.text()))
      await page.goto(report)
      const charts = await page.evaluate(`document.querySelectorAll('figure .plot').length`)
      expect(charts).toBeGreaterThan(15)
      expect(await page.evaluate(`document.querySelectorAll('figure .plot canvas').length`)).toBe(charts)
      const serious = await page.evaluate(`${axe}; axe.run().then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes[0].html))`)
      expect(serious).toEqual([])
      expect(problems).toEqual([])
      await page.close()
    },
  )

  it('is read without a script: names, scores, tables, rollouts', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false })
    await page.goto(report)
    const text = await page.locator('main').textContent()
    for (const words of [
      'Correct and proved',
      'After 30 steps',
      'premise use',
      'Response',
      'Where the time went',
    ])
      expect(text).toContain(words)
    await page.close()
  })
})
