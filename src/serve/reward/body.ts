/** @file Reads a request's JSON body, but never more of it than allowed. */

import type { Context } from 'hono'
import { ServiceError } from './errors.ts'

const tooLarge = (maxBytes: number) =>
  new ServiceError('too_large', `body: expected at most ${maxBytes} bytes, got more`, {
    hint: 'send fewer items at a time, or raise limits.bodyBytes',
  })

/** Text of a body without a stated length. */
const readChunks = async (body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const readText = async (c: Context, maxBytes: number): Promise<string> => {
  const stated = c.req.header('content-length')
  if (stated !== undefined) {
    if (Number(stated) > maxBytes) throw tooLarge(maxBytes)
    return c.req.text()
  }
  const { body } = c.req.raw
  return body === null ? '' : readChunks(body, maxBytes)
}

/** @throws ServiceError: 413 for a body that is too large, 400 for one that is not JSON. */
export const readJson = async (c: Context, maxBytes: number): Promise<unknown> => {
  const text = await readText(c, maxBytes)
  try {
    return JSON.parse(text)
  } catch (error) {
    const what = text.trim() === '' ? 'nothing' : (error as Error).message
    throw new ServiceError('invalid_request', `body: expected JSON, got ${what}`, { cause: error })
  }
}
