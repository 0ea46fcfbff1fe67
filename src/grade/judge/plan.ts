/** @file Which criteria are asked about together, and with which template. */

import type { Criterion } from '../../rubric/criterion.ts'
import type { CallShape } from './ask-config.ts'
import { manyCriteria } from './templates/many-criteria.ts'
import { oneCriterion } from './templates/one-criterion.ts'
import { SCALES, type ScaleName, scaleFor } from './templates/scale.ts'
import type { JudgeTemplate } from './templates/template.ts'

/** One call about some criteria. */
export interface PlannedCall {
  template: JudgeTemplate
  criteria: readonly Criterion[]
  /** Where each of them stands among all. */
  places: readonly number[]
}

const byScale = (make: (scale: (typeof SCALES)[ScaleName]) => JudgeTemplate) =>
  Object.fromEntries(Object.values(SCALES).map(scale => [scale.name, make(scale)])) as Record<
    ScaleName,
    JudgeTemplate
  >

const ONE = byScale(oneCriterion)
const MANY = byScale(manyCriteria)

/** Calls for the criteria of an item. Those of one call share a scale, and keep their order. */
export const planCalls = (
  criteria: readonly Criterion[],
  shape: CallShape,
  levels: 'yes-no' | 'levels',
): PlannedCall[] => {
  if (shape === 'criterion')
    return criteria.map((criterion, place) => ({
      template: ONE[scaleFor(criterion, levels).name],
      criteria: [criterion],
      places: [place],
    }))
  const size = shape === 'rubric' ? Number.POSITIVE_INFINITY : shape.batch
  const places = new Map<ScaleName, number[]>()
  for (const [place, criterion] of criteria.entries()) {
    const { name } = scaleFor(criterion, levels)
    places.set(name, [...(places.get(name) ?? []), place])
  }
  return [...places].flatMap(([name, own]) =>
    chunks(own, size).map(chunk => ({
      template: MANY[name],
      criteria: chunk.map(place => criteria[place]),
      places: chunk,
    })),
  )
}

const chunks = <T>(items: readonly T[], size: number): T[][] => {
  const found: T[][] = []
  for (let from = 0; from < items.length; from += size) found.push(items.slice(from, from + size))
  return found
}
