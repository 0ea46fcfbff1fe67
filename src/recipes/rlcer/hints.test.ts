import { describe, expect, it } from 'vitest'
import type { Criterion } from '../../rubric/criterion.ts'
import { fittingHints, placeboHints, type QuestionHint } from './hints.ts'
import { lettersTask } from './letters.fixture.ts'

/** Hints of a question: so many criteria, so many tokens. */
const hint = (count: number, tokens: number): QuestionHint => ({
  criteria: Array.from(
    { length: count },
    (_, i): Criterion => ({
      ...{ id: `c${i}`, points: 1 },
      text: `${count} of ${tokens}`,
    }),
  ),
  tokens,
})

const textOf = (criteria: readonly Criterion[]) => criteria[0]?.text ?? 'none'

describe('placebo hints', () => {
  const hints = [hint(5, 40), hint(5, 44), hint(6, 50), hint(5, 41), hint(6, 70), hint(6, 52), hint(0, 0)]
  const names = hints.map((_, i) => `q${i}`)

  it('are those of another question, as many and as long as can be', () => {
    expect(placeboHints(hints, names, 1).map(textOf)).toEqual([
      '5 of 41',
      '5 of 41',
      '6 of 52',
      '5 of 40',
      '6 of 52',
      '6 of 50',
      'none',
    ])
  })

  it('are never those of the same question, which may be there twice', () => {
    const twice = placeboHints([hint(5, 40), hint(5, 40), hint(5, 49)], ['a', 'a', 'b'], 1)
    expect(twice.map(textOf)).toEqual(['5 of 49', '5 of 49', '5 of 40'])
    expect(placeboHints([hint(5, 40)], ['a'], 1)).toEqual([[]])
  })
})

describe('hints that leave room', () => {
  const { criteria } = hint(3, 0)
  const lengthOf = (count: number) => lettersTask.prompt('p', criteria.slice(0, count)).length

  it('are as many as fit, from the first', () => {
    const at = (positions: number) =>
      fittingHints(lettersTask, 'p', criteria, { maxTokens: 10, positions }).length
    expect([at(lengthOf(3) + 10), at(lengthOf(3) + 9), at(lengthOf(1) + 10), at(5)]).toEqual([3, 2, 1, 0])
    expect(fittingHints(lettersTask, 'p', criteria, { maxTokens: 10 })).toHaveLength(3)
  })
})
