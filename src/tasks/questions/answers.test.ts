import { describe, expect, it } from 'vitest'
import { answerVerdict } from './answers.ts'
import type { Question } from './question.ts'

const right = (question: Question, text: string | null) => answerVerdict(question, text).met

describe('an answer in mathematics', () => {
  const of = (gold: string): Question => ({ id: 'q', question: 'q', kind: 'math', gold })
  it('is right where it is equal, however it is written', () => {
    expect(right(of('27.0'), 'So \\boxed{27}.')).toBe(true)
    expect(right(of('073'), 'So \\boxed{73}.')).toBe(true)
    expect(right(of('\\frac{1}{2}'), 'So \\boxed{0.5}.')).toBe(true)
    expect(right(of('34'), 'So \\boxed{35}.')).toBe(false)
    expect(right(of('34'), 'I do not know')).toBe(false)
    expect(right(of('34'), null)).toBe(false)
  })

  it('of which nothing can be said has no verdict', () => {
    expect(right(of('1, 2'), '\\boxed{2, 1}')).toBeNull()
  })
})

it('a letter alone is that of an option, also where options are letters', () => {
  const letters: Question = { id: 'q', question: 'Which vitamin?', kind: 'choice', options: ['B', 'C', 'K'] }
  const met = (gold: string, text: string) => answerVerdict({ ...letters, gold }, `\\boxed{${text}}`).met
  expect([met('B', 'B'), met('A', 'B'), met('C', 'K'), met('A', 'K')]).toEqual([true, false, true, false])
})

describe('a choice', () => {
  const choice: Question = {
    id: 'q',
    question: 'q',
    kind: 'choice',
    gold: 'B',
    options: ['A cat is one', 'The dog', 'Neither'],
  }
  it('is right by its letter or its text', () => {
    for (const text of [
      '\\boxed{B}',
      'The answer is B.',
      '\\boxed{\\text{B}}',
      '\\boxed{(B) the dog}',
      '\\boxed{B. The dog}',
      'Not \\boxed{A}, but \\boxed{b}',
      '<answer>the dog.</answer>',
      'Answer: Option B',
    ])
      expect([text, right(choice, text)]).toEqual([text, true])
  })

  it('is wrong by another, and where it was not announced', () => {
    for (const text of [
      '\\boxed{A}',
      '\\boxed{A cat is one}',
      '\\boxed{D}',
      'B',
      'I think B',
      '\\boxed{Both}',
      '',
    ])
      expect([text, right(choice, text)]).toEqual([text, false])
  })

  it('may have more options than ten', () => {
    const many = { ...choice, gold: 'K', options: Array.from({ length: 11 }, (_, i) => `option ${i}`) }
    expect([right(many, '\\boxed{K}'), right(many, '\\boxed{J}'), right(many, '\\boxed{option 10}')]).toEqual(
      [true, false, true],
    )
  })
})

describe('yes or no', () => {
  const of = (gold: string): Question => ({ id: 'q', question: 'q', kind: 'yes-no', gold })
  it('is told by the usual words', () => {
    for (const word of ['yes', 'True', 'y', 'correct', 'right', '\\text{Yes}'])
      expect([word, right(of('yes'), `\\boxed{${word}}`), right(of('no'), `\\boxed{${word}}`)]).toEqual([
        word,
        true,
        false,
      ])
    for (const word of ['No', 'FALSE', 'n', 'incorrect', 'wrong'])
      expect([word, right(of('no'), `\\boxed{${word}}`), right(of('yes'), `\\boxed{${word}}`)]).toEqual([
        word,
        true,
        false,
      ])
    expect(right(of('no'), '\\boxed{unknown}')).toBe(false)
    expect(right(of('yes'), 'The answer is yes, because no fish flies.')).toBe(true)
    expect(right(of('yes'), 'yes')).toBe(false)
  })
})
