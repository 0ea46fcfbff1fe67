import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { OpenEnvClient, type OpenEnvRuntime } from './client.ts'
import { type FakeOpenEnv, type Misbehaviour, startFakeOpenEnv } from './fake-server.fixture.ts'
import { openEnvSchema } from './settings.ts'

/** Waits of a second and more, which do not end by themselves here. */
const longWaits = vi.hoisted(() => ({ begun: 0 }))
vi.mock('node:timers/promises', async load => {
  const real = await load<typeof import('node:timers/promises')>()
  const setTimeout: typeof real.setTimeout = (ms = 0, value, options) => {
    if (ms < 1000) return real.setTimeout(ms, value, options)
    longWaits.begun++
    return real.setTimeout(2 ** 31 - 1, value, options)
  }
  return { ...real, setTimeout }
})

let server: FakeOpenEnv
let clients: OpenEnvClient[] = []
beforeEach(async () => {
  server = await startFakeOpenEnv()
})
afterEach(async () => {
  for (const client of clients) await client.close()
  clients = []
  await server.close()
})

const clientOf = (more: object = {}, runtime: OpenEnvRuntime = {}) => {
  const client = new OpenEnvClient(openEnvSchema.parse({ url: server.url, ...more }), {
    retryMs: 1,
    ...runtime,
  })
  clients.push(client)
  return client
}

describe('a session', () => {
  it('resets, steps, tells its state and closes', async () => {
    const client = clientOf()
    const { session, first } = await client.start({ seed: 1 })
    expect(first).toEqual({ observation: { clue: 'begins with d' }, reward: null, done: false })
    expect(await session.step({ guess: 'cat' })).toEqual({
      observation: { clue: 'not cat' },
      reward: 0,
      done: false,
    })
    expect(await session.state()).toEqual({ episode_id: null, step_count: 1 })
    expect(await session.step({ guess: 'dog' })).toEqual({
      observation: { clue: 'right' },
      reward: 0.5,
      done: true,
    })
    session.close()
    await expect(session.step({ guess: 'dog' })).rejects.toThrow('the session was closed')
    await expect.poll(() => server.sessions).toBe(0)
    expect(server.seen.map(({ type }) => type)).toEqual(['reset', 'step', 'state', 'step', 'close'])
  })

  it('is one of several, each with an environment of its own', async () => {
    const client = clientOf()
    const started = await Promise.all([0, 1, 2].map(seed => client.start({ seed })))
    const guessed = await Promise.all(started.map(({ session }) => session.step({ guess: 'dog' })))
    expect(guessed.map(({ done }) => done)).toEqual([false, true, false])
  })

  it('sends headers whose values no error shows', async () => {
    const headers = { authorization: { env: 'ENV_TOKEN', prefix: 'Bearer ' } }
    const client = clientOf({ headers }, { env: { ENV_TOKEN: 'very-secret' } })
    const { session } = await client.start({})
    expect(server.headers.at(-1)?.authorization).toBe('Bearer very-secret')
    server.wrong.step = [{ code: 'EXECUTION_ERROR', message: 'no such very-secret' }]
    await expect(session.step({ guess: 'x' })).rejects.toThrow('no such [secret] (EXECUTION_ERROR)')
    expect(() => clientOf({ headers }, { env: {} })).toThrow('ENV_TOKEN')
  })

  it('shows no value of a header where a server repeats it, and leaves numbers as they are', async () => {
    const headers = { 'x-a': { env: 'A' }, 'x-b': { env: 'B' } }
    const client = clientOf({ headers }, { env: { A: 'open-sesame', B: '4321' } })
    const { session } = await client.start({})
    const data = '{"observation": {"open-sesame": ["an open\\u002dsesame"]}, "reward": 0.4321}'
    server.wrong.step = [{ text: `{"type": "observation", "data": ${data}}` }, { text: 'open-sesame' }]
    expect(await session.step({ guess: 'x' })).toEqual({
      observation: { '[secret]': ['an [secret]'] },
      reward: 0.4321,
      done: false,
    })
    const error = await session.step({ guess: 'x' }).catch((reason: Error) => reason)
    expect(error).toMatchObject({ kind: 'malformed', cause: undefined })
    expect((error as Error).message).not.toContain('sesame')
  })

  it('says what the server says of itself', async () => {
    const client = clientOf()
    expect(await client.healthy()).toBe(true)
    expect((await client.schemas()).action).toMatchObject({ required: ['guess'] })
  })
})

