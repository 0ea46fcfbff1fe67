import { describe, expect, it } from 'vitest'
import { answerOf, apply, arithmeticProblem, arithmeticQuestionText, chainText, results } from './problem.ts'

describe('arithmetic problems', () => {
  it('keeps the last digit, also of what is negative', () => {
    expect(apply(7, { operator: '+', operand: 5 })).toBe(2)
    expect(apply(2, { operator: '-', operand: 5 })).toBe(7)
    expect(apply(7, { operator: '*', operand: 8 })).toBe(6)
  })

  it('works from left to right', () => {
    const problem = {
      id: 'p',
      start: 7,
      operations: [
        { operator: '+', operand: 5 },
        { operator: '*', operand: 3 },
        { operator: '-', operand: 9 },
      ] as const,
    }
    expect(chainText(problem)).toBe('7 + 5 * 3 - 9')
    expect(arithmeticQuestionText(problem)).toContain('7 + 5 * 3 - 9')
    expect(results(problem)).toEqual([2, 6, 7])
    expect(answerOf(problem)).toBe(7)
  })

  it('is the same for the same seed and index, has lengths within bounds, and answers evenly', () => {
    const problems = Array.from({ length: 3000 }, (_, i) => arithmeticProblem('a', i))
    expect(arithmeticProblem('a', 17)).toEqual(problems[17])
    expect(arithmeticProblem('b', 17)).not.toEqual(problems[17])
    const lengths = problems.map(({ operations }) => operations.length)
    expect(new Set(lengths)).toEqual(new Set([4, 5, 6]))
    const byAnswer = Array.from(
      { length: 10 },
      (_, d) => problems.filter(p => answerOf(p) === d).length / 3000,
    )
    // Multiplications favour 0 and even numbers: a constant answer still earns little.
    expect(Math.max(...byAnswer)).toBeLessThan(0.25)
    expect(arithmeticProblem('a', 3, { operations: { min: 9, max: 9 } }).operations).toHaveLength(9)
  })
})
