/** @file The demonstrations of a step, for both roles: reasoners with and without hints, and rubricators. */

import type { Criterion } from '../../rubric/criterion.ts'
import {
  ARITHMETIC_GRAMMAR,
  ARITHMETIC_TOKENS,
  type ArithmeticProblem,
  arithmeticProblem,
  demonstrateRubric,
  demonstrateWell,
  drawHabits,
  type Evidence,
  encodeText,
  evidenceOf,
  PREDICATES,
  propose,
  readResponse,
  reasonerPrompt,
  rubricatorPrompt,
} from '../../tasks/arithmetic/index.ts'
import type { SupervisedDatum } from '../../train/supervised.ts'
import { Rng } from '../../util/rng.ts'
import { tellingHints } from '../reasoning/hints.ts'
import type { ArithmeticPhase } from './config.ts'

type Teacher = Pick<ArithmeticPhase, 'operations' | 'styles' | 'errors' | 'tries' | 'rubric' | 'hinted'>

/** What can be done on purpose: which numbers come out, and whether they are right, cannot. */
const HABITS = PREDICATES.filter(({ category }) => category !== 'other')

/** A few hints by which a chain of thought differs from another. */
export const hintsFor = (
  problem: ArithmeticProblem,
  evidence: Evidence,
  other: Evidence,
  habits: Teacher['rubric'],
  rng: Rng,
): Criterion[] =>
  tellingHints(ARITHMETIC_GRAMMAR, own => propose(problem, habits, own, HABITS).text, [evidence, other], rng)

const ended = (text: string): number[] => [...encodeText(text), ARITHMETIC_TOKENS.eos]

/** A demonstration of a role; the same names give the same one. */
const demonstrationOf = (
  role: 'reasoner' | 'rubricator',
  problem: ArithmeticProblem,
  { styles, errors, tries, rubric, hinted }: Teacher,
  rng: Rng,
): SupervisedDatum | null => {
  const think = (label: string) => {
    const { text } = demonstrateWell(problem, own => drawHabits(own, styles), errors, tries, rng.fork(label))
    const response = readResponse(encodeText(text))
    return { text, response, evidence: evidenceOf(problem, response.thinking, null) }
  }
  const { text, response, evidence } = think('reasoner')
  if (role === 'reasoner') {
    const hints =
      rng.next() < hinted
        ? hintsFor(problem, evidence, think('other').evidence, rubric, rng.fork('hints'))
        : []
    return { promptTokens: reasonerPrompt(problem, hints), responseTokens: ended(text) }
  }
  const written = demonstrateRubric(problem, evidence, rubric, rng.fork('rubric'))
  return written && { promptTokens: rubricatorPrompt(problem, response), responseTokens: ended(written.text) }
}

/** The demonstrations of a step; they depend on seed and step alone. */
export const demonstrations =
  (config: Teacher & Pick<ArithmeticPhase, 'batch' | 'seed' | 'rubricators'>) =>
  (step: number): SupervisedDatum[] =>
    Array.from({ length: config.batch }, (_, i) => {
      const index = (step - 1) * config.batch + i
      const rng = new Rng(`arithmetic demonstration/${config.seed}/${index}`)
      const problem = arithmeticProblem(`cold start/${config.seed}`, index, config)
      const role = rng.next() < config.rubricators ? 'rubricator' : 'reasoner'
      return demonstrationOf(role, problem, config, rng) ?? demonstrationOf('reasoner', problem, config, rng)!
    })
