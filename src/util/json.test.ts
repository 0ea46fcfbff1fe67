import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataError } from './errors.ts'
import { isTooDeep, MAX_DEPTH, parseJson } from './json.ts'

describe('JSON from outside', () => {
  it('is what JSON.parse says, for every value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), value => {
        const text = JSON.stringify(value)
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('is refused with an error of ours, for every text', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        try {
          parseJson(text, 'file:1')
        } catch (error) {
          expect(error).toBeInstanceOf(DataError)
          expect((error as Error).message).toMatch(/^file:1: expected /)
        }
      }),
    )
  })

  it('is nested so deep and no deeper', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(() => parseJson(nested(MAX_DEPTH))).not.toThrow()
    expect(() => parseJson(nested(MAX_DEPTH + 1), 'x')).toThrow(
      /^x: expected lists and objects at most 200 deep/,
    )
    expect(() => parseJson(nested(100_000))).toThrow(DataError)
    const round: unknown[] = []
    round.push(round)
    expect(isTooDeep(round)).toBe(true)
    expect(isTooDeep(Array(10).fill(1), 9)).toBe(true)
  })

  it('has whole characters in its strings and keys', () => {
    const broken = 'a: expected text, got half of a character (\\ud83d) in "x\\ud83dy"'
    expect(() => parseJson('{"k": ["x\\ud83dy"]}', 'a')).toThrow(broken)
    expect(() => parseJson('{"\\udc00": 1}')).toThrow('half of a character (\\udc00)')
    expect(parseJson('"\\ud83d\\ude00"')).toBe('😀')
    expect(parseJson('"\\\\ud83d"')).toBe('\\ud83d')
  })
})
