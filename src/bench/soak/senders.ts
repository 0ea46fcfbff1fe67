/** @file Sends the requests of a soak as each wants to be sent, and says what came back. */

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'undici'
import type { SoakRequest } from './mix.ts'

/** A status with its body; or why there was none. `left`: the client went away, as it was meant to. */
export type SentReply = { status: number; text: string } | { failed: string } | 'left'

const REPLY_LIMIT_MS = 90_000
const SLOW_PIECES = 4
const SLOW_PAUSE_MS = 60
const PIPELINED = 3

const throughPool = async (pool: Pool, { path, body }: SoakRequest): Promise<SentReply[]> => {
  const headers = { 'content-type': 'application/json' }
  const response = await pool.request({ method: 'POST', path, headers, body })
  return [{ status: response.statusCode, text: await response.body.text() }]
}

const headOf = ({ path, body }: SoakRequest): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`

/** Whole answers with a stated length in what came so far. */
const repliesIn = (text: string): { status: number; text: string }[] => {
  const replies = []
  let rest = text
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(rest) ?? []
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(rest.slice(0, end)) ?? []
    if (end < 0 || status === undefined || length === undefined) return replies
    const until = end + 4 + Number(length)
    if (rest.length < until) return replies
    replies.push({ status: Number(status), text: rest.slice(end + 4, until) })
    rest = rest.slice(until)
  }
}

/** Resolves with so many answers, or with fewer and why. */
const listen = (socket: Socket, count: number): Promise<SentReply[]> =>
  new Promise(resolve => {
    let text = ''
    let error = 'the connection was closed'
    const settle = () => {
      clearTimeout(timer)
      const replies: SentReply[] = repliesIn(text)
      while (replies.length < count) replies.push({ failed: error })
      socket.destroy()
      resolve(replies)
    }
    const timer = setTimeout(() => {
      error = 'no answer in time'
      settle()
    }, REPLY_LIMIT_MS)
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      if (repliesIn(text).length >= count) settle()
    })
    socket.on('error', ({ message }) => {
      error = message
    })
    socket.once('close', settle)
  })

const bySocket = async (url: URL, request: SoakRequest): Promise<SentReply[]> => {
  const socket = connect(Number(url.port), url.hostname)
  const { manner, body } = request
  const head = headOf(request)
  if (manner === 'half' || manner === 'gone') {
    socket.on('error', () => {})
    socket.write(head + (manner === 'half' ? body.slice(0, body.length / 2) : body))
    await sleep(5)
    socket.destroy()
    return ['left']
  }
  const replies = listen(socket, manner === 'pipelined' ? PIPELINED : 1)
  if (manner === 'pipelined') socket.write((head + body).repeat(PIPELINED))
  else if (manner === 'stuck') socket.write(head + body.slice(0, -1))
  else {
    socket.write(head)
    const size = Math.ceil(body.length / SLOW_PIECES)
    for (let at = 0; at < body.length; at += size) {
      await sleep(SLOW_PAUSE_MS)
      socket.write(body.slice(at, at + size))
    }
  }
  return replies
}

/** All answers to a request: one, three for a pipelined one. */
export const send = async (pool: Pool, url: URL, request: SoakRequest): Promise<SentReply[]> => {
  try {
    return await (request.manner === 'whole' ? throughPool(pool, request) : bySocket(url, request))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return [{ failed: code ?? message }]
  }
}
