import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { isOver } from './thread-clock.ts'
import { workEntry } from './work-entry.fixture.ts'
import {
  WorkCrashed,
  WorkFailed,
  WorkPool,
  type WorkPoolOptions,
  WorkRefused,
  WorkTimeout,
} from './work-pool.ts'

const ENTRY = workEntry(`
const until = ms => { const end = performance.now() + ms; while (performance.now() < end); }
let begun = 0
const kinds = {
  begun: () => begun,
  echo: ({ value }) => value,
  slow: ({ value, ms }) => { until(ms); return value },
  hang: () => { for (;;); },
  wait: () => new Promise(() => {}),
  later: async ({ value }) => value,
  stuck: ({ part }, reach) => { for (let i = 0; i <= part; i++) reach(i); for (;;); },
  exit: () => process.exit(0),
  throws: ({ value }) => { throw new Error('refused ' + value) },
  rejects: async ({ value }) => { Promise.reject(new Error('left behind')); return value },
  memory: () => { const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length)) },
  stack: () => { const deeper = n => 1 + deeper(n + 1); return deeper(0) },
  unsendable: () => () => 1,
  data: () => workData(),
}
serveWork((request, reach) => { begun++; return kinds[request.kind](request, reach) })
`)

interface Request {
  kind: string
  value?: number
  ms?: number
  part?: number
  unsendable?: () => void
}

const pools: WorkPool<Request, unknown>[] = []
const poolOf = (options: WorkPoolOptions = {}) => {
  const pool = new WorkPool<Request, unknown>(ENTRY, { heapMb: 32, tickMs: 5, ...options })
  pools.push(pool)
  return pool
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map(pool => pool.close()))
})

const QUICK = { budgetMs: 20_000 }
const SHORT = { budgetMs: 40 }

