import { afterEach, describe, expect, it } from 'vitest'
import { FairQueue } from './fair-queue.ts'
import { ADAM, endAll, startService, supervised } from './service.fixture.ts'

afterEach(endAll)

const LONG = supervised(Array.from({ length: 60 }, (_, i) => i % 16))

describe('a fair queue', () => {
  it('gives every party a turn before another one has its second', async () => {
    const queue = new FairQueue()
    const order: string[] = []
    const work = (name: string) => async () => void order.push(name)
    await Promise.all([
      ...['a1', 'a2', 'a3'].map(name => queue.run('a', work(name))),
      ...['b1', 'b2'].map(name => queue.run('b', work(name))),
      queue.run('c', work('c1')),
    ])
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  it('goes on after work that fails', async () => {
    const queue = new FairQueue()
    const failed = queue.run('a', () => Promise.reject(new Error('no')))
    const other = queue.run('a', async () => 'done')
    await expect(failed).rejects.toThrow('no')
    expect(await other).toBe('done')
    expect(queue.waiting).toBe(0)
  })
})

describe('clients of one base', () => {
  it('do not wait for the backlog of another one, adapter or whole model', async () => {
    const started = await startService()
    const busy = await started.client()
    const whole = await started.client({ rank: 0 })
    let done = 0
    const backlog = Array.from({ length: 24 }, () =>
      busy.forwardBackward([LONG, LONG, LONG, LONG], 'cross_entropy'),
    )
    for (const { result } of backlog) void result.then(() => done++)
    await Promise.all(backlog.map(({ submitted }) => submitted))
    const before = done
    const computed = whole.forwardBackward([LONG], 'cross_entropy')
    await whole.optimStep(ADAM).result
    await computed.result
    // Two turns of its own, and what was on its way: not the twenty that stood before it.
    expect(done - before).toBeLessThan(12)
    expect(done).toBeLessThan(24)
    await Promise.all(backlog.map(({ result }) => result))
  })

  it('do not touch each other: each learns as it would alone', async () => {
    const started = await startService()
    const loss = async (datums: readonly (typeof LONG)[], rank: number) => {
      const model = await started.client({ rank, seed: 5 })
      const sums: number[] = []
      for (let step = 0; step < 3; step++) {
        const computed = model.forwardBackward(datums, 'cross_entropy')
        await model.optimStep(ADAM).result
        sums.push((await computed.result).metrics['loss:sum'])
      }
      return sums
    }
    const tasks: [(typeof LONG)[], number][] = [
      [[LONG], 4],
      [[supervised([1, 2, 3])], 4],
      [[LONG, supervised([4, 5, 6])], 0],
    ]
    const together = await Promise.all(tasks.map(task => loss(...task)))
    const alone: number[][] = []
    for (const task of tasks) alone.push(await loss(...task))
    expect(together).toEqual(alone)
  })

  it('are told to come back later when too much is under way', async () => {
    const started = await startService({ limits: { pending: 2 } })
    const model = await started.client()
    const first = model.forwardBackward([LONG, LONG, LONG, LONG], 'cross_entropy')
    const second = model.optimStep(ADAM)
    await second.submitted
    const response = await fetch(`${started.url}/api/v1/create_session`, { method: 'POST', body: '{}' })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
    await Promise.all([first.result, second.result])
    // A client of ours waits and tries again by itself.
    const many = Array.from({ length: 6 }, () => model.forward([LONG], 'cross_entropy').result)
    expect(await Promise.all(many)).toHaveLength(6)
  })
})
