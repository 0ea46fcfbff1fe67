/** @file The scaffold for any recipe: which criteria a rollout is shown, and the prompts that a step samples from. */

import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { Task } from '../../tasks/task.ts'
import { Rng } from '../../util/rng.ts'
import { shownCount } from './scaffold-schedule.ts'

/**
 * A uniformly random subset of the criteria, in the rubric's order; all of them for a share of 1 (RuscaRL Eq. 3). Criteria worth
 * nothing are never shown.
 */
export const selectCriteria = (criteria: readonly Criterion[], share: number, rng: Rng): Criterion[] => {
  const count = shownCount(share, criteria.length)
  const chosen = new Set(
    rng.sample(
      criteria.map((_, i) => i),
      count,
    ),
  )
  return criteria.filter(({ points }, i) => chosen.has(i) && points !== 0)
}

/** What a problem has to show, and how its prompts look. */
export interface Shown<Problem> {
  criteria(problem: Problem): readonly Criterion[]
  /** @param hints criteria that are shown */
  prompt(problem: Problem, hints?: readonly Criterion[]): TokenIds
}

/** A task's own rubrics. */
export const taskRubrics = <Problem>(task: Pick<Task<Problem>, 'rubric' | 'prompt'>): Shown<Problem> => ({
  criteria: problem => task.rubric(problem).criteria,
  prompt: task.prompt,
})

/** Which rollouts of a run the prompts are for. */
export interface ScaffoldPlace {
  /** Begins the names of the random streams: the recipe's name. */
  label: string
  seed: number | string
  step: number
  /** Further rollouts of the same step. Default 0. */
  round?: number
}

/**
 * A prompt for every sample with its own part of its problem's criteria: [problem][sample]. Null when nobody is shown anything,
 * as in groups of one. What is drawn depends on label, seed, step, round and place alone.
 * @param lambdas_G the share of the criteria that each sample of a group is shown
 */
export const scaffoldedPrompts = <Problem>(
  lambdas_G: readonly number[],
  { criteria, prompt }: Shown<Problem>,
  problems: readonly Problem[],
  { label, seed, step, round = 0 }: ScaffoldPlace,
): TokenIds[][] | null => {
  if (lambdas_G.length === 1) return null
  let anything = false
  const prompts = problems.map((problem, p) =>
    lambdas_G.map((share, g) => {
      const rng = new Rng(`${label} scaffold/${seed}/${step}/${p}/${g}${round > 0 ? `/${round}` : ''}`)
      const shown = selectCriteria(criteria(problem), share, rng)
      anything ||= shown.length > 0
      return shown.length > 0 ? prompt(problem, shown) : prompt(problem)
    }),
  )
  return anything ? prompts : null
}
