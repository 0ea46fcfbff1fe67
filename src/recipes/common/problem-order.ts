/** @file Which problem comes when: shuffled passes, or from easy to hard by the starting policy's own scores (RuscaRL Table 13). */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Policy } from '../../policy/policy.ts'
import { hasNoRange } from '../../rl/advantages.ts'
import { type Groups, type Reward, rewardsOf } from '../../rl/rollout.ts'
import { rewardOf, type ScoredTask } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError, GradusError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { answersTo } from './answers.ts'
import { MADE_ONCE } from './deciding.ts'
import { samplingOf, type TrainingConfig } from './training.ts'

/** Problem number i of a stream without end. */
export type ProblemStream<Problem> = (index: number) => Problem

/** Passes that are kept: a step may lie across two, and look at two far apart. Another one is made again, in the same order. */
const KEPT_PASSES = 4

/** Every pass in another order, which the label and the pass decide. */
export const shuffledPasses = <Problem>(
  problems: readonly Problem[],
  label: string,
  joint = '/',
): ProblemStream<Problem> => {
  const passes = new Map<number, Problem[]>()
  const passOf = (pass: number): Problem[] => {
    const known = passes.get(pass) ?? new Rng(`${label}${joint}${pass}`).shuffle(problems)
    passes.set(pass, known)
    if (passes.size > KEPT_PASSES) passes.delete(passes.keys().next().value!)
    return known
  }
  return index => passOf(Math.floor(index / problems.length))[index % problems.length]
}

/**
 * The problems of a step, from 1.
 * @example
 * problemsIn(2, index => `problem ${index}`, { rollout: { prompts: 3 } }) // [ 'problem 3', 'problem 4', 'problem 5' ]
 */
export const problemsIn = <Problem>(
  step: number,
  problem: ProblemStream<Problem>,
  { rollout: { prompts } }: { rollout: { prompts: number } },
): Problem[] => Array.from({ length: prompts }, (_, i) => problem((step - 1) * prompts + i))

/**
 * Training problems of a task in their order.
 * @example
 * const problem = problemsOf({ train: ['a', 'b', 'c'], label: 'letters' }, 1)
 * const passes = [0, 3].map(from => [from, from + 1, from + 2].map(problem))
 * passes.map(pass => pass.toSorted()) // [ [ 'a', 'b', 'c' ], [ 'a', 'b', 'c' ] ]
 */
export const problemsOf = <Problem>(
  { stream, train, label }: Pick<Task<Problem>, 'stream' | 'train' | 'label'>,
  seed: number | string,
): ProblemStream<Problem> => stream ?? shuffledPasses(train, `${label}/${seed}`)

/** The same order in every pass. */
export const fixedPasses =
  <Problem>(problems: readonly Problem[]): ProblemStream<Problem> =>
  index =>
    problems[index % problems.length]

/** Scores of one pass, by problem; null where nobody could judge a problem's responses. */
const scoresSchema = z.record(z.string(), z.number().nullable())
type Scores = z.output<typeof scoresSchema>

export type CurriculumConfig = Pick<TrainingConfig, 'rollout' | 'seed'> & {
  /** Samples of each problem that its score is a mean of; null: no curriculum. */
  curriculum: { samples: number } | null
}

/** Mean reward of every training problem under the policy as it is. */
const scorePass = async <Problem>(
  config: CurriculumConfig,
  samples: number,
  policy: Policy,
  task: ScoredTask<Problem>,
): Promise<Scores> => {
  const { train } = task
  const draws = { label: `${config.seed}/curriculum`, samples, sampling: samplingOf(config) }
  const answers_P = await answersTo(train, policy, task, draws)
  return Object.fromEntries(
    train.map((problem, p) => [task.id(problem), meanKnown(answers_P[p].map(({ said }) => rewardOf(said)))]),
  )
}

/**
 * From easy to hard. Of a problem that nobody could judge nothing is known: it stands where an average one would.
 * @throws GradusError when none could be judged
 */
export const easyToHard = <Problem>(
  problems: readonly Problem[],
  scoreOf: (problem: Problem) => number | null,
): Problem[] => {
  const known = problems.flatMap(problem => scoreOf(problem) ?? [])
  if (known.length === 0)
    throw new GradusError(`curriculum: expected scores of ${problems.length} problems, got none`, {
      hint: 'see to the judge, then start again',
    })
  const average = mean(known)
  const placeOf = (problem: Problem) => scoreOf(problem) ?? average
  return [...problems].sort((a, b) => placeOf(b) - placeOf(a))
}

/**
 * The stream of training problems. For a curriculum the policy must still be the one that the run starts from.
 * @param dir folder of the run
 */
export const problemStream = async <Problem>(
  config: CurriculumConfig,
  policy: Policy,
  task: ScoredTask<Problem>,
  dir: string,
): Promise<ProblemStream<Problem>> => {
  const { curriculum } = config
  if (curriculum === null) return problemsOf(task, config.seed)
  const path = join(dir, MADE_ONCE.curriculum)
  const known = existsSync(path)
  const scores = known ? readScores(path) : await scorePass(config, curriculum.samples, policy, task)
  if (!known) writeFileAtomic(path, `${JSON.stringify(scores)}\n`)
  return fixedPasses(easyToHard(task.train, problem => scores[task.id(problem)]))
}

const readScores = (path: string): Scores => {
  try {
    return parseWith(scoresSchema, JSON.parse(readFileSync(path, 'utf8')), path, DataError)
  } catch (error) {
    if (error instanceof DataError) throw error
    throw new DataError(`${path}: expected scores as JSON (${(error as Error).message})`)
  }
}

/** Problems of later passes are as good as any; a bound keeps the passes few that are shuffled for it. */
const FURTHER = 1 << 16

/** Whether a group has nothing to compare, among those that were judged. */
const isEqual = (group: readonly Reward[]): boolean =>
  hasNoRange(rewardsOf([group])[0].filter(reward => reward !== null))

/**
 * The groups of a step, those whose rewards are all equal replaced while rounds are left.
 * @param names begins the names of the random streams
 * @param explore rolls out further problems
 */
export const withSpread = async <Problem, Item extends Reward>(
  first: Groups<Item>,
  { rounds, names }: { rounds: number; names: string },
  problem: ProblemStream<Problem>,
  explore: (problems: readonly Problem[], round: number) => Promise<Groups<Item>>,
): Promise<Groups<Item>> => {
  const groups = [...first]
  for (let round = 1; round <= rounds; round++) {
    const equal = groups.flatMap((group, p) => (isEqual(group) ? [p] : []))
    if (equal.length === 0) break
    const rng = new Rng(`${names}/${round}`)
    const found = await explore(
      equal.map(() => problem(rng.int(FURTHER))),
      round,
    )
    equal.forEach((p, i) => {
      groups[p] = found[i]
    })
  }
  return groups
}
