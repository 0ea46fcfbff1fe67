/** @file A server of the Model Context Protocol: connected, its tools listed, called; connected again when it is lost. */

import { setMaxListeners } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  type Tool as ServerTool,
} from '@modelcontextprotocol/sdk/types.js'
import { packageVersion } from '../../util/package.ts'
import { withDeadline } from '../deadline.ts'
import { tooLarge } from '../http-exchange.ts'
import { ToolError } from '../tool.ts'
import { currentCall } from './http-transport.ts'
import { ServerProcess } from './server-process.ts'

export interface McpServerOptions {
  /** Named in errors. */
  where: string
  /** A transport for one connection. */
  connect: () => Transport
  /** For starting the server and the first exchange. */
  connectTimeoutMs: number
  /** For a call, connecting again included. */
  timeoutMs: number
  /** Takes secrets out of a text. */
  hide: (text: string) => string
}

/** Most pages and tools of a list: a server could go on without end. */
const MAX_PAGES = 100
const MAX_TOOLS = 1_000
const MAX_SAID = 300

/** The end of a list is a cursor that is not there, null (the newer text of the specification) or empty (some servers). */
const pageSchema = ListToolsResultSchema.extend({
  nextCursor: ListToolsResultSchema.shape.nextCursor.nullable(),
})

interface Session {
  client: Client
  transport: Transport
  /** What waits for an answer. */
  calls: Set<AbortController>
  isLost: boolean
  /** Nothing new is asked here any more; it is closed when what was asked has ended. */
  isDropped: boolean
}

const shortened = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > MAX_SAID ? `${line.slice(0, MAX_SAID - 3)}...` : line
}

/** An error that says that the server does not know us any more, or is not there: what was asked was not done. */
const isLostBefore = (error: unknown): boolean => {
  if (error instanceof StreamableHTTPError) return error.code === 404 || error.code === 400
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined
  return cause?.code === 'ECONNREFUSED'
}

/** @throws ToolError for a list that would not end: a cursor that comes again, or more pages than there may be */
const assertGoesOn = (cursors: Set<string>, cursor: string, tools: number): void => {
  if (cursors.has(cursor))
    throw new ToolError(
      'malformed',
      `the list of tools does not end: after ${tools} tools the same cursor came again`,
    )
  cursors.add(cursor)
  if (cursors.size >= MAX_PAGES)
    throw new ToolError(
      'malformed',
      `expected a list of at most ${MAX_PAGES} pages, got more (${tools} tools so far)`,
    )
}

export class McpServer {
  readonly #options: McpServerOptions
  #session: Promise<Session> | null = null
  #isClosed = false

  constructor(options: McpServerOptions) {
    this.#options = options
  }

