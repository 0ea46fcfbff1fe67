import { describe, expect, it } from 'vitest'
import { ConfigError, JudgeError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import type { ChatModel, ChatRequest, ChatResponse } from './chat-model.ts'
import { VirtualClock } from './clock.ts'
import { estimateJudging } from './estimate.ts'
import { type FleetRuntime, JudgeFleet } from './fleet.ts'
import type { FleetOptions } from './fleet-config.ts'

const USAGE = { promptTokens: 100, completionTokens: 20, cachedTokens: 40 }
const answer = (text = 'yes', usage: ChatResponse['usage'] = USAGE): ChatResponse => ({
  text,
  finishReason: 'stop',
  usage,
})
const ask = (content = 'question', extra: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: 'user', content }],
  ...extra,
})
const serverError = () => new JudgeError('server', 'HTTP 500', { status: 500 })

interface Call {
  endpoint: string
  text: string
  atMs: number
}
type Behaviour = (call: Call & { number: number; signal?: AbortSignal }) => Promise<ChatResponse>

/** A fleet of scripted endpoints on a virtual clock; the name of an endpoint is its url. */
const setup = (
  endpoints: Record<string, Partial<FleetOptions['endpoints'][number]>>,
  behave: Behaviour,
  options: Partial<FleetOptions> = {},
  runtime: FleetRuntime = {},
) => {
  const clock = new VirtualClock()
  const calls: Call[] = []
  const rng = new Rng('fleet')
  const connect = ({ url }: { url: string }): ChatModel => ({
    name: 'm',
    complete: ({ messages, signal }) => {
      const call = { endpoint: url, text: messages[0].content, atMs: clock.now() }
      calls.push(call)
      return behave({ ...call, number: calls.length, signal })
    },
  })
  const fleet = new JudgeFleet(
    {
      endpoints: Object.entries(endpoints).map(([url, each]) => ({ url, model: 'm', ...each })),
      ...options,
    },
    { clock, random: () => rng.next(), connect, ...runtime },
  )
  /** Settled answers as text, errors as their kind. */
  const send = (request: ChatRequest) => {
    const result = { value: undefined as string | undefined }
    fleet.complete(request).then(
      ({ text }) => {
        result.value = text
      },
      (error: unknown) => {
        result.value = error instanceof JudgeError ? `${error.kind}: ${error.message}` : String(error)
      },
    )
    return result
  }
  return { clock, calls, fleet, send }
}

/** Answers after so many milliseconds; gives up when aborted. */
const after =
  (clock: () => VirtualClock, ms: number): Behaviour =>
  ({ signal, text }) =>
    new Promise((resolve, reject) => {
      const stop = clock().after(ms, () => resolve(answer(text)))
      signal?.addEventListener('abort', () => {
        stop()
        reject(new JudgeError('cancelled', 'aborted'))
      })
    })

const timed = (
  endpoints: Parameters<typeof setup>[0],
  ms: number,
  options: Partial<FleetOptions> = {},
): ReturnType<typeof setup> => {
  const made: ReturnType<typeof setup> = setup(endpoints, call => after(() => made.clock, ms)(call), options)
  return made
}

