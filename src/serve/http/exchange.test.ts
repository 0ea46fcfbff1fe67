import { expect, it } from 'vitest'
import { fetchHandler } from './exchange.ts'

const handler = fetchHandler({ fetch: request => new Response(new URL(request.url).pathname) })
const answer = async (method: string, url: string) => {
  const { signal } = new AbortController()
  const { status, body } = await handler({ method, url, headers: {}, body: new Uint8Array(), signal })
  return status === 200 ? Buffer.from(body as Uint8Array).toString() : status
}

it.each([
  ['POST', '/v1/grade', '/v1/grade'],
  ['POST', 'http://host/v1/grade', '/v1/grade'],
  // Whose second part looks like a host: it is a path all the same.
  ['POST', '//host:99999999/v1/grade', '//host:99999999/v1/grade'],
  ['POST', 'http://[bad/', 400],
  ['TRACE', '/', 400],
])('%s %s is a request or refused, never a failure', async (method, url, expected) => {
  expect(await answer(method, url)).toBe(expected)
})
