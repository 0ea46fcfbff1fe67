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

  // found F, in excess E, of a set of M: P = F / (F + E), R = F / M, F1 = 2 P R / (P + R).
  it.each<[string | null, string[], [number, number, number]]>([
    // The example of DeepSearchQA's grading prompt: two of two, and Italy. P 2/3, R 1, F1 4/5.
    ['\\boxed{Belgium, France, and Italy}', ['Belgium', 'France'], [2 / 3, 1, 0.8]],
    // F 1, E 1, M 3: P 1/2, R 1/3, F1 2/5.
    ['\\boxed{france; Spain}', ['Belgium', 'France', 'Italy'], [1 / 2, 1 / 3, 0.4]],
    // Order, case and marks of a list are nothing; what is listed twice counts once.
    ['- The France\n- belgium.\n- France', ['Belgium', 'France'], [1, 1, 1]],
    ['1. Spain\n2. spain\n3. France', ['France'], [1 / 2, 1, 2 / 3]],
    ['\\boxed{Spain}', ['Belgium', 'France'], [0, 0, 0]],
    ['\\boxed{None}', ['None'], [1, 1, 1]],
    [null, ['Belgium'], [0, 0, 0]],
    ['France, Italy and Spain', ['France', 'Italy', 'Spain'], [1, 1, 1]],
    ['Trinidad and Tobago, Cuba', ['Trinidad and Tobago', 'Cuba'], [1, 1, 1]],
    ['1,234; 7', ['1234', '7'], [1, 1, 1]],
    ['A, B', ['A', 'B'], [1, 1, 1]],
    ['B', ['A', 'B'], [1, 0.5, 2 / 3]],
  ])('of sets: %s of %j', (answer, members, [precision, recall, f1]) => {
    const scores = shortAnswerScores(answer, [members.join(', ')], members)
    expect([scores.setPrecision, scores.setRecall, scores.setF1]).toEqual(
      [precision, recall, f1].map(value => expect.closeTo(value, 12)),
    )
    expect(scores.right).toBe(Number(f1 === 1))
  })
})