describe('limits', () => {
  it('keeps to the concurrency and serves first come, first served', async () => {
    const { clock, calls, fleet, send } = timed({ a: { concurrency: 3 } }, 100)
    const results = Array.from({ length: 10 }, (_, i) => send(ask(`q${i}`)))
    await clock.pass(50)
    expect(fleet.stats()).toMatchObject({ inFlight: 3, queued: 7 })
    await clock.pass(1000)
    expect(calls.map(({ text, atMs }) => [text, atMs])).toEqual(
      Array.from({ length: 10 }, (_, i) => [`q${i}`, 100 * Math.floor(i / 3)]),
    )
    expect(results.map(({ value }) => value)).toEqual(Array.from({ length: 10 }, (_, i) => `q${i}`))
    const { queueWait, answered, ledger } = fleet.stats()
    expect(answered).toBe(10)
    expect(queueWait).toMatchObject({ count: 10, meanMs: (3 * 100 + 3 * 200 + 300) / 10, maxMs: 300 })
    expect(ledger).toMatchObject({ calls: 10, promptTokens: 1000, completionTokens: 200, cachedTokens: 400 })
    expect(clock.timers).toBe(0)
  })

  it.each([60, 600, 3000])(
    'never makes more than %i requests in any minute, and hardly less',
    async limit => {
      const { clock, calls, send } = setup({ a: { requestsPerMinute: limit, concurrency: 1e6 } }, async () =>
        answer(),
      )
      for (let i = 0; i < 3 * limit; i++) send(ask())
      await clock.pass(150_000)
      for (const [first, { atMs }] of calls.entries())
        expect((calls[first + limit]?.atMs ?? Number.POSITIVE_INFINITY) - atMs).toBeGreaterThanOrEqual(59_999)
      expect(calls.length).toBeGreaterThan(2.45 * limit)
    },
  )

  it('keeps to tokens a minute, corrected by what was really used', async () => {
    // 120 tokens a call are used, far from what is guessed at first.
    const { clock, calls, send } = setup({ a: { tokensPerMinute: 12_000 } }, async () => answer())
    for (let i = 0; i < 1000; i++) send(ask('x'.repeat(10)))
    await clock.pass(300_000)
    expect(calls.length).toBeGreaterThan(480)
    expect(calls.length).toBeLessThanOrEqual(502)
  })

  it('a request larger than the burst still passes, and is paid for', async () => {
    const { clock, calls, send } = setup({ a: { tokensPerMinute: 600 } }, async () =>
      answer('yes', { promptTokens: 5000, completionTokens: 0, cachedTokens: 0 }),
    )
    send(ask('x'.repeat(20_000)))
    send(ask('x'.repeat(20_000)))
    await clock.pass(400_000)
    expect(calls).toHaveLength(1)
    await clock.pass(200_000)
    expect(calls).toHaveLength(2)
  })

  it('shares requests by weight', async () => {
    const { clock, calls, send } = setup(
      { a: { weight: 3, concurrency: 1000 }, b: { weight: 1, concurrency: 1000 } },
      async () => answer(),
    )
    for (let i = 0; i < 400; i++) send(ask())
    await clock.pass(1000)
    expect(calls.filter(({ endpoint }) => endpoint === 'a')).toHaveLength(300)
    // Spread evenly, not in blocks.
    expect(calls.slice(0, 8).filter(({ endpoint }) => endpoint === 'b')).toHaveLength(2)
  })

  it('uses what is free when the heavier endpoint is full', async () => {
    const { clock, calls, send } = timed({ a: { weight: 100, concurrency: 1 }, b: { concurrency: 50 } }, 100)
    for (let i = 0; i < 20; i++) send(ask())
    await clock.pass(99)
    expect(calls.filter(({ endpoint }) => endpoint === 'b')).toHaveLength(19)
  })
})

