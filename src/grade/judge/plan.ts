/** @file Which criteria are asked about together, and with which template. */

import type { Criterion } from '../../rubric/criterion.ts'
import type { CallShape } from './ask-config.ts'
import type { JudgeForm } from './templates/form.ts'
import type { AskedScale, Scale } from './templates/scale.ts'
import type { JudgeTemplate } from './templates/template.ts'

/** One call about some criteria. */
export interface PlannedCall {
  template: JudgeTemplate
  criteria: readonly Criterion[]
  /** Where each of them stands among all. */
  places: readonly number[]
}

/** Calls for the criteria of an item. Those of one call share a scale, and keep their order. */
export const planCalls = (
  criteria: readonly Criterion[],
  shape: CallShape,
  levels: AskedScale,
  form: JudgeForm,
): PlannedCall[] => {
  if (shape === 'criterion')
    return criteria.map((criterion, place) => ({
      template: form.one(form.scaleOf(criterion, levels)),
      criteria: [criterion],
      places: [place],
    }))
  const size = shape === 'rubric' ? Number.POSITIVE_INFINITY : shape.batch
  const places = new Map<Scale, number[]>()
  for (const [place, criterion] of criteria.entries()) {
    const scale = form.scaleOf(criterion, levels)
    places.set(scale, [...(places.get(scale) ?? []), place])
  }
  return [...places].flatMap(([scale, own]) => {
    const template = form.many(scale)
    return chunks(own, template.readTokens ? 1 : size).map(chunk => ({
      template,
      criteria: chunk.map(place => criteria[place]),
      places: chunk,
    }))
  })
}

const chunks = <T>(items: readonly T[], size: number): T[][] => {
  const found: T[][] = []
  for (let from = 0; from < items.length; from += size) found.push(items.slice(from, from + size))
  return found
}
