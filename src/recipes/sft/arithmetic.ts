/** @file Learning arithmetic: chains of thought of mixed habits, and rubrics about them. */

import type { z } from 'zod'
import type { arithmeticStartSchema } from '../../tasks/arithmetic/cold-start.ts'
import { arithmeticStart, propose } from '../../tasks/arithmetic/index.ts'
import { assertArithmeticVocabulary } from '../common/starting-model.ts'
import { freshArithmeticModel } from '../reasoning/arithmetic.ts'
import type { ConfigOf, LearntTask } from './learnt.ts'
import { learnRoles } from './roles.ts'

/** Evaluated by right answers, and by how often hints are met that are given, and that are not. */
export const learnArithmetic = (config: ConfigOf<z.output<typeof arithmeticStartSchema>>): LearntTask => {
  const { seed, batch, evaluation } = config
  const { task, hints } = arithmeticStart(config.task, { seed, batch, tested: evaluation.problems })
  return {
    ...learnRoles(config, {
      task,
      draw: (problem, rng) => propose(problem, config.task.rubric, rng).text,
      tested: [{ task }, { task: hints, full: true }],
      words: { evaluation: 'unseen problems, without hints and with hints that are to be followed' },
    }),
    draw: task.demonstrations,
    fresh: () => freshArithmeticModel(config.model.shape, seed),
    assertModel: assertArithmeticVocabulary,
    rooms: () =>
      hints.tests.hints.map(problem => ({
        what: `problem ${problem.id} with hints`,
        promptTokens: task.prompt(problem, hints.rubric(problem).criteria).length,
        newTokens: evaluation.maxTokens,
      })),
  }
}