describe('failures', () => {
  it('retries with full jitter: uniform below a bound that doubles', async () => {
    const waits: number[][] = [[], [], []]
    for (let seed = 0; seed < 200; seed++) {
      const rng = new Rng(seed)
      const { clock, calls, send } = setup(
        { a: {} },
        () => Promise.reject(serverError()),
        { retries: 3, backoffMs: 100, longestBackoffMs: 200 },
        { random: () => rng.next() },
      )
      const result = send(ask())
      await clock.pass(1000)
      expect(result.value).toBe('server: HTTP 500 (attempt 4 of 4)')
      for (let i = 0; i < 3; i++) waits[i].push(calls[i + 1].atMs - calls[i].atMs)
    }
    for (const [i, bound] of [100, 200, 200].entries()) {
      expect(Math.max(...waits[i])).toBeLessThanOrEqual(bound)
      expect(Math.max(...waits[i])).toBeGreaterThan(0.9 * bound)
      expect(Math.min(...waits[i])).toBeLessThan(0.1 * bound)
    }
  })

  it('does not wait for a trial that hangs when the endpoint answers again', async () => {
    const { clock, send, fleet } = setup(
      { a: {} },
      ({ number, text }) => {
        if (number <= 10) return Promise.reject(serverError())
        return number === 11 ? new Promise(() => {}) : Promise.resolve(answer(text))
      },
      { retries: 0 },
    )
    for (let i = 0; i < 10; i++) send(ask())
    await clock.pass(1)
    expect(fleet.stats().endpoints[0]).toMatchObject({ state: 'open', timesOpened: 1 })
    const hung = send(ask('hung'))
    const next = send(ask('next'))
    await clock.pass(2000)
    expect(hung.value).toBeUndefined()
    expect(next.value).toBe('next')
    expect(fleet.stats().endpoints[0]).toMatchObject({ state: 'closed', inFlight: 1 })
  })

  it('does not retry what no retry mends', async () => {
    for (const kind of ['bad-request', 'refused'] as const) {
      const { clock, calls, send } = setup({ a: {}, b: {} }, () => Promise.reject(new JudgeError(kind, 'no')))
      const result = send(ask())
      await clock.pass(10_000)
      expect(result.value).toBe(`${kind}: no`)
      expect(calls).toHaveLength(1)
    }
  })

  it('passes on an error that is a mistake in the program', async () => {
    const { clock, send, fleet } = setup({ a: {} }, () => Promise.reject(new TypeError('oops')))
    const result = send(ask())
    await clock.pass(1)
    expect(result.value).toBe('TypeError: oops')
    expect(fleet.stats().inFlight).toBe(0)
  })

  it('leaves an endpoint alone for as long as it asks, and goes to another meanwhile', async () => {
    const { clock, calls, send } = setup({ a: { weight: 9 }, b: {} }, ({ endpoint, atMs }) =>
      endpoint === 'a' && atMs < 30_000
        ? Promise.reject(new JudgeError('rate-limit', 'slow down', { status: 429, retryAfterMs: 30_000 }))
        : Promise.resolve(answer(endpoint)),
    )
    const first = send(ask())
    await clock.pass(1000)
    expect(first.value).toBe('b')
    for (let i = 0; i < 20; i++) send(ask())
    await clock.pass(28_000)
    expect(calls.filter(({ endpoint }) => endpoint === 'a')).toHaveLength(1)
    for (let i = 0; i < 20; i++) send(ask())
    await clock.pass(2000)
    for (let i = 0; i < 20; i++) send(ask())
    await clock.pass(1)
    expect(calls.filter(({ endpoint }) => endpoint === 'a').length).toBeGreaterThan(10)
  })

  it('the only endpoint is waited for', async () => {
    const { clock, calls, send } = setup({ a: {} }, ({ number }) =>
      number === 1
        ? Promise.reject(new JudgeError('rate-limit', 'slow down', { retryAfterMs: 7000 }))
        : Promise.resolve(answer()),
    )
    const result = send(ask())
    await clock.pass(6999)
    expect(calls).toHaveLength(1)
    await clock.pass(2)
    expect(result.value).toBe('yes')
    expect(calls[1].atMs).toBeGreaterThanOrEqual(7000)
  })

  it('after a failure tries another endpoint first', async () => {
    const { clock, calls, send } = setup({ a: { weight: 1000 }, b: {} }, ({ endpoint }) =>
      endpoint === 'a' ? Promise.reject(serverError()) : Promise.resolve(answer('from b')),
    )
    const result = send(ask())
    await clock.pass(1000)
    expect(calls.map(({ endpoint }) => endpoint)).toEqual(['a', 'b'])
    expect(result.value).toBe('from b')
  })

  it('opens the circuit of a dead endpoint, tries it with one call, and comes back', async () => {
    let alive = false
    const { clock, calls, fleet, send } = setup(
      { a: { concurrency: 4 } },
      () => (alive ? Promise.resolve(answer()) : Promise.reject(serverError())),
      { retries: 50, outageMs: 1e6, startupMs: 1e6, backoffMs: 10, longestBackoffMs: 10 },
    )
    const results = Array.from({ length: 40 }, () => send(ask()))
    await clock.pass(300)
    expect(fleet.stats().endpoints[0]).toMatchObject({ state: 'open', timesOpened: 1 })
    const early = calls.length
    expect(early).toBeLessThanOrEqual(14)
    // Pauses of 500, 1000, 2000, 4000 ms end with one trial each.
    await clock.pass(7500)
    expect(calls.length).toBe(early + 4)
    alive = true
    await clock.pass(8000)
    expect(fleet.stats().endpoints[0].state).toBe('closed')
    expect(results.every(({ value }) => value === 'yes')).toBe(true)
  })

  it('gives up on what waits when no endpoint ever answered', async () => {
    const { clock, fleet, send } = setup({ a: {} }, () => Promise.reject(serverError()), {
      startupMs: 5000,
      retries: 1000,
    })
    const results = Array.from({ length: 40 }, () => send(ask()))
    await clock.pass(120_000)
    expect(results.every(({ value }) => value?.startsWith('server: HTTP 500'))).toBe(true)
    expect(fleet.stats()).toMatchObject({ queued: 0, inFlight: 0, failed: 40 })
    expect(clock.timers).toBe(0)
  })

  it('a wrong key fails at once, or moves everything to the endpoint that works', async () => {
    const denied = () => Promise.reject(new JudgeError('auth', 'HTTP 401', { status: 401 }))
    const one = setup({ a: {} }, denied)
    const result = one.send(ask())
    await one.clock.pass(1)
    expect(result.value).toBe('auth: HTTP 401')
    expect(one.calls).toHaveLength(1)
    const two = setup(
      { a: { weight: 5 }, b: {} },
      ({ endpoint }) => (endpoint === 'a' ? denied() : Promise.resolve(answer())),
      {
        retries: 0,
      },
    )
    const results = Array.from({ length: 20 }, () => two.send(ask()))
    await two.clock.pass(100)
    expect(results.every(({ value }) => value === 'yes')).toBe(true)
  })

  it('random failures: every request is answered once, in spite of all limits', async () => {
    const rng = new Rng('storm')
    const kinds = ['server', 'unreachable', 'malformed', 'rate-limit', 'timeout'] as const
    const { clock, fleet, send }: ReturnType<typeof setup> = setup(
      { a: { concurrency: 5 }, b: { concurrency: 3, requestsPerMinute: 600 } },
      async ({ text }) => {
        await new Promise<void>(resolve => clock.after(rng.int(300), resolve))
        if (rng.next() < 0.3)
          throw new JudgeError(
            rng.pick(kinds),
            'bad luck',
            rng.next() < 0.5 ? { retryAfterMs: rng.int(500) } : {},
          )
        return answer(text)
      },
      { retries: 20 },
    )
    const results = Array.from({ length: 500 }, (_, i) => send(ask(`q${i}`)))
    await clock.pass(600_000)
    expect(results.map(({ value }) => value)).toEqual(Array.from({ length: 500 }, (_, i) => `q${i}`))
    expect(fleet.stats()).toMatchObject({ answered: 500, failed: 0, queued: 0, inFlight: 0 })
    expect(clock.timers).toBe(0)
  })
})

