import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Handler, jsonAnswer } from './exchange.ts'
import { Front, type RefusedEntry } from './front.ts'
import { type FrontLimits, frontLimitsOf } from './limits.ts'

const fronts: Front[] = []
afterEach(async () => {
  for (const front of fronts.splice(0)) {
    await front.drain()
    front.close()
  }
})

const echo: Handler = async ({ body }) => jsonAnswer({ bytes: body.length })

const serve = async (limits: Partial<FrontLimits> = {}, handler: Handler = echo) => {
  const refused: RefusedEntry[] = []
  const front = new Front({
    handler,
    limits: frontLimitsOf({ drainNoticeMs: 0, drainMs: 5_000, ...limits }),
    log: { refused: entry => refused.push(entry), event: () => {} },
    hasKey: true,
    errorBody: ({ kind, message }) => ({ error: { type: kind, message } }),
    watch: { '/healthz': () => async () => jsonAnswer({ ok: true }) },
  })
  fronts.push(front)
  const { url, port } = await front.listen('127.0.0.1', 0)
  return { front, url, port, refused }
}

/** A socket, and everything that came on it. */
const raw = async (port: number) => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const got = { socket, text: '', error: null as string | null }
  socket.on('data', chunk => {
    got.text += chunk
  })
  socket.on('error', error => {
    got.error = (error as NodeJS.ErrnoException).code ?? error.message
  })
  await once(socket, 'connect')
  return got
}

const ended = (socket: Socket) =>
  new Promise<void>(resolve => {
    if (socket.readableEnded || socket.destroyed) resolve()
    socket.once('end', resolve).once('close', resolve)
  })

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 5))
}

const head = (headers: string) => `POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`
const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)

/** Writes all of it, waits until the kernel has taken it, and only then reads. */
const sendThenRead = async (port: number, parts: Iterable<string | Buffer>) => {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  let error: string | null = null
  socket.on('error', ({ message }) => {
    error = message
  })
  for (const part of parts) if (!socket.write(part)) await once(socket, 'drain')
  let text = ''
  socket.on('data', chunk => {
    text += chunk
  })
  await ended(socket)
  socket.destroy()
  return { text, error }
}

const PIECE = Buffer.alloc(65_536, 32)
const chunked = [...Array(160)].flatMap(() => [`${PIECE.length.toString(16)}\r\n`, PIECE, '\r\n'])

describe('a body that is too large', () => {
  it.each([
    ['of a stated length', [head(`content-length: ${160 * PIECE.length}`), ...Array(160).fill(PIECE)]],
    ['in pieces', [head('transfer-encoding: chunked'), ...chunked, '0\r\n\r\n']],
  ])('%s gets its 413, also by a client that reads only when all is sent', async (_, parts) => {
    const { port, refused } = await serve({ bodyBytes: 100_000 })
    const { text, error } = await sendThenRead(port, parts)
    expect([statusesOf(text), error]).toEqual([['413'], null])
    expect(text).toContain('"type":"too_large"')
    expect(refused.map(({ status }) => status)).toEqual([413])
  })

  it('is not asked for where the client waits to be asked', async () => {
    const { port } = await serve({ bodyBytes: 1000 })
    const got = await raw(port)
    got.socket.write(head('content-length: 5000\r\nexpect: 100-continue'))
    await until(() => got.text.includes('\r\n\r\n'))
    expect(statusesOf(got.text)).toEqual(['413'])
    got.socket.destroy()
    const welcome = await raw(port)
    welcome.socket.write(head('content-length: 5\r\nexpect: 100-continue'))
    await until(() => welcome.text.includes('100 Continue'))
    welcome.socket.write('12345')
    await until(() => welcome.text.includes('"bytes":5'))
    welcome.socket.destroy()
  })

  it('is read on no further than a bound', async () => {
    const { port, front } = await serve({ bodyBytes: 1000, bodyMs: 60_000 })
    const got = await raw(port)
    got.socket.write(head('content-length: 100000000000'))
    let sent = 0
    while (!got.socket.destroyed && !got.socket.readableEnded) {
      sent += PIECE.length
      if (!got.socket.write(PIECE)) await Promise.race([once(got.socket, 'drain'), ended(got.socket)])
      else await new Promise(setImmediate)
    }
    expect(statusesOf(got.text)).toEqual(['413'])
    expect(sent).toBeLessThan(200 * 1024 ** 2)
    got.socket.destroy()
    await until(() => front.connections.size === 0)
  })
})

