/** @file Which problem comes when: shuffled passes, or from easy to hard by the starting policy's own scores (spec 4.5). */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Policy } from '../../policy/policy.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { mean } from '../../util/statistics.ts'
import { fixedPasses, type ProblemStream, shuffledPasses } from '../problem-order.ts'
import type { RuscarlConfig } from './config.ts'
import type { TrainingTask } from './task.ts'

/** Scores of one pass, by problem; kept in the run folder, so that a resumed run has the same order. */
const FILE = 'curriculum.json'

type Scores = Record<string, number>

/** Mean training score of every training problem under the policy as it is; a rubric without a score counts 0. */
const scorePass = async <Problem>(
  { rollout, seed }: RuscarlConfig,
  samples: number,
  policy: Policy,
  { train, reward, stopTokens }: TrainingTask<Problem>,
): Promise<Scores> => {
  const { maxTokens, temperature, topK, topP } = rollout
  const drawn = await policy.sample({
    prompts: train.map(problem => reward.prompt(problem)),
    samplesPerPrompt: samples,
    maxTokens,
    temperature,
    topK,
    topP,
    stopTokens,
    seed: `${seed}/curriculum`,
  })
  const items = drawn.map(({ prompt, index, tokens }) => ({
    problem: train[prompt],
    tokens,
    key: `${seed}/curriculum/${prompt}/${index}`,
  }))
  const graded = await reward.grade(items)
  return Object.fromEntries(
    train.map((problem, p) => [
      reward.name(problem),
      mean(graded.slice(p * samples, (p + 1) * samples).map(({ score }) => score ?? 0)),
    ]),
  )
}

/**
 * The stream of training problems. For a curriculum the policy must still be the one that the run starts from.
 * @param dir folder of the run
 */
export const problemStream = async <Problem>(
  config: RuscarlConfig,
  policy: Policy,
  task: TrainingTask<Problem>,
  dir: string,
): Promise<ProblemStream<Problem>> => {
  const { curriculum } = config.exploration
  if (curriculum === null) return shuffledPasses(task.train, `${task.orderLabel}/${config.seed}`)
  const path = join(dir, FILE)
  const known = existsSync(path)
  const scores: Scores = known
    ? JSON.parse(readFileSync(path, 'utf8'))
    : await scorePass(config, curriculum.samples, policy, task)
  if (!known) writeFileAtomic(path, `${JSON.stringify(scores)}\n`)
  const scoreOf = (problem: Problem) => scores[task.reward.name(problem)]
  return fixedPasses([...task.train].sort((a, b) => scoreOf(b) - scoreOf(a)))
}