describe('refusals among good answers', () => {
  const STRAY = [
    ['auth', 401],
    ['auth', 402],
    ['auth', 403],
    ['config', 404],
    ['config', 405],
    ['config', 301],
  ] as const
  const refusal = (kind: 'auth' | 'config', status: number) =>
    Promise.reject(new JudgeError(kind, `HTTP ${status}`, { status }))

  const strayOf = (rng: Rng) => {
    const [kind, status] = rng.pick(STRAY)
    return refusal(kind, status)
  }

  it.each(STRAY)('a stray one (%s, %i) is tried again', async (kind, status) => {
    const { clock, calls, fleet, send } = setup({ a: {} }, ({ number }) =>
      number === 250 ? refusal(kind, status) : Promise.resolve(answer()),
    )
    const results = []
    for (let i = 0; i < 500; i++) {
      results.push(send(ask()))
      await clock.pass(300)
    }
    expect(results.filter(({ value }) => value === 'yes')).toHaveLength(500)
    expect(calls).toHaveLength(501)
    expect(fleet.stats().endpoints[0]).toMatchObject({ state: 'closed', failures: { [kind]: 1 } })
  })

  it('without retries it is the failure of that call, and not fatal', async () => {
    const { clock, fleet, send } = setup(
      { a: {} },
      ({ number }) => (number === 3 ? refusal('auth', 401) : Promise.resolve(answer())),
      { retries: 0 },
    )
    const results = []
    for (let i = 0; i < 6; i++) {
      results.push(send(ask()))
      await clock.pass(10)
    }
    const error = fleet.complete(ask())
    await clock.pass(10)
    await error
    expect(results.map(({ value }) => value)).toEqual(['yes', 'yes', 'auth: HTTP 401', 'yes', 'yes', 'yes'])
  })

  it('many of them are never fatal while others are answered', async () => {
    const rng = new Rng('strays')
    const { clock, send } = setup({ a: {} }, () =>
      rng.next() < 0.3 ? strayOf(rng) : Promise.resolve(answer()),
    )
    send(ask())
    await clock.pass(60_000)
    const results = Array.from({ length: 300 }, () => send(ask()))
    await clock.pass(600_000)
    expect(results.filter(({ value }) => value === 'yes').length).toBeGreaterThan(295)
  })

  it('so many in a row are every call of the endpoint, with the message of the first', async () => {
    const errors: unknown[] = []
    const { clock, calls, fleet } = setup(
      { a: {} },
      ({ number }) => (number <= 5 ? Promise.resolve(answer()) : refusal('auth', 401)),
      { refusalsInARow: 7 },
    )
    for (let i = 0; i < 8; i++) {
      fleet.complete(ask()).catch((error: unknown) => errors.push(error))
      await clock.pass(300_000)
    }
    expect(errors).toHaveLength(3)
    expect(errors[0]).toMatchObject({ kind: 'auth', fatal: false, attempts: 6 })
    expect(errors[1]).toMatchObject({ kind: 'auth', fatal: true, message: 'HTTP 401' })
    expect(errors[2]).toMatchObject({ kind: 'auth', fatal: true })
    // 5 answers; 6 attempts of the first that failed; the seventh refusal settles it; trials since.
    expect(calls.length).toBeLessThanOrEqual(5 + 6 + 1 + 2)
  })

  it('before any answer it is every call of the endpoint', async () => {
    const { clock, calls, fleet } = setup({ a: {} }, () => refusal('config', 404))
    const error = fleet.complete(ask()).catch((each: unknown) => each)
    await clock.pass(1)
    expect(await error).toMatchObject({ kind: 'config', fatal: true, message: 'HTTP 404' })
    expect(calls).toHaveLength(1)
  })
})

