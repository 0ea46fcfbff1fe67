/** @file Answers outside the steps of training, by problem: samples or episodes of any policy, with what was said of them. */

import type { Policy, Sample, SamplingOptions } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import type { Task, TaskWith } from '../../tasks/task.ts'
import type { samplingShape } from '../../train/config.ts'
import { StepRollouts } from '../../train/rollout.ts'
import type { EvaluationSettings } from './evaluation-config.ts'

/** How answers are drawn. */
interface Draws {
  /** Of each problem. */
  samples: number
  sampling: SamplingOptions
}

/** An answer, with what was said of it. */
export interface Answer<Problem, Said = ScoredResponse> {
  problem: Problem
  tokens: Int32Array
  /** How it ended. */
  end: string
  said: Said
}

/** Answers by problem. */
export type Answers<Problem, Said = ScoredResponse> = readonly (readonly Answer<Problem, Said>[])[]

/** Samples as an evaluation has them; the same streams for every set and grader, so that those are compared pair by pair. */
export const drawsOf = (
  {
    rollout,
    evaluation: { samples, temperature, topK, topP, maxTokens = rollout.maxTokens },
  }: {
    rollout: { maxTokens: number }
    evaluation: Pick<EvaluationSettings, 'samples' | keyof typeof samplingShape> & { maxTokens?: number }
  },
  { stopTokens }: Pick<Task<never>, 'stopTokens'>,
): Draws => ({
  samples,
  sampling: { maxTokens, temperature, topK, topP, stopTokens, seed: 'evaluation' },
})

/** Samples of every problem, to be said something of by one grader or several. */
export const drawAnswers = <Problem>(
  policy: Pick<Policy, 'sample'>,
  problems: readonly Problem[],
  { samples, sampling }: Draws,
  promptOf: (problem: Problem, p: number) => TokenIds,
): Promise<Sample[]> =>
  policy.sample({ ...sampling, prompts: problems.map(promptOf), samplesPerPrompt: samples })

/** Samples with what was said of each, by problem. */
export const answersBy = <Problem, Said>(
  problems: readonly Problem[],
  drawn: readonly Sample[],
  said: readonly Said[],
): Answer<Problem, Said>[][] => {
  const answers_P: Answer<Problem, Said>[][] = problems.map(() => [])
  for (const [i, { prompt, tokens, finishReason }] of drawn.entries())
    answers_P[prompt].push({ problem: problems[prompt], tokens, end: finishReason, said: said[i] })
  return answers_P
}

/** Samples with what a grader says of them. @param keyOf names what is drawn for its grade */
export const gradeSamples = async <Problem>(
  task: Pick<ScoredTask<Problem>, 'grade'>,
  problems: readonly Problem[],
  drawn: readonly Sample[],
  keyOf?: (sample: Sample) => string,
): Promise<Answer<Problem>[][]> => {
  const items = drawn.map(own => ({
    ...{ problem: problems[own.prompt], tokens: own.tokens },
    ...(keyOf && { key: keyOf(own) }),
  }))
  return answersBy(problems, drawn, await task.grade(items))
}

/**
 * Answers to plain prompts, or to others, graded as training grades.
 * @param label names the streams of sampling and of what is drawn for grades
 */
export const answersTo = async <Problem>(
  problems: readonly Problem[],
  policy: Policy,
  task: Pick<ScoredTask<Problem>, 'grade' | 'stopTokens' | 'prompt'>,
  { label, samples, sampling }: { label: string; samples: number; sampling: Omit<SamplingOptions, 'seed'> },
  promptOf = (problem: Problem): TokenIds => task.prompt(problem),
): Promise<Answer<Problem>[][]> => {
  const draws = { samples, sampling: { ...sampling, stopTokens: task.stopTokens, seed: label } }
  const drawn = await drawAnswers(policy, problems, draws, promptOf)
  return gradeSamples(task, problems, drawn, ({ prompt, index }) => `${label}/${prompt}/${index}`)
}

/**
 * Episodes of every problem, by problem and sample; the same streams for every set.
 * @param shown in place of the plain prompt
 */
export const episodes = async <Problem>(
  policy: Policy,
  task: TaskWith<Problem, 'world'>,
  problems: readonly Problem[],
  { samples, sampling }: { samples: number; sampling: Omit<SamplingOptions, 'seed'> },
  shown?: ((problem: Problem, p: number) => TokenIds) | null,
): Promise<Rollout[][]> => {
  const { environment: world, limits, stopStrings } = task.world
  const io = new StepRollouts(policy, { seed: 'evaluation', step: 0 })
  const groups = await io.rollOut<Problem, null>({
    ...{ problems, samples, ratio: 'sampled' as const },
    prompt: problem => task.prompt(problem),
    sampledFrom: shown && problems.map((problem, p) => new Array<TokenIds>(samples).fill(shown(problem, p))),
    sampling: { ...sampling, stopStrings },
    environment: { world, limits },
    grade: async items => items.map(() => null),
  })
  return groups.map(group => group.map(({ rollout }) => rollout))
}
