import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { CacheMemory, KeyValueCache } from './cache.ts'
import { BUCKET, rowsWithRoom } from './cache-room.ts'

const SHAPE = { layers: 2, kvHeads: 3, headDim: 4 }
const [PROMPTS, SAMPLES, PADDED] = [3, 4, 5]
const LENGTHS = [5, 2, 4]

const floats = (rng: Rng, count: number) => Float32Array.from({ length: count }, () => rng.next())

const prefill = (rng: Rng) =>
  Object.fromEntries(
    Array.from({ length: SHAPE.layers }, (_, layer) => layer).flatMap(layer =>
      [`k${layer}`, `v${layer}`].map(name => [
        name,
        {
          data: floats(rng, SHAPE.kvHeads * PROMPTS * PADDED * SHAPE.headDim),
          dims: [SHAPE.kvHeads, PROMPTS, PADDED, SHAPE.headDim],
        },
      ]),
    ),
  )

/** What every row has been given, as lists: [which][head][place][d]. */
type Row = number[][][][]

const emptyRow = (): Row =>
  Array.from({ length: 2 * SHAPE.layers }, () => Array.from({ length: SHAPE.kvHeads }, () => []))

/** What the cache holds of each row where its mask says that something is there. */
const held = (cache: KeyValueCache): Row[] => {
  const values = cache.values()
  const { kvHeads, headDim } = SHAPE
  const mask = values.ownMask.data as Float32Array
  const [P, G, C] = values.ownMask.dims
  return Array.from({ length: P * G }, (_, row) =>
    Array.from({ length: 2 * SHAPE.layers }, (_, which) => {
      const { data, dims } = values[`own${which % 2 === 0 ? 'K' : 'V'}${Math.floor(which / 2)}`]
      expect(dims).toEqual([kvHeads, 1, P * G, C, headDim])
      expect(data).toHaveLength(kvHeads * P * G * C * headDim)
      return Array.from({ length: kvHeads }, (_, head) =>
        Array.from({ length: C }, (_, place) => place)
          .filter(place => mask[row * C + place] === 0)
          .map(place => {
            const at = ((head * P * G + row) * C + place) * headDim
            return Array.from((data as Float32Array).subarray(at, at + headDim))
          }),
      )
    }),
  )
}

/** Steps of which some rows compute a token, and in between rows that leave. */
const play = (seed: string, memory: CacheMemory, steps: number, newTokens = 0) => {
  const rng = new Rng(seed)
  const cache = new KeyValueCache(SHAPE, memory, prefill(rng), LENGTHS, PADDED, SAMPLES, newTokens)
  let rows = Array.from({ length: PROMPTS * SAMPLES }, emptyRow)
  for (let step = 0; step < steps; step++) {
    const computed = rows.map(() => rng.next() < 0.8)
    const fresh = floats(rng, 2 * SHAPE.layers * SHAPE.kvHeads * rows.length * SHAPE.headDim)
    rows.forEach((row, r) => {
      if (!computed[r]) return
      row.forEach((heads, which) => {
        heads.forEach((places, head) => {
          const at = ((which * SHAPE.kvHeads + head) * rows.length + r) * SHAPE.headDim
          places.push(Array.from(fresh.subarray(at, at + SHAPE.headDim)))
        })
      })
    })
    cache.append({ values: { fresh: { data: fresh, dims: [] } } }, computed)
    if (step === BUCKET + 3) {
      // In order, with a row twice: what fills up a group whose rows have ended.
      const kept = [
        [1, 3],
        [9, 9],
      ]
      cache.keep([0, 2], kept)
      rows = kept.flat().map(row => structuredClone(rows[row]))
    }
    if (step === BUCKET + 9) {
      // Each row with a prompt of its own, not in order.
      cache.keep([1, 0], [[2], [0]])
      rows = [2, 0].map(row => structuredClone(rows[row]))
    }
  }
  expect(held(cache)).toEqual(rows)
  return cache
}

describe('keys and values of a running batch', () => {
  it('are those that rows were given, also when rows leave and the cache grows', () => {
    for (const steps of [1, BUCKET, BUCKET + 1, BUCKET + 4, BUCKET + 10, 3 * BUCKET + 5])
      for (const newTokens of [0, BUCKET, 2 ** 40])
        play(`steps ${steps}`, new CacheMemory(), steps, newTokens).release(true)
  })

  it('are not mixed up with those of a cache whose memory they take over', () => {
    const memory = new CacheMemory()
    play('first', memory, 2 * BUCKET).release(true)
    play('second', memory, 3 * BUCKET).release(true)
    const beside = play('third', memory, 2 * BUCKET)
    play('fourth', memory, 2 * BUCKET).release(true)
    const before = held(beside)
    play('fifth', memory, BUCKET).release(true)
    expect(held(beside)).toEqual(before)
  })
})

