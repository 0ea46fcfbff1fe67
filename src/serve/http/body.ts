/** @file Reads a request's body within its limits, and lets the rest of a refused one run dry. */

import type { IncomingMessage } from 'node:http'
import type { Refusal } from './exchange.ts'

export interface BodyLimits {
  maxBytes: number
  timeoutMs: number
  /** Asked before bytes are kept. */
  hold(bytes: number): Refusal | null
}

/** How the reading of a body ended. `gone`: the client left. */
export type BodyEnd = { body: Uint8Array<ArrayBuffer> } | { refusal: Refusal } | 'gone'

const tooLarge = (maxBytes: number): Refusal => ({
  kind: 'too_large',
  status: 413,
  message: `body: expected at most ${maxBytes} bytes, got more; send less at a time, or raise the server's limit bodyBytes`,
  reason: 'body',
})

const tooSlow = (timeoutMs: number): Refusal => ({
  kind: 'timeout',
  status: 408,
  message: `body: expected all of it within ${timeoutMs} ms (limits.bodyMs), and it was not`,
  reason: 'slow',
})

const joined = (chunks: readonly Buffer[], bytes: number): Uint8Array<ArrayBuffer> => {
  // Memory of its own, not a part of a shared pool: it may be handed to another thread.
  const body = new Uint8Array(bytes)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}

/** Length that the client states; null when it sends in pieces. */
export const statedLength = ({ headers }: IncomingMessage): number | null => {
  const stated = headers['content-length']
  return stated === undefined ? null : Number(stated)
}

/** Reads the whole body, or as much of it as is needed to refuse it. A refused one is not read on: see `discardBody`. */
export const readBody = (
  incoming: IncomingMessage,
  { maxBytes, timeoutMs, hold }: BodyLimits,
): Promise<BodyEnd> => {
  if ((statedLength(incoming) ?? 0) > maxBytes) return Promise.resolve({ refusal: tooLarge(maxBytes) })
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let bytes = 0
    const settle = (end: BodyEnd) => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      if (end !== 'gone' && 'refusal' in end) incoming.pause()
      resolve(end)
    }
    const onData = (chunk: Buffer) => {
      bytes += chunk.length
      const refusal = bytes > maxBytes ? tooLarge(maxBytes) : hold(chunk.length)
      if (refusal !== null) settle({ refusal })
      else chunks.push(chunk)
    }
    const onEnd = () => settle({ body: joined(chunks, bytes) })
    const onClose = () => settle('gone')
    const timer = setTimeout(() => settle({ refusal: tooSlow(timeoutMs) }), timeoutMs)
    incoming.on('data', onData).once('end', onEnd).once('close', onClose).once('error', onClose)
  })
}

/**
 * Reads on and keeps nothing, until the body ends, or `maxBytes` more have come, or `timeoutMs` have passed. A client that
 * sends all before it reads gets its answer only when somebody takes what it sends.
 */
export const discardBody = (
  incoming: IncomingMessage,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): Promise<void> => {
  if (incoming.complete || incoming.destroyed) {
    incoming.resume()
    return Promise.resolve()
  }
  return new Promise(resolve => {
    let bytes = 0
    const settle = () => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', settle).off('close', settle)
      resolve()
    }
    const onData = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) settle()
    }
    const timer = setTimeout(settle, timeoutMs)
    incoming.on('error', settle)
    incoming.on('data', onData).once('end', settle).once('close', settle).resume()
  })
}
