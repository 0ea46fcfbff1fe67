import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type OpenTools, openTools, type ToolsConfig } from './open.ts'
import type { ToolArguments, ToolError } from './tool.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

let server: Server
let url: string
let handler: Handler
let asked: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }[]
const open: OpenTools[] = []
const LONG_MS = 50_000

beforeEach(async () => {
  asked = []
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    asked.push({ method: request.method, url: request.url, headers: request.headers, body })
    handler(request, response, body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/search?lang=en`
})
afterEach(async () => {
  await Promise.all(open.splice(0).map(each => each.close()))
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})

const json: (value: unknown) => Handler = value => (_request, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const RESULTS = {
  web: {
    results: [
      { url: 'https://a.example/1', title: 'First', parts: { lead: 'about wings', more: 'and tails' } },
      { url: 'https://a.example/2', title: 'Second', parts: { lead: 'about heat' } },
      { url: 'https://a.example/1', title: 'First again', parts: { lead: 'twice' } },
      { nothing: true },
      'no object',
    ],
  },
}

const source = (more: object = {}) => ({
  kind: 'http' as const,
  url,
  params: { q: '{query}', n: '{top}' },
  results: 'web.results',
  fields: { id: 'url', title: 'title', text: ['parts.lead', '/parts/more'] },
  timeoutMs: LONG_MS,
  attemptTimeoutMs: LONG_MS,
  backoffMs: 1,
  ...more,
})

const start = async (more: object = {}, env: Record<string, string> = {}) => {
  const opened = await openTools([source(more)] as ToolsConfig, { env })
  open.push(opened)
  return opened.tools[0]
}

const ask = async (more: object = {}, args: unknown = { query: 'wings' }, env: Record<string, string> = {}) =>
  (await start(more, env)).call(args as ToolArguments, { signal: new AbortController().signal })

const failure = (promise: Promise<unknown>): Promise<ToolError> =>
  promise.then(
    value => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`)
    },
    error => error,
  )

