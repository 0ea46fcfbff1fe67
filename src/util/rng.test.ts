import { describe, expect, it } from 'vitest'
import { hashLabel, Rng } from './rng.ts'

describe('Rng', () => {
  it('is xoshiro128**: the first numbers from state 1, 2, 3, 4', () => {
    const rng = Rng.from([1, 2, 3, 4])
    expect(Array.from({ length: 4 }, () => rng.uint32())).toEqual([11520, 0, 5927040, 70819200])
  })

  it('hashes labels by FNV-1a', () => {
    expect(hashLabel('')).toBe(0x811c9dc5)
    expect(hashLabel('a')).toBe(0xe40c292c)
    expect(hashLabel('foobar')).toBe(0xbf9cf968)
  })

  it('repeats for the same seed and differs for another', () => {
    const draw = (seed: number | string) => {
      const rng = new Rng(seed)
      return Array.from({ length: 5 }, () => rng.next())
    }
    expect(draw(1)).toEqual(draw(1))
    expect(draw(1)).not.toEqual(draw(2))
    expect(draw('1')).toEqual(draw(1))
  })

  it('forks by label alone', () => {
    const fresh = new Rng(5).fork('data').next()
    const used = new Rng(5)
    for (let i = 0; i < 100; i++) used.next()
    expect(used.fork('data').next()).toBe(fresh)
    expect(new Rng(5).fork('other').next()).not.toBe(fresh)
    expect(new Rng(5).fork('a').fork('b').next()).not.toBe(new Rng(5).fork('b').fork('a').next())
  })

  it('continues from a saved state', () => {
    const rng = new Rng('run')
    rng.next()
    const saved = rng.state()
    const expected = [rng.next(), rng.next(), rng.fork('x').next()]
    const restored = Rng.from(JSON.parse(JSON.stringify(saved)), 'run')
    expect([restored.next(), restored.next(), restored.fork('x').next()]).toEqual(expected)
  })

  it('has the moments of its distributions', () => {
    const rng = new Rng(11)
    const count = 20_000
    let sum = 0
    let normalSum = 0
    let normalSquares = 0
    const counts = [0, 0, 0]
    for (let i = 0; i < count; i++) {
      const u = rng.next()
      expect(u >= 0 && u < 1).toBe(true)
      sum += u
      const z = rng.normal()
      normalSum += z
      normalSquares += z * z
      counts[rng.int(3)]++
    }
    expect(sum / count).toBeCloseTo(0.5, 1)
    expect(Math.abs(normalSum / count)).toBeLessThan(0.03)
    expect(Math.abs(normalSquares / count - 1)).toBeLessThan(0.05)
    for (const n of counts) expect(Math.abs(n - count / 3)).toBeLessThan(300)
  })

  it('shuffles and samples without loss or repetition', () => {
    const rng = new Rng(2)
    const items = [1, 2, 3, 4, 5, 6]
    expect([...rng.shuffle(items)].sort()).toEqual(items)
    expect(new Set(rng.sample(items, 4)).size).toBe(4)
    expect(items).toEqual([1, 2, 3, 4, 5, 6])
    expect(items).toContain(rng.pick(items))
  })

  it('moves every element in a cycle, and gives each of them alike often', () => {
    const items = [0, 1, 2, 3]
    const counts = new Map<string, number>()
    const rng = new Rng('cycles')
    for (let i = 0; i < 600; i++) {
      const moved = rng.cycle(items)
      expect([...moved].sort()).toEqual(items)
      expect(moved.every((item, at) => item !== at)).toBe(true)
      counts.set(moved.join(), (counts.get(moved.join()) ?? 0) + 1)
    }
    // (4 - 1)! cycles.
    expect(counts.size).toBe(6)
    expect(Math.min(...counts.values())).toBeGreaterThan(60)
  })
})
