import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveShipped } from '../util/package.ts'
import { openLocalChat, startChatServer } from './chat/index.ts'
import { startDashboard } from './dashboard/index.ts'
import { startRewardServer } from './reward/index.ts'
import { testService } from './reward/service.fixture.ts'
import { baseModel, startTinkerServer } from './tinker/index.ts'

/** What changes something, or costs something, at each server. */
const POSTS: Readonly<Record<string, string>> = {
  reward: '/v1/grade',
  chat: '/v1/completions',
  tinker: '/api/v1/create_session',
  dashboard: '/api/none',
}
const urls: Record<string, string> = {}
const ends: (() => unknown)[] = []
const LIMITS = { drainNoticeMs: 0, drainMs: 100 }

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-pages-'))
  const model = resolveShipped('package:models/logic-start')
  const reward = await startRewardServer(testService({ limits: LIMITS }), { host: '127.0.0.1', port: 0 })
  const chat = await startChatServer(await openLocalChat(model, { threads: 1 }), { limits: LIMITS })
  const state = join(folder, 'state')
  const tinker = await startTinkerServer({ models: [baseModel(model)], state, limits: LIMITS })
  const dashboard = await startDashboard([folder])
  Object.assign(urls, { reward: reward.url, chat: chat.url, tinker: tinker.url, dashboard: dashboard.url })
  ends.push(
    () => reward.drain(),
    () => chat.close(),
    () => tinker.close(),
    () => dashboard.close(),
    () => rmSync(folder, { recursive: true }),
  )
}, 120_000)
afterAll(async () => {
  for (const end of ends) await end()
})

/** Not `fetch`, which chooses the host itself. */
const status = (server: string, method: string, path: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const outgoing = request(`${urls[server]}${path}`, { method, headers }, response => {
      response.resume()
      resolve(response.statusCode)
    })
    outgoing.on('error', reject).end(method === 'POST' ? '{}' : undefined)
  })

describe.each(Object.entries(POSTS))('a page at %s', (server, path) => {
  it.each<Record<string, string>>([
    { origin: 'http://evil.example' },
    { origin: 'http://localhost:1' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('of another origin may not post: %j', async headers => {
    expect(await status(server, 'POST', path, { 'content-type': 'text/plain', ...headers })).toBe(403)
  })

  it.each(['evil.example', '127.0.0.1.evil.example:80', 'localhost.evil.example'])(
    'may not come by the name %s',
    async host => {
      expect(await status(server, 'POST', path, { host, origin: `http://${host}` })).toBe(421)
      for (const each of ['/healthz', '/metrics', '/'])
        expect(await status(server, 'GET', each, { host })).toBe(421)
    },
  )

  it('of its own, and a program, may', async () => {
    const { host, origin } = new URL(urls[server])
    const local = host.replace('127.0.0.1', 'localhost')
    const all: Record<string, string>[] = [{}, { host: local }, { origin }, { host: '[::1]' }]
    for (const headers of all) expect([403, 421]).not.toContain(await status(server, 'POST', path, headers))
  })
})
