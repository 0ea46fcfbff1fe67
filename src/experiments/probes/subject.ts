/** @file What probes measure: a trained policy beside the one that it started from. */

import type { Policy, Sample } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'

export interface Subject {
  trained: Policy
  initial: Policy
  task: ScoredTask<unknown>
  maxTokens: number
}

/** Samples at temperature 1, the same for the same policy, prompts and seed. */
export const sample = (
  policy: Policy,
  { task: { stopTokens }, maxTokens }: Pick<Subject, 'task' | 'maxTokens'>,
  prompts: TokenIds[],
  each: number,
  seed: string,
): Promise<Sample[]> =>
  policy.sample({
    prompts,
    samplesPerPrompt: each,
    maxTokens,
    temperature: 1,
    stopTokens,
    seed: `probe/${seed}`,
  })

/** True scores of samples; a rubric with nothing to score counts 0. */
export const subjectScores = async (
  { task }: Pick<Subject, 'task'>,
  problems: readonly unknown[],
  samples: readonly Sample[],
): Promise<number[]> => {
  const graded = await task.grade(
    samples.map(({ prompt, tokens }) => ({ problem: problems[prompt], tokens })),
  )
  return graded.map(({ score }) => score ?? 0)
}