describe('search over HTTP', () => {
  it('puts the query into the address and reads results by the mapping', async () => {
    handler = json(RESULTS)
    const result = await ask({ top: 10 }, { query: 'wings & tails?', top: 4 })
    expect(asked[0]).toMatchObject({
      method: 'GET',
      url: '/search?lang=en&q=wings+%26+tails%3F&n=4',
      body: '',
    })
    expect(result.snippets).toEqual([
      { id: 'https://a.example/1', title: 'First again', text: 'twice' },
      { id: 'https://a.example/2', title: 'Second', text: 'about heat' },
    ])
    expect(result.text).toBe(
      '[https://a.example/1] First again\ntwice\n\n[https://a.example/2] Second\nabout heat',
    )
  })

  it('posts a body in which the query cannot change anything but its text', async () => {
    handler = json([{ text: 'found' }])
    const body = { search: { text: '{query}', 'also {query}': ['{query} {top}'] }, size: '{top}', flag: true }
    const query = '","size":9999,"x":"{top}'
    const settings = { method: 'POST', params: {}, body, results: '', fields: { text: 'text' } }
    const { snippets } = await ask(settings, { query })
    expect(asked[0].method).toBe('POST')
    expect(asked[0].headers['content-type']).toBe('application/json')
    expect(JSON.parse(asked[0].body)).toEqual({
      search: { text: query, 'also {query}': [`${query} 5`] },
      size: 5,
      flag: true,
    })
    expect(snippets).toEqual([{ id: '1', text: 'found' }])
  })

  it('fills a body with values of the environment, and hides them where a server repeats them', async () => {
    handler = (_request, response, body) => response.end(JSON.stringify([{ text: `you said ${body}` }]))
    const body = { q: '{query}', auth: { api_key: { env: 'KEY' }, as: [{ env: 'KEY', prefix: 'Bearer ' }] } }
    const settings = { method: 'POST', params: {}, body, results: '', fields: { text: 'text' } }
    const { text } = await ask(settings, { query: 'wings' }, { KEY: 'open-sesame' })
    expect(JSON.parse(asked[0].body)).toEqual({
      q: 'wings',
      auth: { api_key: 'open-sesame', as: ['Bearer open-sesame'] },
    })
    expect(text).toContain('[secret]')
    expect(text).not.toContain('sesame')
    await expect(ask(settings)).rejects.toThrow(
      /body\.auth\.api_key: expected the environment variable KEY to be set/,
    )
  })

  it('says so when nothing is found', async () => {
    handler = json({ web: { results: [] } })
    expect(await ask()).toEqual({ text: 'Nothing was found for "wings". Try other words.', snippets: [] })
  })

  it('cuts long texts, and mends halves of characters', async () => {
    handler = (_request, response) => {
      response.end(
        `{"web": {"results": [{"url": 5, "parts": {"lead": "cut \\ud83d"}}, {"parts": {"lead": "${'🚀'.repeat(400)}"}}]}}`,
      )
    }
    const { snippets } = await ask({ snippetChars: 51 })
    expect(snippets?.[0]).toEqual({ id: '5', text: 'cut \ufffd' })
    expect(snippets?.[1].text).toBe(`${'🚀'.repeat(25)} …`)
  })

  it('hides a secret that a server spells otherwise', async () => {
    const escaped = String.raw`open\u0020sesame\/789`
    handler = (_request, response) =>
      response.end(
        `{"web": {"results": [{"url": "${escaped}", "title": "open+sesame/789", "parts": {"lead": "${escaped}"}}]}}`,
      )
    const more = { params: { q: '{query}', key: { env: 'SEARCH_KEY' } } }
    const answer = JSON.stringify(await ask(more, { query: 'x' }, { SEARCH_KEY: 'open sesame/789' }))
    expect(answer).not.toContain('sesame')
    expect(answer).toContain('[secret]')
  })

  it('hides all of a secret that another one begins, the pair of a basic authorization, and breaks no number', async () => {
    const pair = 'me:pass-word-1'
    handler = (_request, response) =>
      response.end(
        `{"score": 1.4321, "web": {"results": [{"url": 4321, "title": "short-and-long", "parts": {"lead": "${pair} or pass-word-1"}}]}}`,
      )
    const headers = {
      'x-a': { env: 'SHORT' },
      'x-b': { env: 'LONG' },
      'x-c': { env: 'PIN' },
      authorization: { env: 'PAIR', prefix: 'Basic ' },
    }
    const env = {
      SHORT: 'short',
      LONG: 'short-and-long',
      PIN: '4321',
      PAIR: Buffer.from(pair).toString('base64'),
    }
    expect((await ask({ headers }, { query: 'x' }, env)).snippets).toEqual([
      { id: '[secret]', title: '[secret]', text: '[secret] or [secret]' },
    ])
  })

  it('takes secrets from the environment, and shows them in nothing', async () => {
    const env = { SEARCH_KEY: 'open sesame/789', OTHER: 'tell-nobody' }
    const secrets = {
      headers: { 'X-Key': { env: 'SEARCH_KEY' }, Authorization: { env: 'OTHER', prefix: 'Bearer ' } },
      params: { q: '{query}', key: { env: 'SEARCH_KEY' } },
      retries: 0,
    }
    handler = (request, response) =>
      response.end(
        JSON.stringify({
          web: {
            results: [{ url: request.url, title: request.headers['x-key'], parts: { lead: 'tell-nobody' } }],
          },
        }),
      )
    const answer = JSON.stringify(await ask(secrets, { query: 'x' }, env))
    expect(asked[0].headers).toMatchObject({
      'x-key': 'open sesame/789',
      authorization: 'Bearer tell-nobody',
    })
    expect(answer).not.toMatch(/sesame|tell-nobody/)
    expect(answer).toContain('[secret]')
    const faults: Handler[] = [
      (request, response) => response.writeHead(403).end(`bad key ${request.headers['x-key']}`),
      (request, response) => response.end(`no json ${request.headers['x-key']} ${'x'.repeat(10)}`),
      (request, response) => response.end(JSON.stringify({ web: request.headers['x-key'] })),
      request => request.socket.destroy(),
    ]
    for (const fault of faults) {
      handler = fault
      const error = await failure(ask(secrets, { query: 'x' }, env))
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toMatch(/sesame|tell-nobody/)
    }
    await expect(start(secrets, { OTHER: 'x' })).rejects.toThrow(
      /web_search: headers\.X-Key: expected the environment variable SEARCH_KEY to be set/,
    )
  })
})

