/** @file What tasks have in common whose model also writes rubrics: labels for a learned verifier, and words of a plan. */

import { join } from 'node:path'
import type { TaskWith } from '../../tasks/task.ts'
import type { Rng } from '../../util/rng.ts'
import { writeLabels } from '../reasoning/labels.ts'
import { type ConfigOf, type LearntTask, primarySetOf, taskEvaluation } from './learnt.ts'

interface Roles<Problem> {
  /** Whose stream has the problems that labels are written about. */
  task: TaskWith<Problem, 'thinking' | 'rubricator'>
  /** A sentence that a verifier can decide. */
  draw(problem: Problem, rng: Rng): string
  tested: Parameters<typeof taskEvaluation<Problem>>[2]
  /** Of a plan. */
  words: { evaluation: string; more?: readonly string[] }
}

/** Evaluation, with labels on what the trained model writes where they are asked for. */
export const learnRoles = <Problem>(
  config: ConfigOf<{ labels: number; rubricators: number; hinted: number }>,
  { task, draw, tested, words }: Roles<Problem>,
): Pick<LearntTask, 'primarySet' | 'evaluate' | 'words'> => {
  const { labels: count, rubricators, hinted } = config.task
  return {
    primarySet: primarySetOf(task),
    evaluate: (policy, dir) => {
      const evaluate = taskEvaluation(config, policy, tested)
      const source = { task, problem: task.stream!, draw }
      const { maxTokens } = config.evaluation
      return async (step, last) => {
        if (last && count > 0)
          await writeLabels(join(dir, 'labels.jsonl'), policy, source, {
            count,
            maxTokens,
            seed: config.seed,
          })
        return evaluate(step, last)
      }
    },
    words: {
      training: `${100 * rubricators}% of them rubrics, ${100 * hinted}% of the others with hints`,
      evaluation: words.evaluation,
      more: [
        ...(words.more ?? []),
        ...(count > 0 ? [`labels       ${count} rows for a learned verifier, in labels.jsonl`] : []),
      ],
    },
  }
}
