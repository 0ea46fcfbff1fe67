/** @file Streamable HTTP to a server, by the SDK's transport, with a bound on answers and each request under its call's signal. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import { tooLarge } from '../http-exchange.ts'
import { ToolError } from '../tool.ts'

/** The call that a request belongs to. */
export interface CallContext {
  signal: AbortSignal
  fail(error: Error): void
}

export const currentCall = new AsyncLocalStorage<CallContext>()

/** A body that ends with an error where it is too long or breaks, and tells the call. */
const bounded = (
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  call: CallContext | undefined,
): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  let bytes = 0
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          controller.close()
          return
        }
        bytes += value.byteLength
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        controller.enqueue(value)
      } catch (error) {
        const failure =
          error instanceof ToolError
            ? error
            : new ToolError('unreachable', 'the connection broke', { cause: error })
        call?.fail(failure)
        controller.error(failure)
        reader.cancel().catch(() => {})
      }
    },
    cancel: reason => reader.cancel(reason),
  })
}

const boundedFetch =
  (maxBytes: number): FetchLike =>
  async (url, init) => {
    // The stream of what a server says unasked: nothing of it is for us.
    if (init?.method === 'GET') return new Response(null, { status: 405 })
    const call = currentCall.getStore()
    // What tells the server of a cancelled call is sent after its end.
    const bySignal = call !== undefined && !call.signal.aborted
    const signal = bySignal
      ? AbortSignal.any([call.signal, ...(init?.signal ? [init.signal] : [])])
      : init?.signal
    const response = await fetch(url, { ...init, redirect: 'manual', ...(signal && { signal }) })
    const { status, statusText, headers, body } = response
    return new Response(body === null ? null : bounded(body, maxBytes, call), { status, statusText, headers })
  }

/** A transport to `url`. Redirections to other hosts are not followed, and nothing is kept open between calls. */
export const httpTransport = (
  url: URL,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
): StreamableHTTPClientTransport =>
  new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch(maxBytes),
  })
