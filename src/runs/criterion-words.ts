/** @file What a run tells of its criteria in words: names for people, what each says, what it is worth, what decides it. */

import { ownValue } from '../util/own-value.ts'
import type { RolloutVerdict, RunInfo } from './rows.ts'

/** What recipes call criteria with points below zero, where readers see their ids alone. */
export const PENALTY = '(penalty)'

export interface CriterionDescription {
  name?: string
  text?: string
  points?: number
  /** The rule or solver that decides it; null: a judge. */
  check?: string | null
}

type Words = Pick<RunInfo, 'criterionNames' | 'criterionAbout' | 'rubric'>

/** By id; of a criterion that rows word differently their own verdicts tell. */
export const describeCriteria = ({
  criterionNames = {},
  criterionAbout = {},
  rubric,
}: Words): Record<string, CriterionDescription> => {
  const words = new Map<string, CriterionDescription>()
  const add = (id: string, own: CriterionDescription) => words.set(id, { ...words.get(id), ...own })
  for (const [id, name] of Object.entries(criterionNames)) add(id, { name })
  for (const [id, text] of Object.entries(criterionAbout)) add(id, { text })
  for (const { id, text, points, check } of rubric?.criteria ?? [])
    add(id, { check, ...(text !== null && { text }), ...(points !== null && { points }) })
  return Object.fromEntries(words)
}

/** A criterion's name where it says more than its points do. */
export const shownName = ({ name, points }: CriterionDescription): string | undefined =>
  points !== undefined && name === PENALTY ? undefined : name

/** What a verdict's criterion says and weighs: in the row's own words, else in the run's. */
export const describeVerdict = (
  { criterionId, text, points }: Pick<RolloutVerdict, 'criterionId' | 'text' | 'points'>,
  criteria: Record<string, CriterionDescription>,
): CriterionDescription => ({
  ...ownValue(criteria, criterionId),
  ...(text !== undefined && { text }),
  ...(points !== undefined && { points }),
})

/** `+3`, `−2`: a merit's points and a flaw's. */
export const pointsWord = (points: number): string =>
  `${points < 0 ? '−' : '+'}${Math.abs(points).toLocaleString('en', { maximumSignificantDigits: 4 })}`
