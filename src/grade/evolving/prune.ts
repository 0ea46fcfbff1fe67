/** @file Which active rubrics stay: those on which the rollouts of a question differ most (RubricEM C.4; DR Tulu). */

import { meanKnown, variance } from '../../util/descriptive.ts'
import {
  gainOf,
  hasStage,
  type LevelsById,
  levelOf,
  STAGES,
  type StagedRollout,
  type StageRubric,
} from './rubrics.ts'
import type { EvolvingSettings } from './settings.ts'

/** How the rollouts of a question did on a rubric. */
export interface RubricStatistics {
  /** Rollouts that have its stage and a level on it. */
  scored: number
  /** Mean of what they earned on it, in [0, 1]; null where none has a level. */
  score: number | null
  /** Population variance of that; null for fewer than two: nothing is known then. */
  variance: number | null
}

export interface ScoredRollout {
  rollout: StagedRollout
  scores: LevelsById
}

/** Rollouts without the stage say nothing about a rubric: that they lack it is no difference in quality. */
export const statisticsOf = (
  { id, stage, sign }: StageRubric,
  scored: readonly ScoredRollout[],
): RubricStatistics => {
  const gains = scored.flatMap(({ rollout, scores }) => {
    const level = levelOf(scores, id)
    return level === null || !hasStage(rollout, stage) ? [] : [gainOf(sign, level)]
  })
  return {
    scored: gains.length,
    score: meanKnown(gains),
    variance: gains.length > 1 ? variance(gains) : null,
  }
}

/** What becomes of an active rubric after a step. */
export type Fate = 'kept' | 'inactive' | 'pruned'

/** Not known to differ, and not known to be equal either: between the two. */
const UNKNOWN = Number.MIN_VALUE

/** Levels are halves, so that variances are multiples of 1/4 over the squared count of rollouts: equal ones come out equal. */
const rankOf = ({ scored, variance: spread }: RubricStatistics): number => {
  if (spread === null) return UNKNOWN
  const parts = 4 * scored ** 2
  return Math.round(spread * parts) / parts
}

/**
 * What becomes of each active rubric, in their order, oldest first. With `dropZeroVariance` those without variance become
 * inactive; then, while a stage has more than its cap, the one with the lowest variance goes, among equals the oldest.
 */
export const prune = (
  active: readonly StageRubric[],
  statistics: readonly RubricStatistics[],
  { caps, dropZeroVariance }: Pick<EvolvingSettings, 'caps' | 'dropZeroVariance'>,
): Fate[] => {
  const ranks = statistics.map(rankOf)
  const fates = ranks.map((rank): Fate => (dropZeroVariance && rank === 0 ? 'inactive' : 'kept'))
  for (const stage of STAGES) {
    const own = active.flatMap((rubric, i) => (rubric.stage === stage && fates[i] === 'kept' ? [i] : []))
    const excess = Math.max(0, own.length - caps[stage - 1])
    // Stable, so that among equals the oldest stands first.
    for (const i of own.toSorted((a, b) => ranks[a] - ranks[b]).slice(0, excess)) fates[i] = 'pruned'
  }
  return fates
}
