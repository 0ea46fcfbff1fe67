/** @file Learning arithmetic: chains of thought of mixed habits, and rubrics about them. */

import { join } from 'node:path'
import type { z } from 'zod'
import type { arithmeticStartSchema } from '../../tasks/arithmetic/cold-start.ts'
import { arithmeticStart, propose } from '../../tasks/arithmetic/index.ts'
import { assertArithmeticVocabulary } from '../common/starting-model.ts'
import { freshArithmeticModel } from '../reasoning/arithmetic.ts'
import { writeLabels } from '../reasoning/labels.ts'
import { type ConfigOf, type LearntTask, primarySetOf, taskEvaluation } from './learnt.ts'

/** Evaluated by right answers, and by how often hints are met that are given, and that are not. */
export const learnArithmetic = (config: ConfigOf<z.output<typeof arithmeticStartSchema>>): LearntTask => {
  const { seed, batch, evaluation } = config
  const { labels, rubricators, hinted, rubric } = config.task
  const { task, hints } = arithmeticStart(config.task, { seed, batch, tested: evaluation.problems })
  const source = {
    task,
    problem: task.stream!,
    draw: (...[problem, rng]: [Parameters<typeof propose>[0], Parameters<typeof propose>[2]]) =>
      propose(problem, rubric, rng).text,
  }
  return {
    draw: task.demonstrations,
    fresh: () => freshArithmeticModel(config.model.shape, seed),
    assertModel: assertArithmeticVocabulary,
    rooms: () =>
      hints.tests.hints.map(problem => ({
        what: `problem ${problem.id} with hints`,
        promptTokens: task.prompt(problem, hints.rubric(problem).criteria).length,
        newTokens: evaluation.maxTokens,
      })),
    primarySet: primarySetOf(task),
    evaluate: (policy, dir) => {
      const evaluate = taskEvaluation(config, policy, [{ task }, { task: hints, full: true }])
      return async (step, last) => {
        if (last && labels > 0)
          await writeLabels(join(dir, 'labels.jsonl'), policy, source, {
            ...{ count: labels, maxTokens: evaluation.maxTokens, seed },
          })
        return evaluate(step, last)
      }
    },
    words: {
      training: `${100 * rubricators}% of them rubrics, ${100 * hinted}% of the others with hints`,
      evaluation: 'unseen problems, without hints and with hints that are to be followed',
      more: labels > 0 ? [`labels       ${labels} rows for a learned verifier, in labels.jsonl`] : [],
    },
  }
}
