/** @file The scaffold for any recipe: which criteria a rollout is shown, and the prompts that a step samples from. */

import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { Rng } from '../../util/rng.ts'
import { type GroupRatio, groupRatios, type StepDecay, shownCount, stepRatio } from './scaffold-schedule.ts'

/**
 * A uniformly random subset of the criteria, in the rubric's order; all of them for a share of 1 (spec 4.2). Criteria worth
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

export interface ScaffoldConfig {
  scaffold: { group: GroupRatio; decay: StepDecay }
  rollout: { samples: number }
  steps: number
  seed: number | string
}

/** What a problem has to show, and how its prompts look. */
export interface Shown<Problem> {
  criteria(problem: Problem): readonly Criterion[]
  /** @param hints criteria that are shown */
  prompt(problem: Problem, hints?: readonly Criterion[]): TokenIds
}

/** Which rollouts of a run the prompts are for. */
export interface ScaffoldPlace {
  /** Begins the names of the random streams: the recipe's name. */
  label: string
  step: number
  /** Further rollouts of the same step. Default 0. */
  round?: number
}

/**
 * A prompt for every sample with its own part of its problem's criteria: [problem][sample]. Null when nobody is shown anything,
 * as in groups of one. What is drawn depends on label, seed, step, round and place alone.
 * @throws ConfigError for a group that is not that large
 */
export const scaffoldedPrompts = <Problem>(
  { scaffold, rollout, steps, seed }: ScaffoldConfig,
  { criteria, prompt }: Shown<Problem>,
  problems: readonly Problem[],
  { label, step, round = 0 }: ScaffoldPlace,
): TokenIds[][] | null => {
  if (rollout.samples === 1) return null
  const decay = stepRatio(scaffold.decay, step, steps)
  const shares = groupRatios(scaffold.group, rollout.samples).map(share => share * decay)
  let anything = false
  const prompts = problems.map((problem, p) =>
    shares.map((share, g) => {
      const rng = new Rng(`${label} scaffold/${seed}/${step}/${p}/${g}${round > 0 ? `/${round}` : ''}`)
      const shown = selectCriteria(criteria(problem), share, rng)
      anything ||= shown.length > 0
      return shown.length > 0 ? prompt(problem, shown) : prompt(problem)
    }),
  )
  return anything ? prompts : null
}