describe('who is slow', () => {
  it('with the body gets 408', async () => {
    const { port, front } = await serve({ bodyMs: 100 })
    const got = await raw(port)
    got.socket.write(`${head('content-length: 10')}1`)
    await until(() => got.text.includes('"timeout"'))
    expect(statusesOf(got.text)).toEqual(['408'])
    expect(front.admission).toMatchObject({ requests: 0, heldBytes: 0 })
    await ended(got.socket)
    got.socket.destroy()
  })

  it('with the head gets 408', async () => {
    const { port } = await serve({ headersMs: 200 })
    const got = await raw(port)
    got.socket.write('POST / HTTP/1.1\r\nhost:')
    await ended(got.socket)
    expect(statusesOf(got.text)).toEqual(['408'])
    expect(got.text).toContain('limits.headersMs')
    got.socket.destroy()
  })
})

it('what is no HTTP gets 400', async () => {
  const { port } = await serve()
  const got = await raw(port)
  got.socket.write('hello\r\n\r\n')
  await ended(got.socket)
  expect(statusesOf(got.text)).toEqual(['400'])
  got.socket.destroy()
})

describe('too much at once', () => {
  const held = () => {
    let release = () => {}
    const free = new Promise<void>(resolve => {
      release = resolve
    })
    const handler: Handler = async request => {
      await free
      return echo(request)
    }
    return { handler, release }
  }

  it('is 429 with a time to come back, while those who watch are answered', async () => {
    const { handler, release } = held()
    const { url, front } = await serve({ requests: 2 }, handler)
    const post = () => fetch(url, { method: 'POST', body: 'x' })
    const first = [post(), post()]
    await until(() => front.admission.requests === 2)
    const third = await post()
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await front.metrics.text()).toContain('gradus_http_refused_total{reason="requests"} 1')
    release()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200])
    expect((await post()).status).toBe(200)
  })

  it('on one connection is 429 for what is too much; the rest is answered in order', async () => {
    const { handler, release } = held()
    const { port, front } = await serve({ requestsPerConnection: 2 }, handler)
    const got = await raw(port)
    got.socket.write(`${head('content-length: 1')}x`.repeat(4))
    await until(() => front.connections.openRequests === 4)
    release()
    await until(() => statusesOf(got.text).length === 4)
    expect(statusesOf(got.text)).toEqual(['200', '200', '429', '429'])
    got.socket.destroy()
  })

  it('in bytes of bodies is 429, and they are let go', async () => {
    const { handler, release } = held()
    const { url, front } = await serve({ heldBytes: 1000 }, handler)
    const post = (bytes: number) => fetch(url, { method: 'POST', body: 'x'.repeat(bytes) })
    const first = post(900)
    await until(() => front.admission.heldBytes === 900)
    expect((await post(200)).status).toBe(429)
    release()
    expect((await first).status).toBe(200)
    expect((await post(200)).status).toBe(200)
    await until(() => front.admission.heldBytes === 0)
  })
})

