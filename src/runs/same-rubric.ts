/** @file Whether scores of two runs are by one rubric: those of different ones do not compare. */

import type { RunInfo } from './rows.ts'

type Ruled = Pick<RunInfo, 'rubric'>

/** Scores of evaluations that are by the rubric of the rows. */
const isByRubric = (score: string): boolean => /(?:^|\.)rubric$/.test(score)

/** Runs that keep no rubric are taken for alike. */
const isSameRubric = ({ rubric: a }: Ruled, { rubric: b }: Ruled): boolean =>
  a === undefined || b === undefined || a.sha256 === b.sha256

/** Whether a score means the same in both runs. */
export const isScoreShared = (a: Ruled, b: Ruled, score: string): boolean =>
  !isByRubric(score) || isSameRubric(a, b)

const criterionOf = ({ rubric }: Ruled, id: string): string | undefined => {
  const own = rubric?.criteria.find(criterion => criterion.id === id)
  // Words of single rows are not kept: nobody knows whether they are the same.
  return own && own.text !== null ? JSON.stringify([own.text, own.check]) : undefined
}

/** Metrics of training that are by the rubric of the rows. */
const BY_RUBRIC: ReadonlySet<string> = new Set([
  'reward',
  'rewardStd',
  'rewardPlain',
  'rewardWhole',
  'rewardFullScaffold',
  'rubric',
  'heldOut',
])

/** Whether a metric of training, by its dotted name, means the same in both runs. */
export const isMetricShared = (a: Ruled, b: Ruled, name: string): boolean => {
  const [group, ...id] = name.split('.')
  if (group === 'criteria') return isCriterionShared(a, b, id.join('.'))
  return !BY_RUBRIC.has(name) || isSameRubric(a, b)
}

/** Whether a criterion asks for the same in both runs, whatever it is worth. */
export const isCriterionShared = (a: Ruled, b: Ruled, id: string): boolean => {
  if (isSameRubric(a, b)) return true
  const [own, other] = [criterionOf(a, id), criterionOf(b, id)]
  return own !== undefined && own === other
}
