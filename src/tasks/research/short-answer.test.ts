import { describe, expect, it } from 'vitest'
import { givenAnswer, normaliseShort, shortAnswerScores, wordF1 } from './short-answer.ts'

describe('short answers', () => {
  // As SQuAD's and HotpotQA's published scripts have it.
  it('are compared without case, punctuation and articles', () => {
    expect(normaliseShort('The  Cat, (an) "animal".')).toBe('cat animal')
    expect(normaliseShort('U.S.A.')).toBe('usa')
    expect(normaliseShort("Theatre of the Absurd's a")).toBe('theatre of absurds')
    expect(normaliseShort('Gesellschaft mit beschränkter Haftung')).toBe(
      'gesellschaft mit beschränkter haftung',
    )
  })

  it.each([
    ['the cat', 'cat', 1],
    ['Bath', 'Bath, Maine', 2 / 3],
    ['a b b c', 'b b d', (2 * (2 / 3) * (2 / 3)) / (4 / 3)],
    ['no idea', 'Paris', 0],
    ['yes', 'yes', 1],
    ['yes it is', 'yes', 0],
    ['no', 'no way', 0],
    ['', 'Paris', 0],
    ['the', 'Paris', 0],
  ])('share words: %s of %s', (given, gold, f1) => {
    expect(wordF1(given, gold)).toBeCloseTo(f1, 12)
  })

  it.each([
    ['\\boxed{Bath, Maine} by <cite id="a">this</cite>', 'Bath, Maine'],
    ['<cite id="a">The answer is Paris.</cite>', 'Paris.'],
    ['\\boxed{\\text{Paris}}', 'Paris'],
    ['  Paris  ', 'Paris'],
    ['\\boxed{a} and then \\boxed{b}', 'b'],
  ])('are what is boxed or announced, else all: %s', (answer, given) => {
    expect(givenAnswer(answer)).toBe(given)
  })

  it.each<[string | null, string[], number]>([
    ['\\boxed{bath maine}', ['Bath, Maine'], 1],
    ['\\boxed{Maine}', ['Bath, Maine'], 0],
    ['\\boxed{Maine}', ['Bath, Maine', 'Maine'], 1],
    ['\\boxed{0.5}', ['\\frac{1}{2}'], 1],
    ['\\boxed{1,200}', ['1200'], 1],
    ['\\boxed{1201}', ['1200'], 0],
    // Words are words: no algebra with them.
    ['\\boxed{dog}', ['god'], 0],
    ['...', ['!'], 0],
    [null, ['x'], 0],
    ['', ['x'], 0],
  ])('are right: %s of %j', (answer, golds, right) => {
    expect(shortAnswerScores(answer, golds).right).toBe(right)
  })
})
