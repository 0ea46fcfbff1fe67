/** @file Grades a response against a gold answer. */

import { expectation, type MathOptions, mathEqual } from './compare/equal.ts'
import { cleaned } from './read/clean.ts'
import { extractAnswer, isResponse } from './read/extract.ts'

export interface MathGrade {
  /** Null where it is undecided; false also where the response gives no answer. */
  equal: boolean | null
  /** The answer that was found in the response. */
  answer: string | null
}

/** Extracts the answer of a whole response, knowing what kind of answer the gold one is, and compares. Never throws. */
export const gradeMath = (gold: string, response: string, options: MathOptions = {}): MathGrade => {
  const goldAnswer = isResponse(gold) ? (extractAnswer(gold) ?? gold) : gold
  const expect = expectation(cleaned(goldAnswer))
  const isBare = !isResponse(response) && response.length <= 200 && expect !== 'choice'
  const answer = isBare ? response.trim() : extractAnswer(response, { expect })
  if (answer === null || answer === '') return { equal: false, answer: null }
  return { equal: mathEqual(goldAnswer, answer, { ...options, extract: false }), answer }
}
