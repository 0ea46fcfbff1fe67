import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createTar } from 'nanotar'
import { afterEach, describe, expect, it } from 'vitest'
import { Connection } from './connection.ts'
import { fetchStored } from './stored.ts'

const PATH = 'tinker://run-1/sampler_weights/last'
const OFFER = '/api/v1/training_runs/run-1/checkpoints/sampler_weights/last/archive'
const FILES = [
  { name: 'adapter_config.json', data: '{"r": 8}' },
  { name: './adapter_model.safetensors', data: new Uint8Array([1, 2, 3]) },
]

interface Reply {
  status?: number
  headers?: Record<string, string>
  body?: string | Uint8Array
}

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const end of open.splice(0).reverse()) await end()
})

/** A server of these answers; 404 for all else. Returns its address and what it was asked. */
const serve = async (answers: Record<string, Reply>) => {
  const asked: IncomingMessage[] = []
  const server: Server = createServer((request, response) => {
    asked.push(request)
    const {
      status = 200,
      headers = {},
      body = '',
    } = answers[request.url ?? ''] ?? { status: 404, body: '{}' }
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  open.push(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const connect = (url: string): Connection => {
  const connection = new Connection({ url, apiKey: 'secret', backoffMs: 1, patienceMs: 100 })
  open.push(() => connection.close())
  return connection
}

const names = (files: ReadonlyMap<string, Uint8Array> | null) => [...(files ?? [])].map(([name]) => name)

describe('an adapter that a server hands out', () => {
  it('is an archive, packed or not, at once or where the server points; files lie in no folder', async () => {
    const tar = createTar(FILES)
    for (const body of [tar, gzipSync(tar)]) {
      const { url } = await serve({
        [OFFER]: { status: 302, headers: { location: '/there?signature=s' } },
        '/there?signature=s': { body },
      })
      const files = await fetchStored(connect(url), PATH)
      expect(names(files)).toEqual(['adapter_config.json', 'adapter_model.safetensors'])
      expect([...files!.get('adapter_model.safetensors')!]).toEqual([1, 2, 3])
    }
    const { url } = await serve({ [OFFER]: { body: tar } })
    expect(names(await fetchStored(connect(url), PATH))).toHaveLength(2)
  })

  it('may be on another server, which does not get the key', async () => {
    const store = await serve({ '/file': { body: createTar(FILES) } })
    const headers = { 'content-type': 'application/json' }
    const { url, asked } = await serve({
      [OFFER]: { headers, body: JSON.stringify({ url: `${store.url}/file`, expires: 'soon' }) },
    })
    expect(names(await fetchStored(connect(url), PATH))).toHaveLength(2)
    expect(asked[0].headers['x-api-key']).toBe('secret')
    expect(store.asked[0].headers).not.toHaveProperty('x-api-key')
  })

  it('is found under the address without its kind, as SkyRL has it, or is not handed out', async () => {
    const { url } = await serve({ [OFFER.replace('sampler_weights/', '')]: { body: createTar(FILES) } })
    expect(names(await fetchStored(connect(url), PATH))).toHaveLength(2)
    const nothing = await serve({})
    expect(await fetchStored(connect(nothing.url), PATH)).toBeNull()
    expect(await fetchStored(connect(nothing.url), 'no path')).toBeNull()
  })

  it('is not believed where it is none', async () => {
    const whole = createTar(FILES)
    const outside = createTar([{ name: '../../in/a/folder', data: 'x' }])
    // Cut behind the first file, and within the second.
    for (const body of ['<html>', whole.slice(0, 1024), whole.slice(0, 1537), outside]) {
      const { url } = await serve({ [OFFER]: { body } })
      await expect(fetchStored(connect(url), PATH)).rejects.toThrow(/expected an archive \(tar\)/)
    }
  })
})
