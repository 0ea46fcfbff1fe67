import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Budget, BudgetSpent } from './budget.ts'
import { mathEqual } from './compare/equal.ts'
import { cleaned } from './read/clean.ts'
import { gradeMath } from './verify.ts'

const times = (text: string, count: number) => text.repeat(count)

/** Each of these would keep a naive implementation busy for minutes, or overflow its stack. */
const HOSTILE: Readonly<Record<string, string>> = {
  'a tower of powers': '9^{9^{9^{9}}}',
  'a huge exponent': `(x+1)^{${times('9', 300)}}`,
  'a huge decimal exponent': '1e999999999',
  'a huge factorial': '99999999!',
  'factorials of factorials': '((9!)!)!',
  'a huge binomial': '\\binom{99999999}{49999999}',
  'a long sum': '\\sum_{k=1}^{99999999} k',
  'nested sums': `${times('\\sum_{a=1}^{400}', 5)}a`,
  'a huge root': `\\sqrt[${times('9', 50)}]{2}`,
  'deep brackets': times('(', 100_000) + times(')', 100_000),
  'deep fractions': `${times('\\frac{1}{', 3_000)}1${times('}', 3_000)}`,
  'deep boxes': `${times('\\boxed{', 20_000)}1${times('}', 20_000)}`,
  'open boxes': times('\\boxed{', 50_000),
  'a very long number': times('7', 100_000),
  'a very long list': `${times('1,', 60_000)}1`,
  'a big matrix to a power': `\\begin{pmatrix}${times(`${times('x&', 19)}x\\\\`, 20)}\\end{pmatrix}^8`,
  'dollar signs': times('$a ', 50_000),
  backslashes: times('\\', 100_001),
  announcements: times('the answer is ', 10_000),
  'minus signs': times('-', 50_000),
  'blank lines': `${times('\n', 100_000)}x`,
  'blanks behind an announcement': `the answer${times(' ', 100_000)}x`,
  'blanks behind a power': `2^${times('\n', 100_000)}x`,
  'full stops before a word': `${times('.', 100_000)}x`,
  'backslashes before a word': `${times('\\', 100_000)}x`,
  letters: times('a', 100_000),
  'many units': times('5 kg m s ', 10_000),
  'units without end': `5 ${times('m/', 40_000)}`,
  denials: times('not 5 ', 15_000),
  options: times('option A ', 10_000),
  'bold without end': times('**a', 30_000),
  'root signs': times('√', 50_000),
  superscripts: times('²', 100_000),
  zeros: `${times('0', 100_000)}x`,
}

describe('hostile answers', () => {
  it.each(Object.entries(HOSTILE))('%s', (_, text) => {
    expect(mathEqual('17', text)).not.toBe(true)
    expect(mathEqual(text, '17')).not.toBe(true)
    expect(gradeMath('17', `So the answer is \\boxed{${text}}`).equal).not.toBe(true)
  })

  it('lets go of the same ends as a pattern would', () => {
    const end = /(?:[\s"“”’.。,;:*]|\\\\|\\ )+$/
    const ends = fc.array(fc.constantFrom('\\', ' ', '.', ',', 'x', '}', '’'), { maxLength: 9 })
    fc.assert(
      fc.property(ends, parts => {
        const text = `7x${parts.join('')}`.replace(/\s+/g, ' ')
        // What cleaning makes of the pattern's result has no end of its own to lose.
        expect(cleaned(text)).toBe(cleaned(text.trim().replace(end, '')))
        expect(cleaned(text)).not.toMatch(end)
      }),
      { numRuns: 2000 },
    )
  })

  it('needs no value to see that two texts are one', () => {
    expect(mathEqual('9^{9^{9}}', '9^{9^9}')).toBe(true)
  })

  it('is undecided when the time is over', () => {
    const long = Array.from({ length: 300 }, (_, i) => `\\sin(${i}x)`).join('+')
    expect(mathEqual(long, `${long}+0`)).toBe(true)
    expect(mathEqual(long, `${long}+0`, { timeLimitMs: 0 })).toBeNull()
  })

  it('counts steps', () => {
    const budget = new Budget({ maxSteps: 3 })
    budget.spend(3)
    expect(() => budget.spend()).toThrow(BudgetSpent)
  })
})
