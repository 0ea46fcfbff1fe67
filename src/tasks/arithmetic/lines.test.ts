import { describe, expect, it } from 'vitest'
import { isSound, placesOf, readThinking } from './lines.ts'
import type { ArithmeticProblem } from './problem.ts'

/** 7 + 5 * 3 - 4: 2, 6, 2 */
const problem: ArithmeticProblem = {
  id: 'p',
  start: 7,
  operations: [
    { operator: '+', operand: 5 },
    { operator: '*', operand: 3 },
    { operator: '-', operand: 4 },
  ],
}

const sound = (text: string) => isSound(problem, readThinking(problem, text))

describe('thinking on arithmetic', () => {
  it('reads every kind of line', () => {
    const thinking = readThinking(
      problem,
      'given 7 + 5 * 3 - 4\nplan 3 steps\nhmm\n7 + 5 = 2\ncheck 7 + 5 = 3\nso 6\n 6 - 4 = 2\nbanana\n\n',
    )
    expect(thinking).toMatchObject({ restates: true, plans: [3], fillers: ['hmm'], others: 1, lines: 8 })
    expect(thinking.steps.map(({ jump, left, result, kept }) => [jump, left, result, kept])).toEqual([
      [false, 7, 2, 3],
      [true, 6, 6, 6],
      [false, 6, 2, 2],
    ])
    expect(placesOf(problem, thinking.steps)).toEqual([0, null, 2])
  })

  it('takes a check without a step, and another question, as lines of no sense', () => {
    expect(readThinking(problem, 'check 7 + 5 = 2\ngiven 7 + 5').others).toBe(2)
  })

  it('calls thinking sound when every step is right, follows, and nothing is left out', () => {
    expect(sound('7 + 5 = 2\n2 * 3 = 6\n6 - 4 = 2')).toBe(true)
    expect(sound('7 + 5 * 3 = 6\n6 - 4 = 2')).toBe(true)
    // A wrong step that a check puts right is right.
    expect(sound('7 + 5 = 3\ncheck 7 + 5 = 2\n2 * 3 = 6\n6 - 4 = 2')).toBe(true)
    // Right at the end, wrong on the way.
    expect(sound('7 + 5 = 4\n4 * 3 = 6\n6 - 4 = 2')).toBe(false)
    expect(sound('so 6\n6 - 4 = 2')).toBe(false)
    expect(sound('2 * 3 = 6\n6 - 4 = 2')).toBe(false)
    expect(sound('7 + 5 = 2\n2 * 3 = 6')).toBe(false)
    expect(sound('')).toBe(false)
  })

  it('reads any text', () => {
    expect(readThinking(problem, `${'7 + 5 = 2\n'.repeat(1e5)}`).lines).toBeLessThan(3000)
    expect(readThinking(problem, '\u0000 = 7 plan x steps so').steps).toEqual([])
  })
})