describe('a server that asks to be left alone', () => {
  const asking = (retryAfterMs: number, extra: Partial<FleetOptions> = {}) => {
    const warnings: string[] = []
    const made = setup(
      { a: {} },
      ({ number }) =>
        number % 2 === 1
          ? Promise.reject(new JudgeError('rate-limit', 'slow down', { status: 429, retryAfterMs }))
          : Promise.resolve(answer()),
      extra,
      { onWarning: message => warnings.push(message) },
    )
    return { ...made, warnings }
  }

  it.each([3_600_000, 99_999_999_000, 23 * 365 * 86_400_000, Number.POSITIVE_INFINITY])(
    'for %d ms is tried again after a minute, and that is said',
    async retryAfterMs => {
      const { clock, calls, fleet, send, warnings } = asking(retryAfterMs)
      const result = send(ask())
      await clock.pass(59_000)
      expect([calls.length, result.value]).toEqual([1, undefined])
      await clock.pass(2000)
      expect([calls.length, result.value]).toEqual([2, 'yes'])
      expect(calls[1].atMs).toBeGreaterThanOrEqual(60_000)
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toMatch(/^a: asks to be left alone for .* s .*tried again after 60 s/)
      expect(fleet.stats().endpoints[0].longRetryAfters).toBe(1)
      // Said again only after some minutes.
      for (let i = 0; i < 5; i++) {
        send(ask())
        await clock.pass(61_000)
      }
      expect(warnings).toHaveLength(1)
      await clock.pass(600_000)
      send(ask())
      await clock.pass(61_000)
      expect(warnings).toHaveLength(2)
    },
  )

  it('for less is left alone for as long, without a word', async () => {
    const { clock, calls, warnings, send } = asking(60_000)
    send(ask())
    await clock.pass(61_000)
    expect(calls[1].atMs).toBeGreaterThanOrEqual(60_000)
    expect(warnings).toEqual([])
  })

  it('keeps to the bound that is set', async () => {
    const { clock, calls, send } = asking(3_600_000, { longestRetryAfterMs: 5000 })
    send(ask())
    await clock.pass(5300)
    expect(calls).toHaveLength(2)
  })
})