describe('a server that misbehaves', () => {
  const cases: [string, Misbehaviour, string][] = [
    ['hangs', 'hang', 'no answer within 200 ms'],
    ['breaks off', 'hang up', 'the connection broke off'],
    ['sends no JSON', { text: '<html>' }, 'expected JSON, got text that is none'],
    [
      'has a reward that is not a number',
      { text: '{"type":"observation","data":{"observation":{},"reward":NaN}}' },
      'expected JSON',
    ],
    [
      'has a reward beyond all numbers',
      { text: '{"type":"observation","data":{"observation":{},"reward":1e999}}' },
      'reward: expected',
    ],
    ['leaves the observation out', { text: '{"type":"observation","data":{}}' }, 'observation: expected'],
    [
      'answers something else',
      { text: '{"type":"state","data":{}}' },
      'expected an observation, got a message of type state',
    ],
    ['sends another type', { text: '{"type":"hello","data":{}}' }, 'answer: type'],
    [
      'shows too much',
      { text: JSON.stringify({ type: 'observation', data: { observation: { a: 'x'.repeat(1e5) } } }) },
      'expected an answer of at most 50000 bytes',
    ],
  ]
  it.each(cases)('%s', async (_name, wrong, words) => {
    const { session } = await clientOf({
      timeoutMs: wrong === 'hang' ? 200 : 20_000,
      maxMessageBytes: 50_000,
    }).start({})
    server.wrong.step = [wrong]
    const failure = await session.step({ guess: 'cat' }).catch(error => error)
    expect(failure.message).toContain(words)
    // Nobody may take a late answer for the next one's.
    await expect(session.step({ guess: 'cat' })).rejects.toThrow(server.url)
    expect(server.seen.filter(({ type }) => type === 'step')).toHaveLength(1)
  })

  it('speaks at length of its failure, and is cut short', async () => {
    const { session } = await clientOf().start({ seed: 0 })
    server.wrong.step = [{ code: 'EXECUTION_ERROR', message: 'x'.repeat(1e6) }]
    const failure = await session.step({ guess: 'cat' }).catch(error => error)
    expect(failure.message).toMatch(/x{500}… \(EXECUTION_ERROR\)$/)
  })

  it.each(['http://ann:word@localhost:1', 'ws://localhost:1/?token=word', 'http://localhost:1/#word'])(
    'is not asked at %s, which would be kept in the run',
    url => {
      const { error } = openEnvSchema.safeParse({ url })
      expect(error?.issues[0].message).toContain('without a name, a password or a query')
    },
  )

  it('refuses an action, and goes on', async () => {
    const { session } = await clientOf().start({ seed: 0 })
    await expect(session.step({ word: 'cat' })).rejects.toThrow(/Invalid message \(VALIDATION_ERROR\)/)
    expect(await session.step({ guess: 'cat' })).toMatchObject({ done: true })
  })
})

describe('starting', () => {
  it('is tried again: nothing has been done yet', async () => {
    server.wrong.reset = ['hang up', 'hang up']
    const { first } = await clientOf().start({ seed: 0 })
    expect(first.observation).toEqual({ clue: 'begins with c' })
  })

  it('waits for a free session, and says what is missing where none becomes free', async () => {
    server.capacity = 1
    const client = clientOf({ attempts: 3 })
    const { session } = await client.start({})
    await expect(client.start({})).rejects.toThrow(/no session is free.*max_concurrent_envs/s)
    const waiting = clientOf({ attempts: 20 }).start({ seed: 2 })
    session.close()
    expect((await waiting).first.observation).toEqual({ clue: 'begins with s' })
  })

  it('is not waited for when its signal says so, between two attempts either', async () => {
    const full = clientOf({}, { retryMs: 1000 })
    server.capacity = 0
    const stop = new AbortController()
    const started = full.start({}, stop.signal).catch(error => error)
    await expect.poll(() => longWaits.begun).toBe(1)
    stop.abort()
    expect(await started).toMatchObject({ kind: 'cancelled' })
    expect(longWaits.begun).toBe(1)
  })

  it('says that nobody is there', async () => {
    await server.close()
    await expect(clientOf({ attempts: 2 }).start({})).rejects.toThrow('cannot be reached')
    server = await startFakeOpenEnv()
  })
})
