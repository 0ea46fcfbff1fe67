import { describe, expect, it } from 'vitest'
import { parseRubric } from './criterion.ts'
import { lintRubric } from './lint.ts'
import { aboutAnswer } from './lint-about.ts'

describe('aboutAnswer', () => {
  it.each([
    'The final answer is correct',
    'Gives the correct answer',
    'Reaches the correct value',
    'Arrives at the right result',
    'States the final result in one line',
    'Ends with the wrong number',
    'Puts the number into \\boxed{}',
    'The answer matches the reference',
    'Says after the thinking what was found',
    'The response is not correct',
  ])('finds an outcome in "%s"', text => {
    expect(aboutAnswer(text)).toMatchObject({ isOutcome: true })
  })

  it.each([
    'Checks the final answer by substituting it',
    'Verifies that the correct answer fits every premise',
    'Compares the result of each step with an estimate',
    'Splits the question into parts before the final answer is given',
    'States each intermediate value',
    'Names the rule that each step applies',
    'Re-computes the last step',
    'Considers every answer option in turn',
  ])('leaves "%s" alone', text => {
    expect(aboutAnswer(text)).toBeNull()
  })

  it('is less sure of a response that does something', () => {
    expect(aboutAnswer('The response states every step')).toEqual({
      words: 'The response',
      isOutcome: false,
    })
  })

  it('reads the beginning of an endless text only', () => {
    expect(aboutAnswer(`${'step '.repeat(1000)} the final answer`)).toBeNull()
  })
})

describe('a rubric of thinking', () => {
  const criteria = [
    { id: 'steps', text: 'Writes every step on a line of its own', points: 3 },
    { id: 'right', text: 'Reaches the correct final answer', points: 5 },
    { id: 'voice', text: 'The response names the rule of each step', points: 1 },
  ]
  const rules = (rubric: object, options = {}) =>
    lintRubric(parseRubric(rubric), options)
      .filter(({ rule }) => rule === 'about-answer')
      .map(({ severity, criterionIds }) => `${severity} ${criterionIds}`)

  it('may not ask for the answer; other rubrics may', () => {
    expect(rules({ about: 'thinking', criteria })).toEqual(['error right', 'warning voice'])
    expect(rules({ criteria })).toEqual([])
    expect(rules({ criteria }, { thinking: true })).toEqual(['error right', 'warning voice'])
    expect(rules({ about: 'thinking', criteria }, { off: ['about-answer'] })).toEqual([])
  })

  it('is marked in the file by about: thinking, and by nothing else', () => {
    expect(parseRubric({ about: 'thinking', criteria }).about).toBe('thinking')
    expect(() => parseRubric({ about: 'thoughts', criteria })).toThrow(
      'about: expected thinking, got "thoughts"',
    )
  })

  it('is looked through whatever checks its criteria', () => {
    const rule = { kind: 'rule', fn: 'contains', params: { any: ['so'] } }
    const checked = criteria.map(criterion => ({ ...criterion, verifier: rule }))
    expect(rules({ about: 'thinking', criteria: checked })).toContain('error right')
  })
})

describe('texts of any length', () => {
  const shapes: Record<string, (n: number) => string> = {
    verbs: n => 'states x and recommends y and '.repeat(n / 30),
    lines: n => '\n'.repeat(n),
    bullets: n => `must:\n${'- x\n'.repeat(n / 4)}`,
    letters: n => 'a'.repeat(n),
    brackets: n => '('.repeat(n),
  }
  it.each(Object.keys(shapes))('are linted in time that does not grow with the square: %s', name => {
    const ms = (n: number) => {
      const rubric = { about: 'thinking' as const, criteria: [{ id: 'a', text: shapes[name](n), points: 1 }] }
      const start = performance.now()
      const findings = lintRubric(rubric)
      if (n > 4000 && name !== 'lines') expect(findings.map(({ rule }) => rule)).toContain('long')
      return performance.now() - start
    }
    ms(3000)
    // A hundred times the length that is read: seconds a thousandfold if it were the square of it.
    expect(ms(200_000)).toBeLessThan(5000)
  })
})
