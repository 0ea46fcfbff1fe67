/**
 * @file A server of the Model Context Protocol to test against, written with the SDK. `node server.fixture.mjs` speaks over stdio. Its tools
 * do what servers do, well and badly.
 */

import { spawn } from 'node:child_process'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const text = value => ({ content: [{ type: 'text', text: value }] })
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

/** What each tool does with its arguments. */
const TOOLS = {
  echo: ({ message }) => text(`you said ${message}`),
  pid: () => text(String(process.pid)),
  fail: () => ({ ...text('the disk is on fire'), isError: true }),
  wrong: () => {
    throw new Error('no such record')
  },
  slow: async ({ ms }) => {
    await sleep(ms)
    return text('late')
  },
  /** Takes no notice of anything any more. */
  freeze: () => {
    for (;;);
  },
  exit: ({ code }) => process.exit(code),
  big: ({ bytes }) => text('x'.repeat(bytes)),
  variables: () => text(JSON.stringify(process.env)),
  /** Tells a secret where people look for errors, and ends. */
  leak: () => {
    process.stderr.write(`key was ${process.env.FIXTURE_KEY}\n`, () => process.exit(4))
    return new Promise(() => {})
  },
  /** The same before so many other characters. */
  leakBefore: ({ characters }) => {
    process.stderr.write(`${process.env.FIXTURE_KEY}${'x'.repeat(characters)}\n`, () => process.exit(4))
    return new Promise(() => {})
  },
  memo: ({ uri }) => ({ content: [{ type: 'resource', resource: { uri, text: 'a memo' } }] }),
  garbage: () => {
    process.stdout.write('this is no message\n{"jsonrpc": "1.0"}\n{]\n\u0000\u0001\n')
    return text('clean')
  },
  parts: () => ({
    content: [
      { type: 'text', text: 'first' },
      { type: 'resource', resource: { uri: 'memo://1', mimeType: 'text/plain', text: 'a memo' } },
      { type: 'resource', resource: { uri: 'file://x.bin', mimeType: 'application/zip', blob: 'AAAA' } },
      { type: 'resource_link', uri: 'memo://2', name: 'second memo', description: 'about wings' },
      { type: 'image', data: 'AAAAAAAA', mimeType: 'image/png' },
    ],
  }),
  structured: () => ({ content: [], structuredContent: { answer: 42 } }),
  /** A child that does not end when its parent does. */
  child: () => {
    const stubborn =
      "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.stdout.write('ready')"
    const child = spawn(process.execPath, ['-e', stubborn], { stdio: ['ignore', 'pipe', 'ignore'] })
    return new Promise(resolve => child.stdout.once('data', () => resolve(text(String(child.pid)))))
  },
}

const names = Object.keys(TOOLS)
const PAGE = 5

const describeTool = name => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
})

/** A server with all tools, listed in pages. */
export const makeServer = () => {
  const server = new Server({ name: 'fixture', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const from = Number(params?.cursor ?? 0)
    const tools = names.slice(from, from + PAGE).map(describeTool)
    return { tools, ...(from + PAGE < names.length && { nextCursor: String(from + PAGE) }) }
  })
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    if (!Object.hasOwn(TOOLS, params.name)) throw new Error(`no tool ${params.name}`)
    return TOOLS[params.name](params.arguments ?? {})
  })
  return server
}

if (process.argv[1]?.endsWith('server.fixture.mjs')) {
  const server = makeServer()
  // A process that holds on to life: only whoever started it can end it.
  if (process.argv.includes('--stubborn')) {
    process.on('SIGTERM', () => {})
    setInterval(() => {}, 1_000)
  }
  await server.connect(new StdioServerTransport())
}
