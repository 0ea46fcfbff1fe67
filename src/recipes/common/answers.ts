/** @file Responses outside the steps of training, sampled by any policy and graded as training grades. */

import type { Policy, Sample, SamplingOptions } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'

export interface Answer<Problem> {
  problem: Problem
  sample: Sample
  grade: ScoredResponse
}

export interface AnswerSettings<Problem> {
  promptOf(problem: Problem): TokenIds
  /** Of each problem. */
  samples: number
  sampling: Pick<SamplingOptions, 'maxTokens' | 'temperature' | 'topK' | 'topP'>
  /** Names the streams of sampling and of what is drawn for grades. */
  label: string
}

/** In the order of the problems, those of a problem together. */
export const answersTo = async <Problem>(
  problems: readonly Problem[],
  policy: Policy,
  task: Pick<ScoredTask<Problem>, 'grade' | 'stopTokens'>,
  { promptOf, samples, sampling, label }: AnswerSettings<Problem>,
): Promise<Answer<Problem>[]> => {
  const drawn = await policy.sample({
    ...sampling,
    prompts: problems.map(promptOf),
    samplesPerPrompt: samples,
    stopTokens: task.stopTokens,
    seed: label,
  })
  const items = drawn.map(({ prompt, index, tokens }) => ({
    problem: problems[prompt],
    tokens,
    key: `${label}/${prompt}/${index}`,
  }))
  const grades = await task.grade(items)
  return items.map(({ problem }, i) => ({ problem, sample: drawn[i], grade: grades[i] }))
}
