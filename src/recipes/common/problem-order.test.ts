import { describe, expect, it, vi } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { easyToHard, shuffledPasses } from './problem-order.ts'

describe('shuffled passes', () => {
  const problems = Array.from({ length: 8 }, (_, i) => i)
  const drawn = (stream: (index: number) => number, from = 0) =>
    Array.from({ length: 40 - from }, (_, i) => stream(from + i))

  it('have every problem once each, in orders that also a resume finds', () => {
    const all = drawn(shuffledPasses(problems, 'a'))
    const passes = [0, 1, 2, 3, 4].map(pass => all.slice(8 * pass, 8 * pass + 8))
    for (const pass of passes) expect([...pass].sort()).toEqual(problems)
    expect(new Set(passes.map(String)).size).toBe(5)
    expect(drawn(shuffledPasses(problems, 'a'), 21)).toEqual(all.slice(21))
  })

  it('keep the last ones, and make an earlier one again', () => {
    const shuffle = vi.spyOn(Rng.prototype, 'shuffle')
    const stream = shuffledPasses(problems, 'a')
    const all = drawn(stream)
    // A step across two passes, drawn twice.
    for (let i = 0; i < 16; i++) expect(stream(24 + i)).toBe(all[24 + i])
    expect(shuffle).toHaveBeenCalledTimes(5)
    expect(stream(3)).toBe(all[3])
    expect(shuffle).toHaveBeenCalledTimes(6)
    shuffle.mockRestore()
  })
})

describe('from easy to hard', () => {
  const order = (scores: Record<string, number | null>) =>
    easyToHard(Object.keys(scores), name => scores[name]).join('')

  it('goes by the scores', () => {
    expect(order({ a: 0.1, b: 0.9, c: 0.5 })).toBe('bca')
  })

  it('a problem that nobody could judge is not the hardest: it stands where an average one would', () => {
    expect(order({ a: 0.1, b: 0.9, unknown: null, c: 0.2 })).toBe('bunknownca')
    expect(order({ unknown: null, a: 0, b: 1 })).toBe('bunknowna')
  })

  it('without any score there is none', () => {
    expect(() => order({ a: null, b: null })).toThrow('curriculum: expected scores of 2 problems, got none')
  })
})
