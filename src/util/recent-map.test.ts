import { describe, expect, it } from 'vitest'
import { RecentMap } from './recent-map.ts'

const filled = (limit: number, keys: string) => {
  const map = new RecentMap<string, number>(limit)
  for (const [index, key] of [...keys].entries()) map.set(key, index)
  return map
}

describe('RecentMap', () => {
  it.each([
    ['the oldest', 'abc', 'bc'],
    ['what was written longest ago', 'abac', 'ac'],
    ['nothing when a known key is written', 'abb', 'ab'],
  ])('forgets %s', (_, keys, kept) => {
    const map = filled(2, keys)
    expect([...'abc'].filter(key => map.get(key) !== undefined).join('')).toBe(kept)
    expect(map.size).toBe(kept.length)
  })

  it('keeps what was read', () => {
    const map = filled(2, 'ab')
    expect(map.get('a')).toBe(0)
    map.set('c', 2)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([0, undefined, 2])
  })

  it('holds nothing with a limit of 0, and everything without one', () => {
    expect(filled(0, 'ab').size).toBe(0)
    expect(filled(Number.POSITIVE_INFINITY, 'abcdef').size).toBe(6)
  })
})