describe('attempts', () => {
  it('are counted in answers, errors and the ledger', async () => {
    const { clock, fleet } = setup(
      { a: {} },
      ({ number }) => (number === 6 ? Promise.resolve(answer()) : Promise.reject(serverError())),
      { startupMs: 1e6, retries: 5, breaker: { minimumCalls: 100, window: 100 } },
    )
    const first = fleet.complete(ask())
    await clock.pass(100_000)
    expect(await first).toMatchObject({ text: 'yes', attempts: 6 })
    expect(fleet.stats().ledger).toMatchObject({ calls: 1, attempts: 6 })
    const second = fleet.complete(ask()).catch((error: unknown) => error)
    await clock.pass(100_000)
    expect(await second).toMatchObject({ kind: 'server', attempts: 6 })
    expect(fleet.stats()).toMatchObject({ ledger: { calls: 1, attempts: 12 }, answered: 1, failed: 1 })
  })
})

describe('deadlines and cancellation', () => {
  it('ends a request at its deadline, queued or in flight, and frees the slot', async () => {
    const { clock, calls, fleet, send } = timed({ a: { concurrency: 1 } }, 10_000, { deadlineMs: 1000 })
    const running = send(ask())
    const queued = send(ask())
    await clock.pass(999)
    expect([running.value, queued.value]).toEqual([undefined, undefined])
    await clock.pass(2)
    expect(running.value).toBe('timeout: no answer within the deadline of 1000 ms, after 1 attempts')
    expect(queued.value).toMatch(/deadline of 1000 ms/)
    expect(fleet.stats()).toMatchObject({ inFlight: 0, queued: 0 })
    send(ask())
    await clock.pass(1)
    expect(fleet.stats().inFlight).toBe(1)
    expect(calls.length).toBeGreaterThan(1)
  })

  it('cancels by one signal what waits and what runs, with one listener', async () => {
    const { clock, calls, fleet, send } = timed({ a: { concurrency: 2 } }, 1000)
    const controller = new AbortController()
    let listeners = 0
    const add = controller.signal.addEventListener.bind(controller.signal)
    controller.signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    const results = Array.from({ length: 10 }, () => send(ask('q', { signal: controller.signal })))
    const other = send(ask('other'))
    await clock.pass(10)
    expect(listeners).toBe(1)
    controller.abort(new Error('enough'))
    await clock.pass(10)
    expect(results.every(({ value }) => value?.startsWith('cancelled'))).toBe(true)
    await clock.pass(1000)
    expect(other.value).toBe('other')
    expect(calls).toHaveLength(3)
    expect(fleet.stats()).toMatchObject({ inFlight: 0, queued: 0, answered: 1 })
    const late = send(ask('q', { signal: controller.signal }))
    await clock.pass(1)
    expect(late.value).toMatch(/^cancelled/)
  })

  it('closing cancels the rest', async () => {
    const { clock, fleet, send } = timed({ a: { concurrency: 1 } }, 1000)
    const results = [send(ask()), send(ask())]
    await fleet.close()
    await clock.pass(1)
    expect(results.map(({ value }) => value)).toEqual(Array(2).fill('cancelled: the judges were closed'))
    expect(clock.timers).toBe(0)
  })
})

