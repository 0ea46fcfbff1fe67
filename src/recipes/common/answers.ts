/** @file Responses outside the steps of training, sampled by any policy and graded as training grades. */

import type { Policy, Sample, SamplingOptions } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import type { RubricTask } from './rubric-task.ts'

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
  { reward, stopTokens }: Pick<RubricTask<Problem>, 'reward' | 'stopTokens'>,
  { promptOf, samples, sampling, label }: AnswerSettings<Problem>,
): Promise<Answer<Problem>[]> => {
  const drawn = await policy.sample({
    ...sampling,
    prompts: problems.map(promptOf),
    samplesPerPrompt: samples,
    stopTokens,
    seed: label,
  })
  const items = drawn.map(({ prompt, index, tokens }) => ({
    problem: problems[prompt],
    tokens,
    key: `${label}/${prompt}/${index}`,
  }))
  const grades = await reward.grade(items)
  return items.map(({ problem }, i) => ({ problem, sample: drawn[i], grade: grades[i] }))
}
