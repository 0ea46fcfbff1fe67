/** @file Dynamic sampling (DAPO, arXiv 2503.14476 section 3.2): groups without a spread give way to those of further problems. */

import { MIN_RANGE } from '../../rl/advantages.ts'
import { type Groups, type Reward, rewardsOf } from '../../rl/rollout.ts'
import { Rng } from '../../util/rng.ts'
import type { ProblemStream } from './problem-order.ts'

/** Problems of later passes are as good as any; a bound keeps the passes few that are shuffled for it. */
const FURTHER = 1 << 16

/** Whether a group has nothing to compare, among those that were judged. */
const isEqual = (group: readonly Reward[]): boolean => {
  const rewards = rewardsOf([group])[0].filter(reward => reward !== null)
  return rewards.length < 2 || Math.max(...rewards) - Math.min(...rewards) < MIN_RANGE
}

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
