import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { FrontRequest } from '../http/exchange.ts'
import type { RewardBack } from './back.ts'
import type { RewardConfigInput } from './config.ts'
import { parseRewardConfig } from './config-file.ts'
import { inOwnThread, type OwnThreadOptions } from './own-thread.ts'
import { startRewardServer } from './server.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A grading thread that does to itself what a path says. */
const HOSTILE = `
  const { parentPort } = require('node:worker_threads')
  const answer = id => parentPort.postMessage({ kind: 'answer', id, answer: { status: 200, headers: {}, body: new Uint8Array([52, 50]) } })
  process.on('uncaughtException', error => parentPort.postMessage({ kind: 'unhandled', what: 'exception', fields: { message: error.message } }))
  process.on('unhandledRejection', error => parentPort.postMessage({ kind: 'unhandled', what: 'rejection', fields: { message: error.message } }))
  parentPort.on('message', message => {
    if (message.kind === 'ping') parentPort.postMessage({ kind: 'pong' })
    if (message.kind === 'close') { parentPort.postMessage({ kind: 'closed' }); parentPort.close() }
    if (message.kind !== 'request') return
    const { id, request: { url } } = message
    if (url === '/hang') for (;;);
    if (url === '/exit') process.exit(3)
    if (url === '/wait') return
    if (url === '/fill') { const all = []; for (;;) all.push(new Array(100000).fill(id + Math.random())) }
    if (url === '/stray') { setTimeout(() => { throw new Error('stray') }); Promise.reject(new Error('dropped')) }
    answer(id)
  })
  parentPort.postMessage({ kind: 'ready' })
`
const entryOf = (script: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { createRequire } from 'node:module'; const require = createRequire('/'); ${script}`)}`,
  )
const HOSTILE_URL = entryOf(HOSTILE)
/** The same, which hangs at its second start. @param notes a file of its own */
const hangsAtStart = (notes: string) =>
  entryOf(`
  const { appendFileSync, readFileSync } = require('node:fs')
  appendFileSync(${JSON.stringify(notes)}, '.')
  if (readFileSync(${JSON.stringify(notes)}, 'utf8') === '..') for (;;);
  ${HOSTILE}`)

/** Asks until grading is there again. */
const untilAnswered = async ({ handler }: RewardBack) => {
  let answer = await handler(ask('/fine'))
  while (answer.status === 503) {
    await new Promise(resolve => setTimeout(resolve, 20))
    answer = await handler(ask('/fine'))
  }
  return answer
}

const CRITERION = { id: 'a', text: 'Is brief', points: 1 }
const BRIEF = { kind: 'rule', fn: 'length', params: { max: 60 } } as const
const RUBRICS = { one: { criteria: [{ ...CRITERION, verifier: BRIEF }] } }

const open = async (config: RewardConfigInput = {}, options: Partial<OwnThreadOptions> = {}) => {
  const lines: Record<string, unknown>[] = []
  const limits = { drainNoticeMs: 0, drainMs: 2_000, ...config.limits }
  const parsed = parseRewardConfig({ rubrics: RUBRICS, ...config, limits })
  const writeLog = (line: string) => lines.push(JSON.parse(line))
  const back = await inOwnThread(parsed, { folder: '.', writeLog, ...options })
  return { back, lines }
}

const ask = (url: string): FrontRequest => ({
  method: 'POST',
  url,
  headers: {},
  body: new TextEncoder().encode('{}'),
  signal: new AbortController().signal,
})

describe('a reward service in a thread of its own', () => {
  it('grades, and logs in the main thread', async () => {
    const { back, lines } = await open()
    const server = await startRewardServer(back, { host: '127.0.0.1', port: 0 })
    closers.push(() => server.drain())
    const body = JSON.stringify({ items: [{ response: 'short' }] })
    const response = await fetch(`${server.url}/v1/grade`, { method: 'POST', body })
    expect(await response.json()).toMatchObject({ results: [{ reward: 1, rubric: 'one' }] })
    expect(lines).toMatchObject([{ event: 'request', route: '/v1/grade', status: 200 }])
    const scrape = async () => (await fetch(`${server.url}/metrics`)).text()
    // The service's part may come a scrape late.
    let text = await scrape()
    while (!text.includes('gradus_requests_total{route="/v1/grade",status="200"} 1')) text = await scrape()
    expect(text).toContain('gradus_grading_thread_restarts 0')
    expect(text).toContain('gradus_event_loop_delay_seconds{quantile="0.99"}')
  })

  it('does not log requests when told not to', async () => {
    const { back, lines } = await open({ log: { requests: false } })
    closers.push(() => back.close())
    const request = ask('/v1/grade')
    await back.handler(request)
    expect(lines).toEqual([])
  })

  it('says what is wrong with a configuration', async () => {
    const judged = { rubrics: { one: { criteria: [CRITERION] } } }
    await expect(open(judged)).rejects.toThrow('criterion a needs a judge')
  })

  it.each(['/hang', '/exit', '/fill'])(
    '%s costs what was under way a 503; what comes next is answered',
    {
      timeout: 120_000,
    },
    async path => {
      const { back, lines } = await open({ limits: { stallMs: 1_000 } }, { entry: HOSTILE_URL })
      const server = await startRewardServer(back, { host: '127.0.0.1', port: 0 })
      closers.push(() => server.drain())
      const answered = back.handler(ask(path))
      const beside = back.handler(ask('/wait'))
      let looks = 0
      let over = false
      const looking = (async () => {
        for (; !over; looks++) expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
      })()
      expect(await answered).toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
      expect((await beside).status).toBe(503)
      over = true
      await looking
      if (path !== '/exit') expect(looks).toBeGreaterThan(3)
      expect([(await untilAnswered(back)).status, back.restarts()]).toEqual([200, 1])
      expect(lines.map(({ event }) => event)).toContain('grading-thread-ended')
    },
  )

  it('that hangs as it starts again is ended, and another one started', { timeout: 30_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gradus-own-thread-'))
    const entry = hangsAtStart(join(folder, 'starts'))
    const { back, lines } = await open({ limits: { stallMs: 1_000 } }, { entry })
    closers.push(
      () => back.close(),
      async () => rmSync(folder, { recursive: true }),
    )
    expect((await back.handler(ask('/exit'))).status).toBe(503)
    expect([(await untilAnswered(back)).status, back.restarts()]).toEqual([200, 2])
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'grading-thread-stalled', startMs: expect.any(Number) }),
    )
  })

  it('goes on after what nobody caught, and tells of it', async () => {
    const logged: unknown[] = []
    const { back } = await open(
      {},
      { entry: HOSTILE_URL, onUnhandled: (kind, error) => logged.push([kind, error]) },
    )
    closers.push(() => back.close())
    expect((await back.handler(ask('/stray'))).status).toBe(200)
    while (logged.length < 2) await new Promise(resolve => setTimeout(resolve, 5))
    expect(logged).toContainEqual(['rejection', { message: 'dropped' }])
    expect(logged).toContainEqual(['exception', { message: 'stray' }])
    expect([(await back.handler(ask('/fine'))).status, back.restarts()]).toEqual([200, 0])
  })
})
