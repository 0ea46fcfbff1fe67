import { request } from 'node:http'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import type { RewardConfigInput } from './config.ts'
import { type RewardServer, startRewardServer } from './server.ts'
import { testService } from './service.fixture.ts'

const servers: RewardServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.drain()
})

const start = async (limits: RewardConfigInput['limits'] = {}) => {
  const service = testService({ limits: { drainNoticeMs: 0, drainMs: 100, ...limits } })
  const server = await startRewardServer(service, { host: '127.0.0.1', port: 0 })
  servers.push(server)
  return { ...service, server }
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 5))
}

/** Writes a body piece by piece; the status, or how the connection ended. */
const upload = (url: string, pieces: string[], headers: Record<string, string | number> = {}) =>
  new Promise<string>(resolve => {
    const outgoing = request(`${url}/v1/grade`, { method: 'POST', headers }, response => {
      response.resume()
      resolve(String(response.statusCode))
    })
    outgoing.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
    Readable.from(pieces).pipe(outgoing)
  })

const ITEM = '{"items": [{"response": "yes"}]}'

describe('the service on a port', () => {
  it('stops the work of a client that is gone', async () => {
    const { server, grader, service, lines } = await start()
    grader.beforeEach = () => new Promise(() => {})
    const client = new AbortController()
    const asked = fetch(`${server.url}/v1/grade`, { method: 'POST', body: ITEM, signal: client.signal })
    await until(() => grader.seen.length === 1)
    client.abort()
    await expect(asked).rejects.toThrow()
    await until(() => lines.length === 1)
    expect(grader.seen[0].options?.signal?.aborted).toBe(true)
    expect(lines[0]).toMatchObject({ route: '/v1/grade', status: 499, error: 'client_gone' })
    expect(service.queue.active).toBe(0)
  })

  it('reads no more of a body than allowed, stated or not', async () => {
    const { server } = await start({ bodyBytes: 1000 })
    const big = Array.from({ length: 50 }, () => ' '.repeat(100_000))
    const tooMuch = ['413', 'ECONNRESET', 'EPIPE']
    expect(tooMuch).toContain(await upload(server.url, big, { 'content-length': 5_000_000 }))
    expect(tooMuch).toContain(await upload(server.url, big))
    expect(await upload(server.url, [ITEM.slice(0, 10), ITEM.slice(10)])).toBe('200')
    // A body of a little too much is read in full by then, so its answer always arrives.
    expect(await upload(server.url, [' '.repeat(1001)])).toBe('413')
  })

  it('answers many requests over one connection at a time, each its own', async () => {
    const { server, grader } = await start()
    grader.beforeEach = async ({ response }) => {
      await new Promise(resolve => setTimeout(resolve, response.length % 7))
    }
    const asked = Array.from({ length: 60 }, async (_, index) => {
      const response = `${'x'.repeat(index)}${index % 2 === 0 ? 'yes' : 'no'}`
      const body = JSON.stringify({ prompt: 'p', response })
      return (await fetch(`${server.url}/slime`, { method: 'POST', body })).json()
    })
    expect(await Promise.all(asked)).toEqual(
      Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? 1 : -0.5)),
    )
  })

  it('says how many requests it could not answer in time when it was stopped', async () => {
    const { server, grader } = await start()
    grader.beforeEach = () => new Promise(() => {})
    const asked = fetch(`${server.url}/v1/grade`, { method: 'POST', body: ITEM }).catch(() => 'lost')
    await until(() => grader.seen.length === 1)
    expect(await server.drain()).toBe(1)
    expect(await asked).toBe('lost')
    servers.splice(0)
  })
})
