import { expect, it } from 'vitest'
import { fetchHandler } from './exchange.ts'

const handler = fetchHandler({ fetch: async ({ method, url }) => new Response(`${method} ${url}`) })
const ask = async (method: string, url: string) => {
  const { signal } = new AbortController()
  const { status, body } = await handler({ method, url, headers: {}, body: new Uint8Array(), signal })
  return `${status} ${typeof body === 'string' ? body : Buffer.from(body as Uint8Array)}`
}

it.each([
  ['/v1/grade?a=b', '/v1/grade?a=b'],
  ['//', '//'],
  ['//[', '//['],
  ['///v1/grade', '///v1/grade'],
  ['*', '/*'],
  ['http://host:1/v1/grade', '/v1/grade'],
  ['http://any:TOKEN@host/v1/grade', '/v1/grade'],
  ['http://[', '/'],
  ['https://', '/'],
  ['http://host:99999?x', '/?x'],
])('a target may be anything: %s', async (target, path) => {
  expect(await ask('GET', target)).toBe(`200 GET http://localhost${path}`)
})

it.each(['TRACE', 'trace', 'TRACK', 'CONNECT'])('%s is refused, not stumbled over', async method => {
  expect(await ask(method, '/')).toMatch(/^405 .*no such method/)
})