describe('a pool of workers', () => {
  it('answers each job by itself, in one batch or in many', async () => {
    const pool = poolOf()
    const values = Array.from({ length: 500 }, (_, value) => value)
    const replies = await Promise.all(values.map(value => pool.run({ kind: 'echo', value }, QUICK)))
    expect(replies).toEqual(values)
    expect(pool.stats()).toMatchObject({
      jobs: 500,
      timeouts: 0,
      crashes: 0,
      restarts: 0,
      waiting: 0,
      running: 0,
    })
  })

  it('kills a job that is over its budget; those behind it are done all the same', async () => {
    const pool = poolOf()
    const replies = await Promise.allSettled([
      pool.run({ kind: 'echo', value: 1 }, QUICK),
      pool.run({ kind: 'hang' }, SHORT),
      pool.run({ kind: 'echo', value: 2 }, QUICK),
      pool.run({ kind: 'wait' }, SHORT),
      pool.run({ kind: 'later', value: 3 }, QUICK),
    ])
    expect(replies.map(reply => (reply.status === 'fulfilled' ? reply.value : reply.reason.name))).toEqual([
      1,
      'WorkTimeout',
      2,
      'WorkTimeout',
      3,
    ])
    expect(pool.stats()).toMatchObject({ timeouts: 2, crashes: 0, restarts: 2 })
  })

  it('says which part of a job ran over', async () => {
    const error = await poolOf()
      .run({ kind: 'stuck', part: 3 }, SHORT)
      .catch(reason => reason)
    expect(error).toBeInstanceOf(WorkTimeout)
    expect(error).toMatchObject({ part: 3, message: 'it was not done within 40 ms' })
  })

  it.each([
    ['exits', 'exit', WorkCrashed],
    ['fills its memory', 'memory', WorkCrashed],
    ['leaves a rejection behind', 'rejects', WorkCrashed],
    ['throws', 'throws', WorkFailed],
    ['recurs without end', 'stack', WorkFailed],
    ['gives what cannot be sent', 'unsendable', WorkFailed],
  ])('fails a job that %s, and no other', async (_, kind, expected) => {
    const pool = poolOf()
    const [before, bad, after] = await Promise.allSettled([
      pool.run({ kind: 'echo', value: 1 }, QUICK),
      pool.run({ kind, value: 7 }, QUICK),
      pool.run({ kind: 'echo', value: 2 }, QUICK),
    ])
    expect([before, after]).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 2 },
    ])
    expect(bad.status === 'rejected' && bad.reason).toBeInstanceOf(expected)
    expect(pool.stats().crashes).toBe(expected === WorkCrashed ? 1 : 0)
  })

  it('refuses a request that cannot be sent, and sends the others', async () => {
    const pool = poolOf()
    const bad = pool.run({ kind: 'echo', unsendable: () => {} }, QUICK)
    const good = pool.run({ kind: 'echo', value: 4 }, QUICK)
    await expect(bad).rejects.toThrow(WorkFailed)
    expect(await good).toBe(4)
  })

  it('never kills a job because this thread was blocked itself', async () => {
    const pool = poolOf()
    await pool.run({ kind: 'echo' }, QUICK)
    const job = pool.run({ kind: 'slow', value: 1, ms: 120 }, { budgetMs: 100_000 })
    const tight = pool.run({ kind: 'slow', value: 2, ms: 150 }, { budgetMs: 250 })
    await new Promise(resolve => setTimeout(resolve, 150))
    const end = performance.now() + 600
    while (performance.now() < end);
    expect(await Promise.all([job, tight])).toEqual([1, 2])
    expect(pool.stats().timeouts).toBe(0)
  })

  it('starts a second thread when jobs wait behind a slow one, and not before', async () => {
    const pool = poolOf({ threads: 2 })
    await Promise.all(Array.from({ length: 50 }, () => pool.run({ kind: 'echo' }, QUICK)))
    expect(pool.stats().threads).toBe(1)
    const slow = pool.run({ kind: 'wait' }, { budgetMs: 100_000 }).catch(reason => reason)
    await new Promise(resolve => setTimeout(resolve, 30))
    expect(await pool.run({ kind: 'echo', value: 5 }, QUICK)).toBe(5)
    expect(pool.stats().threads).toBe(2)
    await pool.close()
    expect(await slow).toBeInstanceOf(WorkRefused)
  })

  it('drops what is aborted', async () => {
    const pool = poolOf()
    const abort = new AbortController()
    const jobs = [
      pool.run({ kind: 'hang' }, { budgetMs: 200, signal: abort.signal }),
      pool.run({ kind: 'echo', value: 1 }, { budgetMs: 200, signal: abort.signal }),
    ]
    const kept = pool.run({ kind: 'echo', value: 2 }, QUICK)
    abort.abort(new Error('enough'))
    for (const job of jobs) await expect(job).rejects.toThrow('enough')
    expect(await kept).toBe(2)
    await expect(pool.run({ kind: 'echo' }, { ...QUICK, signal: abort.signal })).rejects.toThrow('enough')
  })

  it('does not begin what was aborted after it was sent, so that others need not wait for it', async () => {
    const pool = poolOf()
    await pool.run({ kind: 'echo' }, QUICK)
    const abort = new AbortController()
    const jobs = Array.from({ length: 20 }, (_, value) =>
      pool.run({ kind: 'slow', value, ms: 100 }, { ...QUICK, signal: abort.signal }),
    )
    await jobs[0]
    abort.abort(new Error('enough'))
    expect(
      (await Promise.allSettled(jobs)).filter(({ status }) => status === 'rejected').length,
    ).toBeGreaterThan(15)
    expect(await pool.run({ kind: 'begun' }, QUICK)).toBeLessThan(8)
  })

  it('ends a job that was aborted, whatever its budget, when others need its thread', async () => {
    const pool = poolOf()
    await pool.run({ kind: 'echo' }, QUICK)
    const abort = new AbortController()
    const job = pool.run({ kind: 'hang' }, { budgetMs: 1e9, signal: abort.signal })
    setTimeout(() => abort.abort(new Error('enough')), 50)
    await expect(job).rejects.toThrow('enough')
    expect(await pool.run({ kind: 'echo', value: 3 }, QUICK)).toBe(3)
    expect(pool.stats()).toMatchObject({ timeouts: 0, crashes: 0, restarts: 1 })
  })

  it('takes no more than may wait, and nothing when it is closed', async () => {
    const pool = poolOf({ maxWaiting: 2 })
    const taken = [1, 2].map(value => pool.run({ kind: 'echo', value }, QUICK))
    await expect(pool.run({ kind: 'echo' }, QUICK)).rejects.toThrow(/at most 2 jobs/)
    expect(await Promise.all(taken)).toEqual([1, 2])
    await pool.close()
    await expect(pool.run({ kind: 'echo' }, QUICK)).rejects.toThrow(WorkRefused)
  })

  it('charges a job for the time that it had a core, where the system tells', async () => {
    expect(isOver(100, 99, null)).toBe(false)
    expect(isOver(100, 101, null)).toBe(true)
    expect(isOver(100, 101, 30)).toBe(false)
    expect(isOver(100, 900, 101)).toBe(true)
    expect(isOver(100, 1001, 0)).toBe(true)
  })

  it('ends its threads when there is nothing to do, and starts anew', async () => {
    const pool = poolOf({ idleMs: 30 })
    await pool.run({ kind: 'echo' }, QUICK)
    while (pool.stats().threads > 0) await new Promise(resolve => setTimeout(resolve, 10))
    expect(await pool.run({ kind: 'echo', value: 9 }, QUICK)).toBe(9)
  })

  it('says so when no worker can be started', async () => {
    const pool = new WorkPool<Request, unknown>(
      new URL('data:text/javascript,throw new Error("no such entry")'),
    )
    await expect(pool.run({ kind: 'echo' }, QUICK)).rejects.toThrow(/could not be started: no such entry/)
    await pool.close()
  })

  it('gives workers their data', async () => {
    expect(await poolOf({ data: { a: 1 } }).run({ kind: 'data' }, QUICK)).toEqual({ a: 1 })
  })
})