  /** All tools of the server, page by page. @throws ToolError */
  async listTools(): Promise<ServerTool[]> {
    return this.#guarded(this.#options.connectTimeoutMs, undefined, async (session, signal) => {
      const tools: ServerTool[] = []
      const cursors = new Set<string>()
      let cursor: string | null | undefined
      for (;;) {
        const params = cursor ? { cursor } : {}
        const request = { method: 'tools/list', params } as const
        // The client's own `listTools` compiles every schema of the answer, and schemas of strangers can take for ever.
        const result = await session.client.request(request, pageSchema, this.#requestOptions(signal))
        tools.push(...result.tools)
        cursor = result.nextCursor
        if (tools.length > MAX_TOOLS)
          throw new ToolError('malformed', `expected a list of at most ${MAX_TOOLS} tools, got more`)
        if (!cursor) return tools
        assertGoesOn(cursors, cursor, tools.length)
      }
    })
  }

  /** @throws ToolError; `failed` where the tool itself reports a failure */
  async callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<CallToolResult> {
    const request = { method: 'tools/call', params: { name, arguments: { ...args } } } as const
    return this.#guarded(this.#options.timeoutMs, signal, (session, inner) =>
      session.client.request(request, CallToolResultSchema, this.#requestOptions(inner)),
    )
  }

  /** The deadline is ours: the client's own would end sooner. */
  #requestOptions(signal: AbortSignal) {
    return { signal, timeout: 2 ** 31 - 1 }
  }

  /** Runs work on a connection within a deadline; every failure becomes a ToolError without secrets. */
  async #guarded<T>(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    work: (session: Session, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { where } = this.#options
    const seen: { session?: Session } = {}
    try {
      return await withDeadline(where, timeoutMs, signal, inner => this.#onSession(inner, seen, work))
    } catch (error) {
      throw this.#errorOf(error, seen.session)
    }
  }

  async #onSession<T>(
    signal: AbortSignal,
    seen: { session?: Session },
    work: (session: Session, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    for (let again = false; ; again = true) {
      const session = await this.#connected()
      seen.session = session
      try {
        return await this.#underCall(session, signal, work)
      } catch (error) {
        // Only what was certainly not done is asked for a second time.
        if (again || signal.aborted || !isLostBefore(error)) throw error
        await this.#drop(session)
      }
    }
  }

  async #underCall<T>(
    session: Session,
    signal: AbortSignal,
    work: (session: Session, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const call = new AbortController()
    // Every page of a list listens, and none stops listening.
    setMaxListeners(0, call.signal)
    const cancel = () => call.abort(signal.reason)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    session.calls.add(call)
    try {
      const context = { signal: call.signal, fail: (error: Error) => call.abort(error) }
      return await currentCall.run(context, () => work(session, call.signal))
    } catch (error) {
      // The client makes a timeout of its own of every reason.
      throw call.signal.aborted ? call.signal.reason : error
    } finally {
      session.calls.delete(call)
      signal.removeEventListener('abort', cancel)
      await closeIdle(session)
    }
  }

  #connected(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(new ToolError('cancelled', 'the tools are closed'))
    if (this.#session !== null) return this.#session
    const opening = this.#connect()
    this.#session = opening
    opening.catch(() => {
      if (this.#session === opening) this.#session = null
    })
    return opening
  }

  async #connect(): Promise<Session> {
    const { connect, connectTimeoutMs, where } = this.#options
    const client = new Client({ name: 'gradus', version: packageVersion() })
    const transport = connect()
    const session: Session = { client, transport, calls: new Set(), isLost: false, isDropped: false }
    if (transport instanceof ServerProcess)
      transport.onTooLong = maxBytes => failAll(session, tooLarge(maxBytes))
    client.onclose = () => this.#lose(session)
    try {
      await withDeadline(where, connectTimeoutMs, undefined, signal =>
        this.#underCall(session, signal, (_, inner) =>
          client.connect(transport, this.#requestOptions(inner)),
        ),
      )
    } catch (error) {
      await transport.close().catch(() => {})
      throw this.#errorOf(error, session)
    }
    if (session.isLost) throw this.#errorOf(new ToolError('unreachable', 'the server ended'), session)
    return session
  }

  #lose(session: Session): void {
    session.isLost = true
    const current = this.#session
    current?.then(
      open => {
        if (open === session && this.#session === current) this.#session = null
      },
      () => {},
    )
  }

  /** Many calls may find that the server knows nobody: the first connects again, and the others find its connection. */
  async #drop(session: Session): Promise<void> {
    session.isDropped = true
    const current = this.#session
    const open = await current?.catch(() => null)
    if (open === session && this.#session === current) this.#session = null
    await closeIdle(session)
  }

  #errorOf(error: unknown, session: Session | undefined): ToolError {
    const { where, hide } = this.#options
    const about = session === undefined ? '' : this.#about(session)
    const kind = kindOf(error)
    const said = error instanceof Error ? error.message : String(error)
    const plain = error instanceof McpError ? said.replace(/^MCP error -?\d+: /, '') : said
    const named = plain.startsWith(`${where}: `) ? plain : `${where}: ${plain}`
    // Secrets first: what is cut could leave part of one.
    const text = hide(`${named}${about}`)
    const isOurs = error instanceof ToolError
    return new ToolError(kind, isOurs ? text : shortened(text), { cause: undefined })
  }

  /** What is known of a process that is lost or silent. */
  #about({ transport, isLost }: Session): string {
    if (!(transport instanceof ServerProcess)) return ''
    const { ending, stderr, garbageLines } = transport
    // Before it is cut: a part of a secret is not known for one.
    const last = this.#options.hide(stderr).trim().split('\n').at(-1) ?? ''
    const parts = [
      ...(isLost || ending !== '' ? [`its process has ended: ${ending || 'closed'}`] : []),
      ...((isLost || ending !== '') && last !== '' ? [`it said: ${last.slice(-MAX_SAID)}`] : []),
      ...(garbageLines > 0 ? [`${garbageLines} lines on its stdout were no messages`] : []),
    ]
    return parts.length === 0 ? '' : ` (${parts.join('; ')})`
  }

  /** Ends the connection and the server's process. Calls under way fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#session
    this.#session = null
    const session = await opening?.catch(() => null)
    if (!session) return
    failAll(session, new ToolError('cancelled', 'the tools were closed'))
    const { transport } = session
    if ('terminateSession' in transport)
      await Promise.race([
        (transport as { terminateSession(): Promise<void> }).terminateSession().catch(() => {}),
        new Promise(resolve => setTimeout(resolve, 1_000)),
      ])
    await session.client.close().catch(() => {})
  }
}

/** Closes a connection that was given up, unless others still wait for an answer there. */
const closeIdle = async ({ isDropped, calls, client }: Session): Promise<void> => {
  if (isDropped && calls.size === 0) await client.close().catch(() => {})
}

const failAll = (session: Session, error: ToolError): void => {
  for (const call of session.calls) call.abort(error)
}

const kindOf = (error: unknown): ToolError['kind'] => {
  if (error instanceof ToolError) return error.kind
  if (error instanceof McpError) {
    if (error.code === ErrorCode.ConnectionClosed) return 'unreachable'
    if (error.code === ErrorCode.RequestTimeout) return 'timeout'
    return error.code === ErrorCode.InvalidParams ? 'arguments' : 'failed'
  }
  if (error instanceof StreamableHTTPError) return 'refused'
  // What fetch throws is a TypeError with the reason inside; anything else could not be read.
  return error instanceof TypeError ? 'unreachable' : 'malformed'
}
