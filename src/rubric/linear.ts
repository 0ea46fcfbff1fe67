/** @file Scoring rules that divide what was earned by what there was to earn, and the roll-up of a tree. */

import { DataError } from '../util/errors.ts'
import type { Rubric, ScoredVerdict } from './criterion.ts'
import { asScore, type Counted, counted, judge, type RubricScore, type ScoreOptions } from './score.ts'
import { leavesOf, type RubricTree, rollUp } from './tree.ts'

export interface RuleOptions extends ScoreOptions {
  /** Multiplies a weighted sum, for example 3 in Rubric as Reward. Default 1. */
  scale?: number
  /** What graders said, for a veto to go by where points go by other verdicts: those of criteria that count only together. */
  said?: readonly ScoredVerdict[]
}

/** A scoring rule: pure, verdicts in, a score with its parts out. */
export type ScoringRule = (
  rubric: Rubric,
  verdicts: readonly ScoredVerdict[],
  options?: RuleOptions,
) => RubricScore

/** What one criterion brings in, and what it adds to the sum that is divided by. */
export interface Weighting {
  earned(entry: Counted): number
  attainable(entry: Counted): number
}

/** Sum of what was earned over sum of what there was to earn; undefined where the latter is not above zero. */
const ratioRule =
  (weighting: Weighting, floor = 0): ScoringRule =>
  (rubric, verdicts, options = {}) => {
    const judged = judge(rubric, verdicts, options.weights)
    const entries = counted(judged, options.nulls)
    let earned = 0
    let attainable = 0
    for (const entry of entries) {
      earned += weighting.earned(entry)
      attainable += weighting.attainable(entry)
    }
    const divisor = entries.length > 0 ? Math.max(attainable, floor) : 0
    return asScore(divisor > 0 ? earned / divisor : null, judged, options)
  }

const signed: Weighting = {
  earned: ({ points, credit }) => credit * points,
  attainable: ({ points }) => Math.max(points, 0),
}

/** Every criterion brings what is good about it; a penalty brings its points by being avoided. */
export const allPoints: Weighting = {
  earned: ({ points, good }) => Math.abs(points) * good,
  attainable: ({ points }) => Math.abs(points),
}

/** As `allPoints`, with every criterion worth the same. */
export const alike: Weighting = {
  earned: ({ good }) => good,
  attainable: () => 1,
}

/**
 * Signed score: sum of credit x points over the sum of positive points (RuscaRL Eq. 4, HealthBench). At most
 * 1, may be negative, not clipped. Undefined without positive points (see `whenUndefined`).
 * @throws DataError for verdicts that do not belong to the rubric; NumericError for a credit outside [0, 1].
 * @example
 * const rubric = { criteria: [{ id: 'cites', text: 'Names a source.', points: 3 }, { id: 'rude', text: 'Is rude.', points: -1 }] }
 * const verdicts = [{ criterionId: 'cites', met: true }, { criterionId: 'rude', met: true }]
 * signedScore(rubric, verdicts).score // 0.6667
 */
export const signedScore: ScoringRule = ratioRule(signed)

/**
 * All-weights score: sum of |points| x what is good about the criterion, over the sum of |points|; in [0, 1] (RaR, arXiv
 * 2507.17746). Written with signs this is the bounded min-max score (raw - MIN) / (MAX - MIN) of RLCER (Eq. 6): MAX
 * and MIN are the sums of positive and of negative points, and a penalty avoided is worth what a penalty incurred costs.
 * With levels 0, 1, 2 as half credits it is RubricEM's stage score. Undefined when nothing was judged.
 */
export const allWeightsScore: ScoringRule = ratioRule(allPoints)

/**
 * Plain mean over criteria of what is good about each: the credit of a positive criterion, 1 - credit of a penalty
 * (RiT Eq. 4 to 8: avoiding a flaw counts as meeting). How many points a criterion has is ignored.
 */
export const meanScore: ScoringRule = ratioRule(alike)

/**
 * DR Tulu's score: as signed, but never divided by less than 1, so that rubrics of penalties alone have a
 * score. Its weights are +1 and -1, its credits half of levels 0, 1, 2. Undefined when nothing was judged.
 */
