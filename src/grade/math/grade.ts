/** @file Grades a response against a gold answer. */

import { cleaned } from './clean.ts'
import { type MathOptions, mathEqual } from './equal.ts'
import { extractAnswer, isResponse } from './extract.ts'
import { optionLetter } from './words.ts'

export interface MathGrade {
  /** Null where it is undecided; false also where the response gives no answer. */
  equal: boolean | null
  /** The answer that was found in the response. */
  answer: string | null
}

const expectation = (gold: string): 'math' | 'text' | 'choice' => {
  const words = cleaned(gold)
    .replace(/\\text\s*\{([^{}]*)\}/g, '$1')
    .trim()
  if (optionLetter(words) !== null && words.length <= 3) return 'choice'
  return /^\p{L}[\p{L}\s.'-]{2,}$/u.test(words) ? 'text' : 'math'
}

/** Extracts the answer of a whole response, knowing what kind of answer the gold one is, and compares. Never throws. */
export const gradeMath = (gold: string, response: string, options: MathOptions = {}): MathGrade => {
  const goldAnswer = isResponse(gold) ? (extractAnswer(gold) ?? gold) : gold
  const isBare = !isResponse(response) && response.length <= 200
  const answer = isBare ? response.trim() : extractAnswer(response, { expect: expectation(goldAnswer) })
  if (answer === null || answer === '') return { equal: false, answer: null }
  return { equal: mathEqual(goldAnswer, answer, { ...options, extract: false }), answer }
}
