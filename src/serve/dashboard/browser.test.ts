import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import { chromiumPath } from '../../runs/report/chromium.fixture.ts'
import { type Dashboard, startDashboard } from './server.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-browser-'))
process.env.GRADUS_CACHE = join(root, 'cache')
const axe: string = createRequire(import.meta.url)('axe-core').source
const TIMEOUT_MS = 240_000

const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')
const HOSTILE = '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>'

const score = (value: number) => ({ accuracy: { value, interval: [value - 0.1, value + 0.1] } })
const evaluation = (step: number, value: number) => ({
  ...{ step, set: 'unseen', n: 2, primary: 'accuracy', scores: score(value) },
  items: ['a', 'b'].map(id => ({
    ...{ id, scores: { accuracy: id === 'a' ? value : 1 - value } },
    ...(id === 'a' && { sample: heldOutSample(step, value) }),
  })),
})

const heldOutSample = (step: number, reward: number) => ({
  ...{ prompt: HOSTILE, response: `held-out answer at ${step} ${HOSTILE}`, reward },
  verdicts: [{ criterionId: 'right', met: reward > 0.5, text: HOSTILE, points: -2, source: 'rule' }],
})

/** The rubric of the run's rows. */
const RUBRIC = {
  criteria: [{ id: 'right', text: `Is right ${HOSTILE}`, points: 3, check: null, rows: 2 }],
  ...{ ofRows: 4, sha256: 'a'.repeat(64) },
}

const responseOf = (sample: number) => `<think>hidden ${HOSTILE}</think>said ${sample}`

const JUDGE_CALL = {
  judge: `judge-7b ${HOSTILE}`,
  raw: `It thinks aloud. ${HOSTILE}`,
  promptTokens: 1812,
  completionTokens: 64,
  cost: 0.0003,
  reused: 'cache',
}

/** Tokens of three characters, of all chances and advantages. */
const perToken = (text: string) => {
  const widths = Array.from({ length: Math.ceil(text.length / 3) }, (_, i) =>
    Math.min(3, text.length - 3 * i),
  )
  return {
    widths,
    logprobs: widths.map((_, i) => -i % 7),
    advantages: widths.map((_, i) => (i % 11) - 5),
  }
}

const writeRun = (name: string) => {
  const dir = join(root, 'runs', name)
  mkdirSync(dir, { recursive: true })
  const info = {
    id: name,
    recipe: 'rit',
    steps: 30,
    createdAt: '2026-01-01T00:00:00Z',
    config: { name },
    rubric: RUBRIC,
    environment: {},
  }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(info))
  const steps = Array.from({ length: 30 }, (_, i) => i + 1)
  const metrics = steps.map(step => ({
    step,
    reward: step / 30,
    entropy: 1 / step,
    judgeNullRate: 0,
    criteria: { right: step / 60 },
    time: { sample: 1, total: 2 },
  }))
  writeFileSync(join(dir, 'metrics.jsonl'), lines(metrics))
  writeFileSync(join(dir, 'evals.jsonl'), lines([evaluation(0, 0.25), evaluation(30, 0.75)]))
  const warning = {
    step: 12,
    level: 'warning',
    message: `odd ${HOSTILE}`,
    monitor: 'repetition',
    title: 'Repetition',
    turn: 'on',
  }
  writeFileSync(join(dir, 'events.jsonl'), lines([warning]))
  const rollout = (sample: number) => ({
    ...{
      step: 1,
      sample,
      problemId: `p ${HOSTILE}`,
      prompt: HOSTILE,
      reward: sample,
      monitor: sample ? 'repetition' : undefined,
    },
    response: responseOf(sample),
    ...(sample === 1 && { perToken: perToken(responseOf(1)) }),
    // The first one as older runs have it.
    verdicts: [
      { criterionId: 'right', met: sample > 0, explanation: HOSTILE, ...(sample === 1 && { call: 0 }) },
      ...(sample === 1 ? [{ criterionId: 'short', met: true, source: 'rule' }] : []),
    ],
    ...(sample === 1 && { judgeCalls: [JUDGE_CALL] }),
  })
  writeFileSync(join(dir, 'rollouts.jsonl'), lines([rollout(0), rollout(1)]))
}

const band = (label: string, color: string, value: number): ChartSpec['series'][number] => ({
  ...{ label, color, kind: 'band', values: [0, value], low: [0, value / 2], high: [0, value] },
})

const ARM_CURVE: ChartSpec = {
  ...{ id: 'curve-0', title: 'Score on unseen problems', unit: 'rate', x: [1, 2] },
  series: [band('method, n = 3', 'c1', 1), band('control, n = 2', 'c2', 0.5)],
}