export const drTuluScore: ScoringRule = ratioRule(signed, 1)

/** How near the soft minimum comes to the worst criterion. */
const SHARPNESS = 5

/**
 * Soft minimum: -1/5 log of the mean of exp(-5 g), g what is good about a criterion, weighted by |points|. 1 where all is well, 0
 * where nothing is; in between the worst criteria decide, so that no other makes up for them (log-sum-exp: Boyd and Vandenberghe,
 * Convex Optimization, section 3.1.5). Undefined when nothing was judged.
 */
export const softMinScore: ScoringRule = (rubric, verdicts, options = {}) => {
  const judged = judge(rubric, verdicts, options.weights)
  const entries = counted(judged, options.nulls)
  const whole = entries.reduce((sum, { points }) => sum + Math.abs(points), 0)
  const mean =
    entries.reduce((sum, { points, good }) => sum + Math.abs(points) * Math.exp(-SHARPNESS * good), 0) / whole
  return asScore(whole > 0 ? 0 - Math.log(mean) / SHARPNESS : null, judged, options)
}

/**
 * Weighted sum: scale x sum of weight x credit (Rubric as Reward section 2.2). Under `drop` the weights of the criteria that were judged
 * are scaled up so that they sum to the same total. Undefined when nothing was judged.
 */
export const weightedScore: ScoringRule = (rubric, verdicts, options = {}) => {
  const judged = judge(rubric, verdicts, options.weights)
  const whole = judged.reduce((sum, { points }) => sum + Math.abs(points), 0)
  let earned = 0
  let present = 0
  for (const { points, credit } of counted(judged, options.nulls)) {
    earned += points * credit
    present += Math.abs(points)
  }
  const score = present > 0 ? ((options.scale ?? 1) * earned * whole) / present : null
  return asScore(score, judged, options)
}

/** A rubric without a tree is a tree of one level. */
const treeOf = (rubric: Rubric): RubricTree => {
  if (rubric.tree) return rubric.tree
  const children = rubric.criteria.map(({ id, points }) => ({ id, weight: Math.abs(points) }))
  return { id: '', weight: 1, children }
}

/**
 * Tree score: a node is the weighted mean of its children, a leaf is what is good about its criterion (PaperBench). A
 * leaf without a verdict leaves its siblings' mean (`drop`) or is not met (`as-false`). Weights are the tree's own.
 * @throws DataError for a tree with a leaf that is no criterion.
 */
export const treeScore: ScoringRule = (rubric, verdicts, options = {}) => {
  const judged = judge(rubric, verdicts)
  if (judged.length === 0) return asScore(null, judged, options)
  const tree = treeOf(rubric)
  const known = new Set(rubric.criteria.map(({ id }) => id))
  for (const { id, share } of leavesOf(tree))
    if (share > 0 && !known.has(id))
      throw new DataError(`tree: leaf ${JSON.stringify(id)}: expected a criterion of this id; add it`)
  const good = new Map(counted(judged, options.nulls).map(entry => [entry.criterion.id, entry.good]))
  const score = rollUp(tree, id => good.get(id) ?? null)
  return asScore(score, judged, options)
}

/**
 * Stage scores of a staged trajectory (RubricEM): the criteria of each stage by the rule `levels`; null for a
 * stage without criteria or verdicts.
 */
export const stageScores = (
  rubric: Rubric,
  verdicts: readonly ScoredVerdict[],
  options: ScoreOptions = {},
): Record<1 | 2 | 3 | 4, number | null> => {
  const scoreOf = (stage: 1 | 2 | 3 | 4) => {
    const criteria = rubric.criteria.filter(criterion => criterion.stage === stage)
    const ids = new Set(criteria.map(({ id }) => id))
    const own = verdicts.filter(({ criterionId }) => ids.has(criterionId))
    return allWeightsScore({ criteria }, own, options).score
  }
  return { 1: scoreOf(1), 2: scoreOf(2), 3: scoreOf(3), 4: scoreOf(4) }
}