describe('rows that have their prompts for themselves', () => {
  const played = (steps: number) => {
    const rng = new Rng(`alone ${steps}`)
    const prompts = prefill(rng)
    const cache = new KeyValueCache(SHAPE, new CacheMemory(), prompts, LENGTHS, PADDED, 1, 0)
    const rows = LENGTHS.map((length, p) =>
      Array.from({ length: 2 * SHAPE.layers }, (_, which) => {
        const { data } = prompts[`${which % 2 === 0 ? 'k' : 'v'}${Math.floor(which / 2)}`]
        return Array.from({ length: SHAPE.kvHeads }, (_, head) =>
          Array.from({ length }, (_, s) => {
            const at = ((head * PROMPTS + p) * PADDED + s) * SHAPE.headDim
            return Array.from(data.subarray(at, at + SHAPE.headDim))
          }),
        )
      }),
    )
    for (let step = 0; step < steps; step++) {
      const fresh = floats(rng, 2 * SHAPE.layers * SHAPE.kvHeads * PROMPTS * SHAPE.headDim)
      rows.forEach((row, r) => {
        row.forEach((heads, which) => {
          heads.forEach((places, head) => {
            const at = ((which * SHAPE.kvHeads + head) * PROMPTS + r) * SHAPE.headDim
            places.push(Array.from(fresh.subarray(at, at + SHAPE.headDim)))
          })
        })
      })
      cache.append({ values: { fresh: { data: fresh, dims: [] } } }, [true, true, true])
    }
    return { cache, rows }
  }

  it('have them before their own, without padding', () => {
    for (const steps of [0, 1, BUCKET, 2 * BUCKET + 1]) {
      const { cache, rows } = played(steps)
      expect(cache.layout).toEqual({ sharedPrompt: false })
      expect(held(cache)).toEqual(rows)
      cache.keep([2, 0], [[2], [0]])
      expect(held(cache)).toEqual([rows[2], rows[0]])
    }
  })

  it('take no inputs of shared prompts', () => {
    const names = Object.keys(played(1).cache.values())
    expect(names.filter(name => name.startsWith('prompt'))).toEqual([])
    expect(names).toContain('ownK1')
  })
})

describe('rows with room', () => {
  const SMOLLM2_135M = { layers: 30, kvHeads: 3, headDim: 64 }
  const rowsOf = (samples: number, promptTokens: number, newTokens: number, rows = 128) =>
    rowsWithRoom(SMOLLM2_135M, rows, samples, promptTokens, newTokens)

  it('are as many as 1 GiB of keys and values holds, and all of a small model', () => {
    // 46,080 bytes a token.
    expect(rowsOf(1, 256, 112)).toBe(58)
    expect(rowsOf(1, 8, 8)).toBe(128)
    expect(rowsOf(8, 256, 112)).toBe(128)
  })

  it('do not hang on how long a sample may get, and are never fewer than 32 that were asked for', () => {
    expect(rowsOf(1, 100, 8000)).toBe(rowsOf(1, 100, 256))
    expect(rowsOf(1, 8000, 100)).toBe(32)
    expect(rowsOf(1, 8000, 100, 4)).toBe(4)
  })
})

describe('memory of caches', () => {
  it('is used again, the smallest that fits first', () => {
    const memory = new CacheMemory()
    const [small, large] = [memory.take(100), memory.take(1000)]
    memory.give(large)
    memory.give(small)
    expect(memory.take(90).buffer).toBe(small.buffer)
    expect(memory.take(90).buffer).toBe(large.buffer)
    expect(memory.take(90).buffer).not.toBe(large.buffer)
  })

  it('lets go what has become too small', () => {
    const memory = new CacheMemory()
    const small = memory.take(100)
    memory.give(small)
    const large = memory.take(1000)
    memory.give(large)
    expect(memory.take(100).buffer).toBe(large.buffer)
    expect(memory.take(100).buffer).not.toBe(small.buffer)
  })

  it('has room from the start for all that rows may become', () => {
    const buffersOf = (newTokens: number, steps: number) => {
      const cache = play('room', new CacheMemory(), steps, newTokens)
      return Object.values(cache.values()).map(({ data }) => data.buffer.byteLength)
    }
    const floats = SHAPE.kvHeads * PROMPTS * SAMPLES * 4 * BUCKET * SHAPE.headDim
    const roomy = buffersOf(4 * BUCKET - 1, 1)
    expect(Math.max(...roomy)).toBeGreaterThanOrEqual(4 * floats)
    // What nobody has memory for is not asked for before it is needed.
    expect(buffersOf(2 ** 40, 1)).toEqual(buffersOf(0, 1))
    expect(Math.max(...buffersOf(0, 1))).toBeLessThan(4 * floats)
  })

  it('is the same one as long as a row stays within what it may become', () => {
    const memory = new CacheMemory()
    const cache = new KeyValueCache(
      SHAPE,
      memory,
      prefill(new Rng('same')),
      LENGTHS,
      PADDED,
      SAMPLES,
      3 * BUCKET,
    )
    const { buffer } = cache.values().ownV1.data
    const fresh = new Float32Array(2 * SHAPE.layers * SHAPE.kvHeads * cache.rows * SHAPE.headDim)
    const all = Array.from({ length: cache.rows }, () => true)
    for (let i = 0; i < 3 * BUCKET; i++) cache.append({ values: { fresh: { data: fresh, dims: [] } } }, all)
    expect(cache.values().ownV1.data.buffer).toBe(buffer)
  })

  it('is not handed on by a cache whose numbers may be none', () => {
    const memory = new CacheMemory()
    const cache = play('unsound', memory, 3)
    const { buffer } = cache.values().ownK0.data
    cache.release(false)
    const taken = Array.from({ length: 9 }, () => memory.take(8).buffer)
    expect(taken).not.toContain(buffer)
  })

  it('is not handed on by one that outgrew it either', () => {
    const memory = new CacheMemory()
    const cache = new KeyValueCache(SHAPE, memory, prefill(new Rng('outgrown')), LENGTHS, PADDED, SAMPLES, 0)
    const none = new Float32Array(2 * SHAPE.layers * SHAPE.kvHeads * cache.rows * SHAPE.headDim).fill(NaN)
    const step = { values: { fresh: { data: none, dims: [] } } }
    for (let i = 0; i <= 4 * BUCKET; i++)
      cache.append(
        step,
        Array.from({ length: cache.rows }, () => true),
      )
    cache.release(false)
    const taken = Array.from({ length: 9 }, () => memory.take(SHAPE.headDim))
    expect(taken.some(own => own.some(Number.isNaN))).toBe(false)
  })
})