const writeResults = () => {
  const dir = join(root, 'results', 'paper')
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'controls.json'), '{}')
  writeFileSync(join(dir, 'summary.md'), `# Paper\n\nwhat it is ${HOSTILE}\n`)
  writeFileSync(
    join(dir, 'P-1.json'),
    JSON.stringify({ claim: { id: 'P-1', statement: HOSTILE }, status: 'reproduced' }),
  )
  writeFileSync(join(dir, 'runs.jsonl.br'), '')
}

describe.skipIf(chromiumPath === undefined)('the page in a browser', { timeout: TIMEOUT_MS }, () => {
  let browser: Browser
  let dashboard: Dashboard
  const problems: string[] = []

  beforeAll(async () => {
    for (const name of ['one', 'two']) writeRun(name)
    writeResults()
    dashboard = await startDashboard([join(root, 'runs'), join(root, 'results')], {
      slimCharts: async () => [ARM_CURVE],
      controlToken: 'browser-token',
    })
    // Tests in containers run as root, for whom its sandbox is not made.
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    })
  }, TIMEOUT_MS)
  afterAll(async () => {
    await browser?.close()
    await dashboard?.close()
    rmSync(root, { recursive: true })
  }, TIMEOUT_MS)

  const visit = async (
    path: string,
    width: number,
    see: string,
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<Page> => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    // As in a container without a language.
    await page.addInitScript(`Object.defineProperty(navigator, 'language', { value: 'en-US@posix' })`)
    page.on('pageerror', error => problems.push(`${path}: ${error.message}`))
    page.on('console', message => {
      if (message.type() === 'error') problems.push(`${path}: ${message.text()}`)
    })
    page.on('request', request => {
      if (!request.url().startsWith(dashboard.url)) problems.push(`${path}: asked ${request.url()}`)
    })
    await page.goto(dashboard.url + path)
    await page.getByText(see).first().waitFor({ timeout: 60_000 })
    return page
  }

  const serious = (page: Page) =>
    page.evaluate(`${axe}; axe.run().then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes[0].html))`)

  it.each([
    ['/', 1280, 'one'],
    ['/run/one', 1280, 'Reward'],
    ['/run/one', 360, 'Reward'],
    ['/run/one/rollouts', 360, 'said'],
    ['/run/one/rollouts/1?beside=0', 1280, 'hidden'],
    ['/run/one/rubric', 1280, 'Is right'],
    ['/run/one/pairs', 360, 'Which answer is better?'],
    ['/run/one/pairs', 1280, 'held-out answer at 30'],
    ['/run/one/evaluation', 1280, 'won'],
    ['/run/one/evaluation?set=unseen&item=a', 360, 'held-out answer at 30'],
    ['/run/one/evaluation?set=unseen&item=a', 1280, 'held-out answer at 0'],
    ['/run/one/evaluation?set=unseen&item=b', 1280, 'No response was kept'],
    ['/run/one/judges', 1280, 'Missing verdicts'],
    ['/run/one/settings', 1280, 'Environment'],
    ['/compare?run=one&run=two', 360, 'Settings that differ'],
    ['/experiments', 1280, 'Paper'],
    ['/experiment/paper', 360, 'method, n = 3'],
    ['/run/one', 3840, 'Reward'],
    ['/run/one/rollouts/1', 3840, 'said 1'],
    ['/experiment/paper', 3840, 'method, n = 3'],
    ['/nowhere', 1280, 'Nothing here'],
  ] as const)(
    '%s at %i pixels shows what it has, no wider than the screen, for every reader',
    async (path, width, see) => {
      const page = await visit(path, width, see, width === 360 ? 'dark' : 'light')
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      expect(await serious(page)).toEqual([])
      expect(await page.evaluate('window.harmed')).toBeUndefined()
      expect(
        await page.evaluate(`document.querySelectorAll('img, iframe, object, #app script').length`),
      ).toBe(0)
      await page.close()
      expect(problems).toEqual([])
    },
  )

  it('at 4K gives charts the space and keeps lines of text short', async () => {
    const page = await visit('/run/one', 3840, 'Reward')
    const shares = await page.evaluate(
      `[...document.querySelectorAll('.charts')].map(own => (own.lastElementChild.getBoundingClientRect().right - own.firstElementChild.getBoundingClientRect().left) / own.clientWidth)`,
    )
    expect(shares).not.toHaveLength(0)
    for (const share of shares as number[]) expect(share).toBeGreaterThan(0.6)
    await page.close()
    for (const path of ['/run/one/rubric', '/run/one/rollouts/1', '/experiment/paper']) {
      const other = await visit(path, 3840, path.includes('paper') ? 'Claims' : 'right')
      const widest = await other.evaluate(
        `Math.max(0, ...[...document.querySelectorAll('.about, .reason, .rollout pre, .claim > p')].map(own => own.getBoundingClientRect().width))`,
      )
      expect(widest, path).toBeGreaterThan(0)
      expect(widest, path).toBeLessThan(1300)
      await other.close()
    }
    expect(problems).toEqual([])
  })

  it.each(['light', 'dark'] as const)('colours the tokens of a response: %s', async scheme => {
    const page = await visit('/run/one/rollouts/1', 1280, 'said 1', scheme)
    for (const [by, shade] of [
      ['log-prob', 'rare-5'],
      ['advantage', 'down-5'],
    ]) {
      await page.getByRole('button', { name: by, exact: true }).click()
      expect(await page.locator(`.tokens .${shade}`).count()).toBeGreaterThan(0)
      expect(await page.locator('.tokens').textContent()).toBe(responseOf(1))
      expect(await serious(page)).toEqual([])
    }
    expect(await page.evaluate('window.harmed')).toBeUndefined()
    await page.getByRole('button', { name: 'parts', exact: true }).click()
    expect(await page.locator('.tokens').count()).toBe(0)
    await page.close()
    expect(problems).toEqual([])
  })

  it.each([360, 1280])('shows who gave a verdict, what it took, and the raw answer: %i', async width => {
    const page = await visit('/run/one/rollouts/1', width, 'said 1')
    const table = page.locator('.verdict-table')
    await page.getByText('from the cache; then 1,812 tokens in, 64 out · cost 0.0003').waitFor()
    expect(await table.textContent()).toContain(JUDGE_CALL.judge)
    expect(await table.locator('tbody tr').nth(1).textContent()).toContain('rule')
    await page.getByText('Raw answer').click()
    expect(await page.locator('.raw pre').textContent()).toBe(JUDGE_CALL.raw)
    expect(await serious(page)).toEqual([])
    expect(await page.evaluate('window.harmed')).toBeUndefined()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await page.close()
    expect(problems).toEqual([])
  })

  it('is gone through by keyboard, and every state has an address', async () => {
    const page = await visit('/', 1280, 'one')
    await page.keyboard.press('/')
    await page.keyboard.type('two')
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
    expect(page.url()).toMatch(/\?filter=two$/)
    await page.reload()
    await page.getByText('two').first().waitFor()
    expect(await page.locator('tbody tr').count()).toBe(1)
    await page.goto(`${dashboard.url}/run/one/rollouts/0`)
    await page.getByText('said 0').waitFor()
    await page.keyboard.press('j')
    await page.getByText('said 1').waitFor()
    expect(page.url()).toMatch(/\/rollouts\/1/)
    await page.close()
  })

  it('asks for pairs by keys, one press a choice, under a name that stays, and takes the last back', async () => {
    const page = await visit('/run/two/pairs#token=browser-token', 360, 'held-out answer at 30')
    const file = join(root, 'runs', 'two', 'preferences.jsonl')
    const rows = () =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
    const [first, second] = await page.locator('.rollout').allInnerTexts()
    expect([first, second].map(text => /answer at \d+/.exec(text)?.[0]).sort()).toEqual([
      'answer at 0',
      'answer at 30',
    ])
    const [above, below] = await Promise.all([0, 1].map(i => page.locator('.rollout').nth(i).boundingBox()))
    expect(below!.y).toBeGreaterThan(above!.y + above!.height - 1)
    expect(await serious(page)).toEqual([])
    await page.getByLabel('Your name').fill('Ann 12')
    // Keys in a field are text, and a key that is held is one choice.
    expect(existsSync(file)).toBe(false)
    await page.getByLabel('Your name').blur()
    await page.keyboard.down('2')
    await page.keyboard.down('2')
    await page.keyboard.up('2')
    await page.getByText('1 labelled, of 2 pairs').waitFor()
    // The one at 30 has a flaw that the one at 0 has not.
    const right = /answer at 0/.test(second)
    await page.getByText(`orders ${right ? '100.0' : '0.0'}% of the 1 decided`).waitFor()
    expect(rows()).toMatchObject([{ who: 'Ann 12', choice: 'b' }])
    expect(rows()[0].b.response).toContain(right ? 'answer at 0' : 'answer at 30')
    await page.getByText('Ann 12: 1').waitFor()
    await page.reload()
    await page.getByText('said 1').waitFor()
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ann 12')
    await page.keyboard.press('u')
    await page.getByText('held-out answer at 30').waitFor()
    await page.getByText('0 labelled').waitFor()
    await page.getByRole('button', { name: 'Alike' }).click()
    await page.getByText('1 labelled').waitFor()
    await page.keyboard.press('4')
    await page.getByText('Every informative pair is labelled.').waitFor()
    expect(rows().map(({ choice, undo }) => choice ?? typeof undo)).toEqual([
      'b',
      'string',
      'alike',
      'unsure',
    ])
    expect(await page.evaluate('window.harmed')).toBeUndefined()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await page.close()
    expect(problems).toEqual([])
  })
})
