import { spawnSync } from 'node:child_process'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterEach, describe, expect, it } from 'vitest'
import { type OpenTools, openTools, type ToolsConfig, type ToolsRuntime } from '../open.ts'
import type { ToolArguments, ToolError } from '../tool.ts'

const fixture = fileURLToPath(new URL('server.fixture.mjs', import.meta.url))
const open: OpenTools[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(each => each.close()))
})

/** Long enough on any machine; no test waits for it. */
const LONG_MS = 50_000

const start = async (source: object, runtime: ToolsRuntime = {}) => {
  const tools = await openTools(
    [{ kind: 'mcp', connectTimeoutMs: LONG_MS, timeoutMs: LONG_MS, ...source }] as ToolsConfig,
    runtime,
  )
  open.push(tools)
  return tools
}

const node = (...args: string[]) => ({ command: process.execPath, args })

const call = (
  tools: OpenTools,
  name: string,
  args: ToolArguments = {},
  signal = new AbortController().signal,
) => {
  const tool = tools.tools.find(each => each.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool.call(args, { signal })
}

const failure = (promise: Promise<unknown>): Promise<ToolError> =>
  promise.then(
    value => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`)
    },
    error => error,
  )

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits until a process is gone; the test's own limit ends it where it never is. */
const gone = async (pid: number): Promise<void> => {
  while (isAlive(pid)) await new Promise(resolve => setTimeout(resolve, 20))
}

describe('a server over stdio', () => {
  it('has its tools listed page by page, and called', async () => {
    const tools = await start(node(fixture))
    expect(tools.tools.length).toBeGreaterThan(10)
    expect(tools.tools[0]).toMatchObject({
      name: 'echo',
      description: 'The tool echo.',
      parameters: { type: 'object', properties: { message: { type: 'string' } } },
    })
    expect(await call(tools, 'echo', { message: 'hello' })).toEqual({ text: 'you said hello' })
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) => call(tools, 'echo', { message: String(i) })),
    )
    expect(all.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, i) => `you said ${i}`))
  })

  it('may answer with texts, resources, links, pictures and structured content', async () => {
    const tools = await start(node(fixture))
    expect(await call(tools, 'parts')).toEqual({
      text: [
        'first',
        '[memo://1]\na memo',
        '[file://x.bin: application/zip of 3 bytes, which is no text]',
        '[memo://2] second memo: about wings',
        '[image: image/png of 6 bytes, which is no text]',
      ].join('\n\n'),
      snippets: [{ id: 'memo://1', text: 'a memo' }],
    })
    expect(await call(tools, 'structured')).toEqual({ text: '{"answer":42}' })
  })

  it('may fail a call, in its words, and answers the next', async () => {
    const tools = await start(node(fixture))
    expect(await failure(call(tools, 'fail'))).toMatchObject({
      kind: 'failed',
      message: 'fail: the disk is on fire',
    })
    expect((await failure(call(tools, 'wrong'))).message).toMatch(/^mcp .*: no such record$/)
    expect(await failure(call(tools, 'echo', 'no object' as never))).toMatchObject({ kind: 'arguments' })
    expect((await call(tools, 'echo', { message: 'still' })).text).toBe('you said still')
  })

  it('gives only the tools asked for, under a prefix', async () => {
    const tools = await start({ ...node(fixture), only: ['echo', 'pid'], prefix: 'fx_' })
    expect(tools.tools.map(({ name }) => name)).toEqual(['fx_echo', 'fx_pid'])
    await expect(start({ ...node(fixture), only: ['nothing'] })).rejects.toThrow(
      /only: expected names.*got nothing/,
    )
  })

  it('gets the variables that are named and no others', async () => {
    const env = { FIXTURE_KEY: 'open-sesame-123', OTHER_KEY: 'hidden' }
    process.env.GRADUS_TEST_OTHER = 'not for servers'
    const tools = await start({ ...node(fixture), env: ['FIXTURE_KEY'] }, { env })
    const { text } = await call(tools, 'variables')
    delete process.env.GRADUS_TEST_OTHER
    expect(Object.keys(JSON.parse(text))).toContain('FIXTURE_KEY')
    expect(text).not.toMatch(/OTHER/)
    // What it holds leaves no tool, neither in answers nor in errors.
    expect(text).toContain('"FIXTURE_KEY":"[secret]"')
    const error = await failure(call(tools, 'leak'))
    expect(error.message).toMatch(/its process has ended: exit code 4; it said: key was \[secret\]/)
    expect(JSON.stringify(error) + error.stack).not.toContain('open-sesame')
    // Where the server's last words are cut, in the middle of it.
    const cut = await failure(call(tools, 'leakBefore', { characters: 295 }))
    expect(cut.message).toMatch(/it said: [^-]*x{200}/)
    expect(await call(tools, 'memo', { uri: 'memo://open-sesame-123' })).toEqual({
      text: '[memo://[secret]]\na memo',
      snippets: [{ id: 'memo://[secret]', text: 'a memo' }],
    })
    await expect(start({ ...node(fixture), env: ['NO_SUCH_KEY'] }, { env })).rejects.toThrow(
      /environment variable NO_SUCH_KEY to be set/,
    )
  })
})

describe('a server over stdio that', () => {
  it('dies in a call fails that call, and is started again for the next', async () => {
    const tools = await start(node(fixture))
    const before = Number((await call(tools, 'pid')).text)
    const waiting = failure(call(tools, 'slow', { ms: LONG_MS }))
    expect(await failure(call(tools, 'exit', { code: 3 }))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/its process has ended: exit code 3/),
    })
    expect((await waiting).kind).toBe('unreachable')
    const after = Number((await call(tools, 'pid')).text)
    expect(after).not.toBe(before)
  })

  it('is slow or frozen fails the call at its deadline; a slow one answers the next', async () => {
    const tools = await start({ ...node(fixture), timeoutMs: 1_500 })
    expect(await failure(call(tools, 'slow', { ms: LONG_MS }))).toMatchObject({
      kind: 'timeout',
      message: expect.stringMatching(/no answer within 1500 ms; try again/),
    })
    const patient = await start({ ...node(fixture), timeoutMs: LONG_MS })
    const cancel = new AbortController()
    const cancelled = failure(call(patient, 'slow', { ms: LONG_MS }, cancel.signal))
    cancel.abort()
    expect((await cancelled).kind).toBe('cancelled')
    expect((await call(patient, 'echo', { message: 'on' })).text).toBe('you said on')
    const pid = Number((await call(patient, 'pid')).text)
    const frozen = failure(call(patient, 'freeze'))
    // Closing ends it all the same, and the call with it.
    await patient.close()
    expect((await frozen).kind).toBe('cancelled')
    await gone(pid)
  })

  it('answers ten megabytes fails the call and lives on', async () => {
    const tools = await start(node(fixture))
    const before = (await call(tools, 'pid')).text
    expect(await failure(call(tools, 'big', { bytes: 10_000_000 }))).toMatchObject({
      kind: 'too-large',
      message: expect.stringMatching(/expected an answer of at most 1048576 bytes, got more; ask for less/),
    })
    expect((await call(tools, 'pid')).text).toBe(before)
    expect((await call(tools, 'big', { bytes: 1_000_000 })).text).toHaveLength(1_000_000)
  })

  it('writes what is no message beside its answers is understood', async () => {
    const tools = await start(node(fixture))
    expect((await call(tools, 'garbage')).text).toBe('clean')
    // Whoever waits in vain is told of it.
    const cancel = new AbortController()
    const cancelled = failure(call(tools, 'slow', { ms: LONG_MS }, cancel.signal))
    await call(tools, 'echo', { message: 'x' })
    cancel.abort()
    expect((await cancelled).message).toMatch(/4 lines on its stdout were no messages/)
  })

  it('will not end is ended, with what it started', async () => {
    const tools = await start(node(fixture, '--stubborn'))
    const pid = Number((await call(tools, 'pid')).text)
    const child = Number((await call(tools, 'child')).text)
    expect([isAlive(pid), isAlive(child)]).toEqual([true, true])
    await tools.close()
    await gone(pid)
    await gone(child)
    expect((await failure(call(tools, 'pid'))).kind).toBe('cancelled')
  })

  it('is still there when this process ends is ended with it', async () => {
    const entry = fileURLToPath(new URL('../../../dist/tools/index.js', import.meta.url))
    const script = `
      const { openTools } = await import(${JSON.stringify(entry)})
      const args = [${JSON.stringify(fixture)}, '--stubborn']
      const { tools } = await openTools([{ kind: 'mcp', command: process.execPath, args, only: ['pid'] }])
      console.log((await tools[0].call({}, { signal: new AbortController().signal })).text)
      process.exit(0)`
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    expect(Number(stdout)).toBeGreaterThan(1)
    await gone(Number(stdout))
  })

  it('is no server is refused when it is opened', async () => {
    const hostile = (script: string, timeoutMs = LONG_MS) =>
      start({ command: process.execPath, args: ['-e', script], connectTimeoutMs: timeoutMs })
    await expect(start({ command: '/no/such/program' })).rejects.toThrow(
      /cannot be started: .*there is no such file/,
    )
    await expect(hostile('console.error("no config"); process.exit(7)')).rejects.toThrow(
      /its process has ended: exit code 7; it said: no config/,
    )
    await expect(hostile('setInterval(() => {}, 1000)', 1_500)).rejects.toThrow(/no answer within 1500 ms/)
    await expect(hostile('setInterval(() => console.log("garbage {"), 10)', 3_000)).rejects.toThrow(
      /no answer within 3000 ms/,
    )
    await expect(hostile('setInterval(() => process.stdout.write("x".repeat(100000)), 5)')).rejects.toThrow(
      /expected an answer of at most 1048576 bytes|its process has ended/,
    )
    const answer = '{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "1.0", "capabilities": 5}}'
    await expect(hostile(`console.log('${answer}'); setInterval(() => {}, 1000)`)).rejects.toThrow(/mcp /)
  })

  /** A server whose list of tools is a page given as code. */
  const listing = (page: string) => {
    const script = `
      require('readline').createInterface({ input: process.stdin }).on('line', line => {
        const { id, method, params } = JSON.parse(line)
        const tools = [{ name: 'again', inputSchema: { type: 'object' } }]
        const result = method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
          : ${page}
        if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
      })`
    return start({ command: process.execPath, args: ['-e', script] })
  }

  // java-sdk#575 and csharp-sdk#1072 of modelcontextprotocol: an empty cursor; the specification's newer text: null.
  it.each(['""', 'null'])('ends its list with the cursor %s', async cursor => {
    const { tools } = await listing(`{ tools, nextCursor: ${cursor} }`)
    expect(tools.map(({ name }) => name)).toEqual(['again'])
  })

  it('lists tools without end is refused', async () => {
    await expect(listing("{ tools, nextCursor: 'more' }")).rejects.toThrow(
      /the list of tools does not end: after 2 tools the same cursor came again/,
    )
    await expect(listing('{ tools, nextCursor: (params?.cursor ?? "") + "x" }')).rejects.toThrow(
      /expected a list of at most 100 pages, got more \(100 tools so far\)/,
    )
    await expect(
      listing('{ tools: Array.from({ length: 1001 }, (_, i) => ({ ...tools[0], name: "t" + i })) }'),
    ).rejects.toThrow(/expected a list of at most 1000 tools, got more/)
  })
})

describe('a real server of the registry', () => {
  it('is started, listed and called', async () => {
    const main = createRequire(import.meta.url).resolve(
      '@modelcontextprotocol/server-everything/package.json',
    )
    const tools = await start(node(join(dirname(main), 'dist', 'index.js'), 'stdio'))
    const names = tools.tools.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'get-resource-reference']),
    )
    expect((await call(tools, 'echo', { message: 'hello' })).text).toBe('Echo: hello')
    expect((await call(tools, 'get-sum', { a: 2, b: 40 })).text).toMatch(/42/)
    expect((await call(tools, 'get-tiny-image')).text).toMatch(/\[image: image\/png of \d+ bytes/)
    const { text, snippets } = await call(tools, 'get-resource-reference', {
      resourceType: 'Text',
      resourceId: 1,
    })
    expect(snippets).toHaveLength(1)
    expect(text).toContain(snippets?.[0].text)
    expect((await failure(call(tools, 'get-sum', { a: 'x' }))).message).toMatch(/get-sum/)
  })
})

describe('a server over HTTP', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  const listen = async (handler: (request: IncomingMessage, response: ServerResponse) => void, port = 0) => {
    const server = createServer(handler)
    servers.push(server)
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }
  }

  /** A server with sessions, which forgets them when it is told to; `seen` are the headers of its last request. */
  const sessions = async (enableJsonResponse: boolean) => {
    const { makeServer } = (await import(fixture)) as {
      makeServer(): { connect(transport: unknown): Promise<void> }
    }
    const known = new Map<string, StreamableHTTPServerTransport>()
    const seen: { headers?: IncomingMessage['headers'] } = {}
    const { url } = await listen(async (request, response) => {
      seen.headers = request.headers
      const id = request.headers['mcp-session-id']
      const transport = typeof id === 'string' ? known.get(id) : undefined
      if (id !== undefined && transport === undefined) {
        response
          .writeHead(404)
          .end('{"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "gone"}}')
        return
      }
      const own =
        transport ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: () => String(known.size + 1),
          enableJsonResponse,
          onsessioninitialized: session => {
            known.set(session, own)
          },
        })
      if (transport === undefined) await makeServer().connect(own)
      await own.handleRequest(request, response)
    })
    return { url, seen, known }
  }

  it.each([
    ['streams', false],
    ['JSON', true],
  ])('is connected to and called, by %s, with headers that no text shows', async (_, json) => {
    const { url, seen } = await sessions(json)
    const headers = { authorization: { env: 'HTTP_KEY', prefix: 'Bearer ' } }
    const tools = await start({ url, headers }, { env: { HTTP_KEY: 'open-sesame-456' } })
    expect((await call(tools, 'echo', { message: 'over http' })).text).toBe('you said over http')
    expect(seen.headers?.authorization).toBe('Bearer open-sesame-456')
    expect((await call(tools, 'echo', { message: 'open-sesame-456' })).text).toBe('you said [secret]')
    expect((await failure(call(tools, 'fail'))).message).toBe('fail: the disk is on fire')
    expect(await failure(call(tools, 'big', { bytes: 2_000_000 }))).toMatchObject({ kind: 'too-large' })
    expect((await call(tools, 'echo', { message: 'on' })).text).toBe('you said on')
  })

  it('that was started again is connected to once, however many calls notice', async () => {
    const { url, known } = await sessions(true)
    const tools = await start({ url })
    for (let round = 0; round < 3; round++) {
      known.clear()
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, i) => call(tools, 'echo', { message: String(i) })),
      )
      expect(all.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, i) => `you said ${i}`))
      expect(known.size).toBe(1)
    }
  })

  it('that was started again and knows nobody is connected to again', async () => {
    const { url, known } = await sessions(true)
    const tools = await start({ url })
    known.clear()
    expect((await call(tools, 'echo', { message: 'again' })).text).toBe('you said again')
  })

  it('that hangs, refuses, breaks off or is gone fails the call', async () => {
    let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {}
    const { url: real } = await sessions(true)
    const { server, url } = await listen(async (request, response) => {
      if (answer.length > 0) return answer(request, response)
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
      const passed = await fetch(real, {
        method: request.method,
        headers: headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      })
      const type = passed.headers.get('content-type') ?? 'text/plain'
      const session = passed.headers.get('mcp-session-id')
      response.writeHead(passed.status, {
        'content-type': type,
        ...(session && { 'mcp-session-id': session }),
      })
      response.end(Buffer.from(await passed.arrayBuffer()))
    })
    const tools = await start({ url })
    const hasty = await start({ url, timeoutMs: 1_000 })
    expect((await call(tools, 'echo', { message: 'x' })).text).toBe('you said x')
    const kindOf = async (how: typeof answer) => {
      answer = how
      return (await failure(call(tools, 'echo', { message: 'x' }))).kind
    }
    answer = (_request, _response) => {}
    expect((await failure(call(hasty, 'echo', { message: 'x' }))).kind).toBe('timeout')
    expect(await kindOf((_request, response) => response.writeHead(500).end('on fire'))).toBe('refused')
    expect(
      await kindOf((_request, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end()),
    ).toBe('refused')
    const json = { 'content-type': 'application/json' }
    expect(await kindOf((_request, response) => response.writeHead(200, json).end('{"jsonrpc": '))).toBe(
      'malformed',
    )
    expect(await kindOf((_request, response) => response.writeHead(200, json).end('[1, 2]'))).toBe(
      'malformed',
    )
    expect(await kindOf((request, _response) => request.socket.destroy())).toBe('unreachable')
    expect(
      await kindOf((request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: message\ndata: {"json')
        setTimeout(() => request.socket.destroy(), 50)
      }),
    ).toBe('unreachable')
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    expect((await failure(call(tools, 'echo', { message: 'x' }))).kind).toBe('unreachable')
  })

  it('is refused when it is opened and is none', async () => {
    const { url } = await listen((_request, response) => response.writeHead(401).end('who are you'))
    await expect(start({ url })).rejects.toThrow(/who are you|401/)
    await expect(start({ url: 'http://127.0.0.1:9/mcp' })).rejects.toThrow(/^mcp http:\/\/127\.0\.0\.1:9: /)
    await expect(start({ url: 'file:///etc/passwd' })).rejects.toThrow(/expected http or https, got file/)
    await expect(start({ url: 'http://me:word@127.0.0.1/' })).rejects.toThrow(/without a password in it/)
    await expect(start({ url: 'http://me@127.0.0.1/' })).rejects.toThrow(/no user or password/)
    for (const name of ['key', 'tavilyApiKey', 'access_token', 'X-Amz-Signature', 'client.secret', 'sig'])
      await expect(start({ url: `${url}?profile=x&${name}=abc-123` })).rejects.toThrow(
        `tools: [0]: expected an address without ${name} in its query`,
      )
    await expect(start({ url, headers: { authorization: 'Bearer abc-123' } })).rejects.toThrow(
      /headers: expected no secret written out, as that of authorization((?!abc-123).)*$/,
    )
    for (const [args, name] of [
      [['--api-key=abc-123'], '--api-key'],
      [['serve', '--token', 'abc-123'], '--token'],
      [['serve', 'tvly-dev-0123456789'], 'argument 2'],
    ] as const)
      await expect(start({ command: 'x', args })).rejects.toThrow(
        new RegExp(`args: expected no secret written out, as that of ${name},((?!abc-123|tvly).)*$`),
      )
    await expect(start({ command: 'x', env: ['API_KEY=abc-123'] })).rejects.toThrow(
      /env\[0\]: expected the name of the environment variable((?!abc-123).)*$/,
    )
    await expect(start({ url: `${url}?profile=x&keyboard=y&design=z` })).rejects.toThrow(/who are you|401/)
    await expect(start({ url, command: 'x' })).rejects.toThrow(/a command to start or a url/)
    await expect(start({})).rejects.toThrow(/a command to start or a url/)
  })
})
