/** @file Arithmetic as it is learnt before it is rewarded: reasoners of mixed habits, with and without hints, and rubricators. */

import { z } from 'zod'
import type { SupervisedDatum } from '../../rl/datum.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { Rng } from '../../util/rng.ts'
import { fraction } from '../../util/setting-shapes.ts'
import type { TaskWith } from '../task.ts'
import { hintsTask, tellingHints } from '../thinking-grammar/hints.ts'
import { labelsSchema, rubricHabitsSchema } from '../thinking-grammar/rubricator.ts'
import { demonstrateWell, drawHabits, errorsSchema, stylesSchema } from './demonstrations.ts'
import { readResponse, reasonerPrompt, rubricatorPrompt } from './format.ts'
import { ARITHMETIC_GRAMMAR, type Evidence, evidenceOf, PREDICATES } from './predicates.ts'
import {
  ARITHMETIC_TEST_SEED,
  type ArithmeticProblem,
  arithmeticProblem,
  operationsSchema,
} from './problem.ts'
import { arithmeticRubricator } from './rubricator.ts'
import { arithmeticTask } from './task.ts'
import { ARITHMETIC_PIECES, ARITHMETIC_TOKENS } from './vocabulary.ts'

export const arithmeticStartSchema = z.strictObject({
  kind: z.literal('arithmetic').describe('Chains of operations with shown steps.'),
  operations: operationsSchema.prefault({}).describe('Fewest and most operations in a question.'),
  rubricators: fraction.default(0.35).describe('Share of the demonstrations that are of a rubricator.'),
  hinted: fraction.default(0.5).describe('Share of the demonstrations of reasoners that follow hints.'),
  tries: z
    .int()
    .positive()
    .default(2)
    .describe(
      'Most attempts of the scripted reasoner until its answer is right; 1 keeps whatever it wrote first.',
    ),
  styles: stylesSchema
    .prefault({})
    .refine(
      ({ careful, merging, jumping }) => careful + merging + jumping > 0,
      'a chance above 0; one of them must be drawn',
    )
    .describe('Relative frequencies of the styles of the scripted reasoner.'),
  errors: errorsSchema.prefault({}).describe('Error rates of the scripted reasoner.'),
  rubric: rubricHabitsSchema
    .prefault({})
    .describe(
      'What the scripted rubricator writes: how many criteria, how often with the wrong sign, whether about outcomes.',
    ),
  labels: labelsSchema,
})

type Teacher = z.output<typeof arithmeticStartSchema>

/** What can be done on purpose: which numbers come out, and whether they are right, cannot. */
const HABITS = PREDICATES.filter(({ category }) => category !== 'other')

/** A few hints by which a chain of thought differs from another. */
const hintsFor = (
  problem: ArithmeticProblem,
  evidence: Evidence,
  other: Evidence,
  habits: Teacher['rubric'],
  rng: Rng,
): Criterion[] =>
  tellingHints(
    ARITHMETIC_GRAMMAR,
    own => arithmeticRubricator.propose(problem, habits, own, HABITS).text,
    [evidence, other],
    rng,
  )

const ended = (text: string): number[] => [...ARITHMETIC_PIECES.encode(text), ARITHMETIC_TOKENS.eos]

/** A demonstration of a role; the same names give the same one. */
const demonstrationOf = (
  role: 'reasoner' | 'rubricator',
  problem: ArithmeticProblem,
  { styles, errors, tries, rubric, hinted }: Teacher,
  rng: Rng,
): SupervisedDatum | null => {
  const think = (label: string) => {
    const { text } = demonstrateWell(problem, own => drawHabits(own, styles), errors, tries, rng.fork(label))
    const response = readResponse(ARITHMETIC_PIECES.encode(text))
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
  const written = arithmeticRubricator.demonstrate(problem, evidence, rubric, rng.fork('rubric'))
  return written && { promptTokens: rubricatorPrompt(problem, response), responseTokens: ended(written.text) }
}

/** Hints by which one chain of thought for a problem differs from another, so that following them changes what is written. */
const testHints =
  ({ styles, errors, rubric }: Teacher) =>
  (problem: ArithmeticProblem): Criterion[] => {
    const rng = new Rng(`${ARITHMETIC_TEST_SEED}/hints/${problem.id}`)
    const [one, other] = ['one', 'other'].map(label => {
      const { text } = demonstrateWell(problem, own => drawHabits(own, styles), errors, 1, rng.fork(label))
      return evidenceOf(problem, readResponse(ARITHMETIC_PIECES.encode(text)).thinking, null)
    })
    return hintsFor(problem, one, other, rubric, rng.fork('hints'))
  }

/**
 * The task with demonstrations, so many a step, and the task of following hints. Tests are the same for every run with the same
 * lengths; the stream has the problems that labels are written about.
 */
export const arithmeticStart = (
  teacher: Teacher,
  { seed, batch, tested }: { seed: number | string; batch: number; tested: number },
) => {
  const problems = Array.from({ length: tested }, (_, i) =>
    arithmeticProblem(ARITHMETIC_TEST_SEED, i, teacher),
  )
  const task: TaskWith<ArithmeticProblem, 'thinking' | 'rubricator' | 'demonstrations'> = {
    ...arithmeticTask({
      tests: { unseen: problems },
      stream: i => arithmeticProblem(`labels/${seed}`, i, teacher),
    }),
    demonstrations: step =>
      Array.from({ length: batch }, (_, i) => {
        const index = (step - 1) * batch + i
        const rng = new Rng(`arithmetic demonstration/${seed}/${index}`)
        const problem = arithmeticProblem(`cold start/${seed}`, index, teacher)
        const role = rng.next() < teacher.rubricators ? 'rubricator' : 'reasoner'
        return (
          demonstrationOf(role, problem, teacher, rng) ?? demonstrationOf('reasoner', problem, teacher, rng)!
        )
      }),
  }
  return { task, hints: { ...hintsTask(task, testHints(teacher)), tests: { hints: problems } } }
}