/** What may become of a job of each kind. */
const ALLOWED: Record<string, (outcome: string, value: number) => boolean> = {
  echo: (outcome, value) => outcome === `value ${value}`,
  slow: (outcome, value) => outcome === `value ${value}`,
  later: (outcome, value) => outcome === `value ${value}`,
  hang: outcome => outcome === 'WorkTimeout',
  wait: outcome => outcome === 'WorkTimeout',
  exit: outcome => outcome === 'WorkCrashed',
  rejects: outcome => outcome === 'WorkCrashed',
  throws: outcome => outcome === 'WorkFailed',
  stack: outcome => outcome === 'WorkFailed',
}

describe('whatever the jobs are', () => {
  it('answers each exactly once, and none by another', async () => {
    const job = fc.record({
      kind: fc.oneof(
        { weight: 6, arbitrary: fc.constant('echo') },
        { weight: 6, arbitrary: fc.constantFrom(...Object.keys(ALLOWED)) },
      ),
      abortMs: fc.option(fc.integer({ min: 0, max: 40 }), { freq: 6 }),
      pauseMs: fc.option(fc.integer({ min: 0, max: 15 }), { freq: 4 }),
    })
    const scenario = fc.record({
      threads: fc.integer({ min: 1, max: 3 }),
      jobs: fc.array(job, { minLength: 1, maxLength: 25, size: 'max' }),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ threads, jobs }) => {
        const pool = poolOf({ threads })
        const outcomes: Promise<string>[] = []
        const answered = new Array<number>(jobs.length).fill(0)
        for (const [value, { kind, abortMs, pauseMs }] of jobs.entries()) {
          const abort = new AbortController()
          if (abortMs !== null) setTimeout(() => abort.abort(), abortMs)
          const hangs = kind === 'hang' || kind === 'wait'
          const options = { budgetMs: hangs ? 25 : 20_000, signal: abort.signal }
          const outcome = pool.run({ kind, value, ms: 5 }, options).then(
            reply => `value ${reply}`,
            error => (abort.signal.aborted && error === abort.signal.reason ? 'aborted' : error.name),
          )
          void outcome.then(() => answered[value]++)
          outcomes.push(outcome)
          if (pauseMs !== null) await new Promise(resolve => setTimeout(resolve, pauseMs))
        }
        for (const [value, outcome] of (await Promise.all(outcomes)).entries()) {
          const { kind, abortMs } = jobs[value]
          const fits = ALLOWED[kind](outcome, value) || (abortMs !== null && outcome === 'aborted')
          expect(fits, `job ${value}, ${kind}: ${outcome}`).toBe(true)
        }
        expect(answered.every(count => count === 1)).toBe(true)
        expect(pool.stats()).toMatchObject({ jobs: jobs.length, waiting: 0, running: 0 })
        await pool.close()
      }),
      { numRuns: 25 },
    )
  })
})
