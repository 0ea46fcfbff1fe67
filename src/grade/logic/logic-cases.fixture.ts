/** @file Problems and responses that tests of the logic grader share. */

import { parseSentence } from './english.ts'
import { parseFormula } from './parse.ts'
import type { LogicLabel, LogicProblem } from './problem.ts'

export const problemOf = (
  premises: string[],
  conclusion: string,
  label: LogicLabel,
  proof?: string[],
): LogicProblem => ({
  id: conclusion,
  premises,
  premisesFol: premises.map(parseSentence),
  conclusion,
  conclusionFol: parseSentence(conclusion),
  label,
  ...(proof && { proof }),
  source: 'test',
})

export const PREMISES = [
  'Yumpuses are zumpuses.',
  'Every zumpus is not bright.',
  'Each zumpus is a numpus.',
  'Dumpuses are bright.',
  'Stella is a yumpus.',
]
export const PROOF = [
  'Stella is a yumpus.',
  'Yumpuses are zumpuses.',
  'Stella is a zumpus.',
  'Every zumpus is not bright.',
  'Stella is not bright.',
]
export const stella = problemOf(PREMISES, 'Stella is bright.', 'False', PROOF)

export const respond = (steps: readonly string[], answer = 'False') =>
  `<reasoning>\n${steps.map((step, i) => `${i + 1}. ${step}`).join('\n')}\n</reasoning>\n<answer>${answer}</answer>`

/** A problem in formulas. */
export const problemInFormulas = (
  premises: readonly string[],
  conclusion: string,
  label: LogicLabel,
): LogicProblem => ({
  id: conclusion,
  premises: [...premises],
  premisesFol: premises.map(text => parseFormula(text).formula),
  conclusion,
  conclusionFol: parseFormula(conclusion).formula,
  label,
  source: 'test',
})
