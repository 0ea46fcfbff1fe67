/** @file Which problem comes when: shuffled passes, or from easy to hard by the starting policy's own scores (spec 4.5). */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Policy } from '../../policy/policy.ts'
import { rewardOf } from '../../tasks/scored-response.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { mean } from '../../util/statistics.ts'
import { fixedPasses, type ProblemStream, shuffledPasses } from '../problem-order.ts'
import { answersTo } from './answers.ts'
import type { RuscarlConfig } from './config.ts'
import type { TrainingTask } from './task.ts'

/** Scores of one pass, by problem; kept in the run folder, so that a resumed run has the same order. */
const FILE = 'curriculum.json'

type Scores = Record<string, number>

/** Mean reward of every training problem under the policy as it is; 0 where nothing could be judged. */
const scorePass = async <Problem>(
  { rollout: { maxTokens, temperature, topK, topP }, seed }: RuscarlConfig,
  samples: number,
  policy: Policy,
  task: TrainingTask<Problem>,
): Promise<Scores> => {
  const { train, reward } = task
  const answers = await answersTo(train, policy, task, {
    promptOf: problem => reward.prompt(problem),
    samples,
    sampling: { maxTokens, temperature, topK, topP },
    label: `${seed}/curriculum`,
  })
  const meanReward = (own: typeof answers) => {
    const rewards = own.flatMap(({ grade }) => rewardOf(grade) ?? [])
    return rewards.length > 0 ? mean(rewards) : 0
  }
  return Object.fromEntries(
    train.map((problem, p) => [
      reward.name(problem),
      meanReward(answers.slice(p * samples, (p + 1) * samples)),
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
