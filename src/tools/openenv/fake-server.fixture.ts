/**
 * @file A server of OpenEnv for tests, with the shapes of openenv-core 0.3.0, and what goes wrong as a test asks for it. Its
 * environment is a guessing game: the seed picks a word, each guess is answered, a right one ends the episode.
 */

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** What happens in place of an answer: nothing, an end of the connection, or this text. */
export type Misbehaviour = 'hang' | 'hang up' | { text: string } | { code: string; message: string }

export interface FakeOpenEnv {
  url: string
  words: readonly string[]
  /** Most sessions at a time. */
  capacity: number
  sessions: number
  /** By type of request; taken once each. */
  wrong: Partial<Record<'reset' | 'step' | 'state', Misbehaviour[]>>
  /** Every request that came, in order. */
  seen: { type: string; data?: Record<string, unknown> }[]
  headers: IncomingMessage['headers'][]
  /** Whether the word goes by the seed. */
  seeded: boolean
  /** Resets of a random environment. */
  resets: number
  close(): Promise<void>
}

const accept = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

/** A frame of text as a server writes it (RFC 6455 section 5.2). */
const frameOf = (text: string): Buffer => {
  const body = Buffer.from(text)
  const head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65536 ? 4 : 10)
  head[0] = 0x81
  if (body.length < 126) head[1] = body.length
  else if (body.length < 65536) {
    head[1] = 126
    head.writeUInt16BE(body.length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(body.length), 2)
  }
  return Buffer.concat([head, body])
}

/** Texts of masked frames, none of them in parts, as clients write them. */
const readFrames = (socket: Duplex, onText: (text: string) => void, onClose: () => void): void => {
  let waiting = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk])
    for (;;) {
      if (waiting.length < 6) return
      const short = waiting[1] & 0x7f
      const [length, from] =
        short < 126
          ? [short, 2]
          : short === 126
            ? [waiting.readUInt16BE(2), 4]
            : [Number(waiting.readBigUInt64BE(2)), 10]
      if (waiting.length < from + 4 + length) return
      const mask = waiting.subarray(from, from + 4)
      const body = Buffer.from(waiting.subarray(from + 4, from + 4 + length))
      for (let i = 0; i < body.length; i++) body[i] ^= mask[i & 3]
      const opcode = waiting[0] & 0x0f
      waiting = waiting.subarray(from + 4 + length)
      if (opcode === 8) onClose()
      else if (opcode === 1) onText(body.toString())
    }
  })
}

export const startFakeOpenEnv = async (
  words: readonly string[] = ['cat', 'dog', 'sun'],
): Promise<FakeOpenEnv> => {
  const sockets = new Set<Duplex>()
  const server = createServer((request, response) => {
    fake.headers.push(request.headers)
    const bodies: Record<string, unknown> = {
      '/health': { status: 'healthy' },
      '/schema': {
        action: { type: 'object', properties: { guess: { type: 'string' } }, required: ['guess'] },
        observation: { type: 'object' },
        state: { type: 'object' },
      },
    }
    const body = bodies[request.url ?? '']
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { detail: 'Not Found' }))
  })
  server.on('upgrade', (request, socket) => {
    fake.headers.push(request.headers)
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept(String(request.headers['sec-websocket-key']))}\r\n\r\n`,
    )
    const send = (value: unknown) => socket.write(frameOf(JSON.stringify(value)))
    if (fake.sessions >= fake.capacity) {
      send({ type: 'error', data: { message: 'Server at capacity', code: 'CAPACITY_REACHED' } })
      socket.end(Buffer.from([0x88, 0]))
      return
    }
    fake.sessions++
    let open = true
    const end = () => {
      if (open) fake.sessions--
      open = false
      sockets.delete(socket)
      socket.end(Buffer.from([0x88, 0]))
    }
    socket.on('close', end)
    let word = ''
    let guesses = 0
    const answers: Record<string, (data: Record<string, unknown>) => unknown> = {
      reset: ({ seed }) => {
        word = words[(fake.seeded ? Number(seed ?? 0) : Math.floor(fake.resets++ / 2)) % words.length]
        guesses = 0
        return {
          type: 'observation',
          data: { observation: { clue: `begins with ${word[0]}` }, reward: null, done: false },
        }
      },
      step: ({ guess }) => {
        if (typeof guess !== 'string')
          return { type: 'error', data: { message: 'Invalid message', code: 'VALIDATION_ERROR', errors: [] } }
        guesses++
        const right = guess.trim() === word
        const observation = { clue: right ? 'right' : `not ${guess}` }
        return { type: 'observation', data: { observation, reward: right ? 1 / guesses : 0, done: right } }
      },
      state: () => ({ type: 'state', data: { episode_id: null, step_count: guesses } }),
    }
    readFrames(
      socket,
      text => {
        const message = JSON.parse(text)
        fake.seen.push(message)
        if (message.type === 'close') return end()
        const wrong = fake.wrong[message.type as 'step']?.shift()
        if (wrong === 'hang') return
        if (wrong === 'hang up') return void socket.destroy()
        if (wrong && 'text' in wrong) return void socket.write(frameOf(wrong.text))
        if (wrong) return void send({ type: 'error', data: wrong })
        send(answers[message.type](message.data ?? {}))
      },
      end,
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const fake: FakeOpenEnv = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    words,
    capacity: 64,
    sessions: 0,
    wrong: {},
    seen: [],
    headers: [],
    seeded: true,
    resets: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return fake
}
