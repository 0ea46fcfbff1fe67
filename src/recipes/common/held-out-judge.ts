/** @file A grader that training never hears, asked about some of the rollouts of some of the steps. */

import type { Groups, Rollout } from '../../rl/rollout.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import type { HeldOut, Recipe } from '../../train/recipe.ts'
import { Rng } from '../../util/rng.ts'

export interface HeldOutJudge<Problem> {
  /** Grades by the true rubrics. */
  task: Pick<ScoredTask<Problem>, 'id' | 'grade'>
  /** What it is asked about: a share of the rollouts of a step, every so many steps from the first on; null: nothing. */
  rollouts: { share: number; every: number } | null
  /** The test set that evaluations call its own; null: it does not grade them. */
  testName: string | null
  /** What it took since it was last asked; absent where it costs nothing. */
  metrics?(): MetricGroup
}

/** All rollouts of every step; for a grader that costs nothing. */
export const ALL_ROLLOUTS = { share: 1, every: 1 }

/** What it needs of a rollout. */
interface Answered<Problem> {
  problem: Problem
  rollout: Pick<Rollout, 'tokens'>
}

/**
 * What it says of a step's rollouts, in their order, null for those that it was not asked about; null when this step is none of
 * its own. Which rollouts they are depends on seed and step alone.
 */
export const heldOutScores = async <Problem>(
  { task, rollouts, metrics }: HeldOutJudge<Problem>,
  groups: Groups<Answered<Problem>>,
  step: number,
  seed: number | string,
): Promise<HeldOut> => {
  if (rollouts === null || (step - 1) % rollouts.every !== 0) return { scores: null, time: metrics?.() }
  const chosen = spread(groups, rollouts.share, new Rng(`held-out rollouts/${seed}/${step}`))
  const scored = await task.grade(
    chosen.map(({ p, g }) => {
      const { problem, rollout } = groups[p][g]
      return { problem, tokens: rollout.tokens }
    }),
  )
  const scores_P_G = groups.map(group => group.map((): number | null => null))
  chosen.forEach(({ p, g }, i) => {
    scores_P_G[p][g] = scored[i].score
  })
  return { scores: scores_P_G.flat(), time: metrics?.() }
}

/** A recipe whose rollouts are told to another grader as well, for the monitors; the recipe as it is where there is none. */
export const withHeldOutJudge = <Problem, Rolled extends { groups: Groups<Answered<Problem>> }>(
  recipe: Recipe<Rolled>,
  judge: HeldOutJudge<Problem> | undefined,
  seed: number | string,
): Recipe<Rolled> =>
  judge === undefined
    ? recipe
    : {
        ...recipe,
        learn: async (step, rolled) => ({
          ...(await recipe.learn(step, rolled)),
          heldOut: heldOutScores(judge, rolled.groups, step, seed),
        }),
      }

/**
 * A share of the rollouts, spread evenly over problems and over places in the group: each place is shown another part of the
 * rubric, and a sample with more of the first places would have other scores than the step.
 */
const spread = (groups: Groups<unknown>, share: number, rng: Rng): { p: number; g: number }[] => {
  const problems = rng.shuffle(groups.map((_, p) => p))
  const size = Math.max(...groups.map(group => group.length))
  const first = rng.int(size)
  const places = Array.from({ length: size }, (_, round) =>
    problems.map((p, i) => ({ p, g: (first + round + i) % size })),
  )
  const all = places.flat().filter(({ p, g }) => g < groups[p].length)
  return all.slice(0, Math.ceil(share * all.length))
}