describe('failures of a search over HTTP', () => {
  const times = (failing: number, fault: Handler): Handler => {
    let count = 0
    return (...args) => (count++ < failing ? fault(...args) : json(RESULTS)(...args))
  }

  it.each<[string, Handler]>([
    ['status 500', (_, response) => response.writeHead(500).end('oh')],
    ['status 429', (_, response) => response.writeHead(429, { 'retry-after': '0' }).end()],
    ['no JSON', (_, response) => response.end('<html>busy</html>')],
    ['a broken connection', request => request.socket.destroy()],
  ])('%s is tried again', async (_, fault) => {
    handler = times(2, fault)
    expect((await ask()).snippets).toHaveLength(2)
    expect(asked).toHaveLength(3)
    handler = times(5, fault)
    expect(await failure(ask())).toBeInstanceOf(Error)
    expect(asked).toHaveLength(6)
  })

  it.each<[string, Handler, RegExp, string, number]>([
    [
      'status 400',
      (_, r) => r.writeHead(400).end('no'),
      /^web_search: expected an answer with status 200, got 400$/,
      'refused',
      1,
    ],
    [
      'a redirection',
      (_, r) => r.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
      /got 302; redirections are not followed/,
      'refused',
      1,
    ],
    [
      'a long retry-after',
      (_, r) => r.writeHead(429, { 'retry-after': '3600' }).end(),
      /got 429/,
      'refused',
      1,
    ],
    [
      'ten megabytes',
      (_, r) => r.end('x'.repeat(10_000_000)),
      /expected an answer of at most 2097152 bytes, got more/,
      'too-large',
      1,
    ],
    [
      'invalid JSON',
      (_, r) => r.end('{"web": '),
      /expected JSON, got text that is none: \{"web": $/,
      'malformed',
      3,
    ],
    ['brackets without end', (_, r) => r.end('['.repeat(1_000_000)), /JSON without end/, 'malformed', 3],
    [
      'no list',
      json({ web: { results: 'x' } }),
      /expected a list of results at "web\.results", got "x"; correct results/,
      'malformed',
      3,
    ],
    [
      'another shape',
      json({ __proto__: 1, constructor: [] }),
      /expected a list of results.*got nothing/,
      'malformed',
      3,
    ],
  ])('%s', async (_, fault, words, kind, attempts) => {
    handler = fault
    const error = await failure(ask())
    expect(error.message).toMatch(words)
    expect(error.kind).toBe(kind)
    expect(asked).toHaveLength(attempts)
  })

  it('a server that hangs, or drips, is waited for until the deadline and no longer', async () => {
    handler = () => {}
    expect(await failure(ask({ timeoutMs: 300 }))).toMatchObject({
      kind: 'timeout',
      message: expect.stringMatching(/within 300 ms/),
    })
    handler = (_, response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    }
    expect(await failure(ask({ attemptTimeoutMs: 200, retries: 1 }))).toMatchObject({ kind: 'timeout' })
  })

  it('a call that nobody waits for ends at once', async () => {
    handler = () => {}
    const tool = await start()
    const stop = new AbortController()
    const waiting = failure(tool.call({ query: 'x' }, { signal: stop.signal }))
    stop.abort()
    expect((await waiting).kind).toBe('cancelled')
    expect((await failure(tool.call({ query: 'x' }, { signal: stop.signal }))).kind).toBe('cancelled')
  })

  it('arguments without a query are not sent', async () => {
    handler = json(RESULTS)
    for (const args of [null, {}, { query: 5 }, { query: ' ' }, 'wings', [1]])
      expect((await failure(ask({}, args))).kind).toBe('arguments')
    expect(asked).toEqual([])
  })
})

describe('settings', () => {
  it('may hold what is no secret, whatever it is called', async () => {
    handler = json(RESULTS)
    await start({
      headers: { 'x-lang': 'en', 'x-keyboard': 'qwerty' },
      params: { key: '{query}', basic: 'yes' },
    })
  })

  it.each<[object, RegExp]>([
    [{ url: 'ftp://host/x' }, /url: expected http or https, got ftp/],
    [{ url: 'nowhere' }, /url: expected an address/],
    [{ url: 'http://me:word@host/' }, /expected an address without a password in it((?!word@).)*$/],
    [{ url: 'http://me@host/' }, /expected no user or password/],
    [
      { url: 'https://host/search?lang=en&api_key=abc-123' },
      /^tools: \[0\]: expected an address without api_key in its query, .*as \{env: NAME\}((?!abc-123).)*$/,
    ],
    [{ url: 'https://host/?subscription-key=x' }, /without subscription-key in its query/],
    [
      { headers: { Authorization: 'Bearer abc-123' } },
      /^tools: \[0\]\.headers: expected no secret written out, as that of Authorization, .*; write Authorization: \{env: NAME\}((?!abc-123).)*$/,
    ],
    [
      { headers: { 'X-API-Key': 'abc-123' } },
      /headers: expected no secret written out, as that of X-API-Key/,
    ],
    [
      { headers: { 'x-with': 'Bearer abc-123' } },
      /headers: expected no secret written out, as that of x-with/,
    ],
    [
      { params: { q: '{query}', api_key: 'abc-123' } },
      /params: expected no secret written out, as that of api_key((?!abc-123).)*$/,
    ],
    [
      { params: { q: '{query}', k: 'tvly-dev-0123456789' } },
      /params: expected no secret written out, as that of k,/,
    ],
    [
      { method: 'POST', body: { q: '{query}', auth: { api_key: 'abc-123' } } },
      /^tools: \[0\]\.body: expected no secret written out, as that of auth\.api_key, .*; write \{env: NAME\}((?!abc-123).)*$/,
    ],
    [
      { method: 'POST', body: { q: '{query}', by: ['Bearer abc-123'] } },
      /body: expected no secret written out, as that of by\.0,((?!abc-123).)*$/,
    ],
    [{ params: {} }, /expected \{query\} in params or body, got none/],
    [{ body: { q: '{query}' } }, /body: expected none with method GET/],
    [{ headers: { 'bad name': 'x' } }, /headers\.bad name: expected a header of one line/],
    [{ headers: { ok: 'a\r\nb: c' } }, /headers\.ok: expected a header of one line/],
    [{ fields: {} }, /tools: \[0\]\.fields\.text: expected/],
    [{ timeOut: 1 }, /tools: \[0\]\.timeOut: .*did you mean timeoutMs/],
    [{ kind: 'web' }, /tools: \[0\]\.kind: expected/],
  ])('%j is refused, and nothing is called', async (more, words) => {
    handler = json(RESULTS)
    await expect(start(more)).rejects.toThrow(words)
    expect(asked).toEqual([])
  })

  it('two tools of one name are refused', async () => {
    await expect(openTools([source(), source()])).rejects.toThrow(/got web_search twice; set name or prefix/)
    const both = await openTools([source(), source({ name: 'other' })])
    expect(both.tools.map(({ name }) => name)).toEqual(['web_search', 'other'])
    await both.close()
  })
})