describe('a drain', () => {
  it('answers what comes on open connections, then closes them', async () => {
    const { port, front } = await serve({ drainNoticeMs: 20 })
    const got = await raw(port)
    got.socket.write(`${head('content-length: 1')}x`)
    await until(() => statusesOf(got.text).length === 1)
    const drained = front.drain()
    await new Promise(resolve => setTimeout(resolve, 100))
    // The listener is closed by now; this connection is not.
    got.socket.write(`${head('content-length: 1')}y`)
    await until(() => statusesOf(got.text).length === 2)
    expect(got.text.split('HTTP/1.1')[2]).toContain('connection: close')
    await ended(got.socket)
    got.socket.end()
    expect(await drained).toBe(0)
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  })

  it('waits for a head that is on its way, and for pipelined requests', async () => {
    const { port, front } = await serve({}, async request => {
      await new Promise(resolve => setTimeout(resolve, 30))
      return echo(request)
    })
    const [half, pipelined] = [await raw(port), await raw(port)]
    half.socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-')
    pipelined.socket.write(`${head('content-length: 1')}x`.repeat(5))
    await until(() => front.connections.openRequests === 5 && front.connections.unfinishedHeads === 1)
    const drained = front.drain()
    await new Promise(resolve => setTimeout(resolve, 1_500))
    half.socket.write('length: 1\r\n\r\nx')
    await Promise.all([ended(half.socket), ended(pipelined.socket)])
    half.socket.end()
    pipelined.socket.end()
    expect(statusesOf(half.text)).toEqual(['200'])
    expect(statusesOf(pipelined.text)).toEqual(Array(5).fill('200'))
    expect(await drained).toBe(0)
  })

  it('says what it left unanswered, half-read requests too', async () => {
    const { port, front, url } = await serve({ drainMs: 300 }, () => new Promise(() => {}))
    const lost = fetch(url, { method: 'POST', body: 'x' }).catch(() => 'lost')
    const half = await raw(port)
    half.socket.write('POST / HTTP/1.1\r\nhos')
    await until(() => front.connections.openRequests === 1 && front.connections.unfinishedHeads === 1)
    expect(await front.drain()).toBe(2)
    expect(await lost).toBe('lost')
  })
})

it('a handler that throws is a 500 and nothing more; a client that leaves is told to the handler', async () => {
  let gone = false
  const { url, front } = await serve({}, async ({ url: path, signal }) => {
    if (path === '/throw') throw new Error('a bug')
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    gone = true
    return jsonAnswer({})
  })
  expect((await fetch(`${url}/throw`, { method: 'POST', body: 'x' })).status).toBe(500)
  const asked = request(`${url}/wait`, { method: 'POST' })
  asked.on('error', () => {})
  asked.end('x')
  await until(() => front.admission.requests === 1)
  asked.destroy()
  await until(() => gone && front.admission.requests === 0)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

describe('clients that do not read', () => {
  // More than the kernel's buffers of both sides take.
  const LONG = new Uint8Array(32 * 1024 ** 2)
  const long: Handler = async () => ({ status: 200, headers: {}, body: LONG })

  it('an answer that nobody takes is counted, and its connection cut', async () => {
    const { front, port } = await serve({ answerMs: 300 }, long)
    const { socket } = await raw(port)
    socket.pause()
    socket.write(head('content-length: 0').repeat(3))
    await until(() => front.admission.heldBytes === 3 * LONG.length)
    expect(front.connections.openRequests).toBe(3)
    await until(() => front.connections.size === 0)
    expect(front.admission.heldBytes).toBe(0)
    expect(front.admission.requests).toBe(0)
    expect(await front.metrics.text()).toMatch(/http_refused_total\{reason="untaken"\} 1/)
    socket.destroy()
  })

  it('answers that are taken leave nothing behind', async () => {
    const { front, port } = await serve({ answerMs: 60_000 }, long)
    const { socket } = await raw(port)
    socket.removeAllListeners('data')
    socket.resume()
    socket.write(head('content-length: 0').repeat(3))
    await until(() => socket.bytesRead > 3 * LONG.length)
    await until(() => front.connections.openRequests === 0)
    expect(front.admission.heldBytes).toBe(0)
    socket.destroy()
  })

  it('who goes away is told to everyone who works for it, also to those whose turn had not come', async () => {
    const signals: AbortSignal[] = []
    const { front, port } = await serve({}, ({ signal }) => {
      signals.push(signal)
      return new Promise(resolve => signal.addEventListener('abort', () => resolve(jsonAnswer({}))))
    })
    const { socket } = await raw(port)
    socket.write(head('content-length: 0').repeat(4))
    await until(() => signals.length === 4)
    socket.destroy()
    await until(() => signals.every(({ aborted }) => aborted))
    await until(() => front.admission.requests === 0)
    expect(front.admission.heldBytes).toBe(0)
  })
})