describe('ledger and estimate', () => {
  const price = { inputPerMillion: 2, outputPerMillion: 10, cachedInputPerMillion: 0.5 }

  it('costs what the tokens cost; what is unknown is null, not 0', async () => {
    const run = async (each: object, usage = USAGE as ChatResponse['usage']) => {
      const { clock, fleet, send } = setup({ a: each }, async () => answer('yes', usage))
      for (let i = 0; i < 5; i++) send(ask())
      await clock.pass(10)
      return fleet.stats().ledger
    }
    // 5 calls of 60 fresh, 40 cached and 20 generated tokens.
    expect((await run({ price })).cost).toBeCloseTo((5 * (60 * 2 + 40 * 0.5 + 20 * 10)) / 1e6, 12)
    expect((await run({})).cost).toBeNull()
    const nothing = { promptTokens: null, completionTokens: null, cachedTokens: null }
    expect(await run({ price }, nothing)).toMatchObject({ cost: null, callsWithoutUsage: 5 })
  })

  it('estimates calls, tokens, cost and minutes without a call', () => {
    const plan = { calls: 1000, promptCharacters: 4000, completionTokens: 200 }
    const endpoint = { url: 'http://a', model: 'm', price: { inputPerMillion: 2, outputPerMillion: 10 } }
    expect(estimateJudging({ endpoints: [endpoint] }, plan)).toEqual({
      calls: 1000,
      promptTokens: 1_000_000,
      completionTokens: 200_000,
      cost: 2 + 2,
      minutes: null,
    })
    const limited = [
      { ...endpoint, requestsPerMinute: 100 },
      { url: 'http://b', model: 'm', tokensPerMinute: 480_000 },
    ]
    // 100 and 400 calls a minute; the second has no price.
    expect(estimateJudging({ endpoints: limited }, plan)).toMatchObject({ cost: null, minutes: 2 })
    const timed = { ...plan, secondsPerCall: 0.2 }
    expect(estimateJudging({ endpoints: [{ ...endpoint, concurrency: 512 }] }, timed).minutes).toBeCloseTo(
      1000 / (512 * 300),
      12,
    )
  })
})

describe('settings', () => {
  it('says what is wrong where', () => {
    expect(() => new JudgeFleet({ endpoints: [] })).toThrow(/judges: endpoints: expected at least 1 entry/)
    const endpoints = [{ url: 'http://a', model: 'm', weigth: 2 } as never]
    expect(() => new JudgeFleet({ endpoints })).toThrow(/did you mean weight/)
    expect(() => new JudgeFleet({ endpoints })).toThrow(ConfigError)
  })

  it('two different models never share a name', () => {
    const fleet = (...models: string[]) =>
      new JudgeFleet(
        { endpoints: models.map(model => ({ url: 'http://a', model })) },
        { connect: () => ({}) as ChatModel },
      ).name
    expect(fleet('a', 'a')).toBe('a')
    expect(fleet('b', 'a')).toBe('a|b')
  })
})
