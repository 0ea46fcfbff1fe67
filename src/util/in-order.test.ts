import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapInOrder } from './in-order.ts'
import { streamJsonl } from './jsonl-stream.ts'

const collect = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const each of stream) all.push(each)
  return all
}
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('mapInOrder', () => {
  it('keeps the order and the limit, and reads no further than the window', async () => {
    let active = 0
    let most = 0
    let read = 0
    let given = 0
    let furthest = 0
    const source = (function* () {
      for (const number of numbers(60)) {
        read++
        furthest = Math.max(furthest, read - given)
        yield number
      }
    })()
    const work = async (number: number) => {
      most = Math.max(most, ++active)
      await pause((number * 7) % 5)
      active--
      return number * 2
    }
    const results: number[] = []
    for await (const result of mapInOrder(source, work, { concurrency: 4, window: 10 })) {
      given++
      results.push(result)
    }
    expect(results).toEqual(numbers(60).map(number => number * 2))
    expect(most).toBe(4)
    expect(furthest).toBeLessThanOrEqual(11)
  })

  it('when stopped finishes what is under way and begins nothing', async () => {
    const stop = new AbortController()
    const begun: number[] = []
    const work = async (number: number) => {
      begun.push(number)
      if (number === 5) stop.abort()
      await pause(2)
      return number
    }
    const results = await collect(mapInOrder(numbers(100), work, { concurrency: 3, stop: stop.signal }))
    expect(results).toEqual(begun)
    expect(results.length).toBeGreaterThanOrEqual(6)
    expect(results.length).toBeLessThan(12)
  })

  it('gives a result as soon as it is its turn, and stops while the stream is silent', async () => {
    const stop = new AbortController()
    const silent = (async function* () {
      yield 1
      yield 2
      await new Promise(() => {})
    })()
    const results: number[] = []
    for await (const each of mapInOrder(silent, async number => number, {
      concurrency: 4,
      stop: stop.signal,
    })) {
      results.push(each)
      if (results.length === 2) setTimeout(() => stop.abort(), 5)
    }
    expect(results).toEqual([1, 2])
  })

  it('throws what the stream throws, after the results before it', async () => {
    const seen: number[] = []
    const broken = (function* () {
      yield 1
      throw new Error('broken')
    })()
    const run = async () => {
      for await (const each of mapInOrder(broken, async number => number, { concurrency: 4 })) seen.push(each)
    }
    await expect(run()).rejects.toThrow('broken')
    expect(seen).toEqual([1])
  })

  it('reads no more when its caller leaves', async () => {
    let read = 0
    const source = (function* () {
      for (;;) yield read++
    })()
    for await (const each of mapInOrder(source, async number => number, { concurrency: 2, window: 4 }))
      if (each === 3) break
    await pause(5)
    expect(read).toBeLessThan(12)
  })

  it('closes the stream when its caller leaves or work throws', async () => {
    let closed = 0
    const source = async function* () {
      try {
        for (let number = 0; ; number++) yield number
      } finally {
        closed++
      }
    }
    for await (const each of mapInOrder(source(), async number => number, { concurrency: 2 }))
      if (each === 3) break
    const broken = async () => Promise.reject(new Error('broken'))
    await expect(collect(mapInOrder(source(), broken, { concurrency: 2 }))).rejects.toThrow('broken')
    await pause(5)
    expect(closed).toBe(2)
  })

  it('begins nothing when it was stopped before', async () => {
    const stop = AbortSignal.abort()
    const work = async () => Promise.reject(new Error('begun'))
    expect(await collect(mapInOrder(numbers(3), work, { concurrency: 2, stop }))).toEqual([])
  })

  it('throws what work throws, after the results before it', async () => {
    const seen: number[] = []
    const work = async (number: number) => {
      if (number >= 3) throw new Error(`no ${number}`)
      return number
    }
    const run = async () => {
      for await (const each of mapInOrder(numbers(20), work, { concurrency: 8 })) seen.push(each)
    }
    await expect(run()).rejects.toThrow('no 3')
    expect(seen).toEqual([0, 1, 2])
  })
})

describe('streamJsonl', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gradus-stream-'))
  const file = (text: string) => {
    const path = join(dir, 'rows.jsonl')
    writeFileSync(path, text)
    return path
  }

  it('gives lines with places, skips blank ones, keeps other separators and long lines', async () => {
    const long = JSON.stringify('é'.repeat(100_000))
    const path = file(`{"a":1}\r\n\n"x\u2028y"\n${long}\n2`)
    const lines = await collect(streamJsonl(path))
    expect(lines.map(({ place }) => place)).toEqual([1, 3, 4, 5].map(number => `${path}:${number}`))
    expect(lines.map(({ text }) => JSON.parse(text))).toEqual([{ a: 1 }, 'x\u2028y', 'é'.repeat(100_000), 2])
    rmSync(dir, { recursive: true })
  })

  it('says so where there is no file', async () => {
    await expect(collect(streamJsonl(join(dir, 'none')))).rejects.toThrow(
      /none: cannot be read: there is no such file or folder \(ENOENT\)/,
    )
  })
})

describe('whatever takes how long', () => {
  it('results come in order, nothing is lost, limits hold, and the first error ends it in its turn', async () => {
    const job = fc.record({ turns: fc.nat(6), fails: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(
        fc.array(job, { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 9 }),
        async (jobs, concurrency, window) => {
          let [running, most, read, given] = [0, 0, 0, 0]
          const work = async ({ turns, fails, index }: { turns: number; fails: boolean; index: number }) => {
            most = Math.max(most, ++running)
            for (let i = 0; i < turns; i++) await new Promise(resolve => setImmediate(resolve))
            running--
            if (fails && index > 3) throw new Error(`job ${index}`)
            return index
          }
          function* source() {
            for (const [index, each] of jobs.entries()) {
              read++
              expect(read - given).toBeLessThanOrEqual(Math.max(window, concurrency) + 1)
              yield { ...each, index }
            }
          }
          const failed = jobs.findIndex(({ fails }, index) => fails && index > 3)
          const results: number[] = []
          const all = (async () => {
            for await (const result of mapInOrder(source(), work, { concurrency, window })) {
              given++
              results.push(result)
            }
          })()
          if (failed < 0) await all
          else await expect(all).rejects.toThrow(`job ${failed}`)
          expect(results).toEqual(Array.from({ length: failed < 0 ? jobs.length : failed }, (_, i) => i))
          expect(most).toBeLessThanOrEqual(concurrency)
        },
      ),
      { numRuns: 100 },
    )
  })
})
