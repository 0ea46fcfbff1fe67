/** @file Criteria that count only together, and clauses that void what they bring (ProRubric, arXiv 2609.38847). */

import { z } from 'zod'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { refuse } from '../common/refuse.ts'
import type { RewardOption } from './option.ts'

const groupSchema = z.strictObject({
  criteria: z
    .array(z.string())
    .min(1)
    .describe(
      'Ids of criteria whose points count only if all of them hold: those above zero met, those below zero avoided.',
    ),
  voidedBy: z
    .array(z.string())
    .default([])
    .describe("Ids of further criteria that must hold for the group's points to count."),
})

const criterionGroupsSchema = z.array(groupSchema).min(1)
type CriterionGroups = z.output<typeof criterionGroupsSchema>

/** From here on a credit counts as met. */
const MET = 0.5

/** Whether what a criterion asks for is so: a merit met, a flaw avoided; null where nobody knows. */
const holds = (points: number, verdict: Verdict | undefined): boolean | null => {
  const credit = verdict === undefined ? null : creditOf(verdict)
  return credit === null ? null : credit >= MET === points > 0
}

/** False where one is false; else null where one is not known. */
const allOf = (known: readonly (boolean | null)[]): boolean | null =>
  known.includes(false) ? false : known.includes(null) ? null : true

/**
 * The verdicts as a rule counts them: merits of a group that does not hold are unmet, those of one that may hold unknown. Flaws
 * cost what they cost.
 */
const groupedVerdicts = (
  groups: CriterionGroups | undefined,
  { criteria }: Rubric,
  verdicts: readonly Verdict[],
): readonly Verdict[] => {
  if (groups === undefined) return verdicts
  const points = new Map(criteria.map(own => [own.id, own.points]))
  const said = new Map(verdicts.map(verdict => [verdict.criterionId, verdict]))
  const counted = new Map(said)
  const unmet = new Set<string>()
  for (const { criteria: ids, voidedBy } of groups) {
    const asked = [...ids, ...voidedBy].filter(id => points.has(id))
    const held = allOf(asked.map(id => holds(points.get(id)!, said.get(id))))
    if (held === true) continue
    // What one group takes away stays away, whatever nobody knows of another.
    for (const id of ids)
      if (said.has(id) && points.get(id)! > 0 && !(held === null && unmet.has(id))) {
        const { credit: _credit, level: _level, ...verdict } = said.get(id)!
        counted.set(id, { ...verdict, met: held })
        if (held === false) unmet.add(id)
      }
  }
  return verdicts.map(({ criterionId }) => counted.get(criterionId)!)
}

/** @throws ConfigError for an id that no rubric has, and for a group of flaws alone, which has no points to bring */
const assertGroups = (groups: CriterionGroups, rubrics: readonly Rubric[]): void => {
  const criteria = rubrics.flatMap(rubric => rubric.criteria)
  const ids = new Set(criteria.map(({ id }) => id))
  const merits = new Set(criteria.filter(({ points }) => points > 0).map(({ id }) => id))
  for (const [i, group] of groups.entries()) {
    for (const key of ['criteria', 'voidedBy'] as const) {
      const stranger = group[key].find(id => !ids.has(id))
      if (stranger !== undefined)
        refuse(
          `criterionGroups[${i}].${key}: expected ids of criteria of the rubrics, got ${JSON.stringify(stranger)}`,
          'ids are those of the file of rubrics',
        )
    }
    if (!group.criteria.some(id => merits.has(id)))
      refuse(
        `criterionGroups[${i}].criteria: expected a criterion with points above 0, got penalties alone: ${group.criteria.join(', ')}`,
        'name the criteria whose points the group pays; penalties that take them away go into voidedBy',
      )
  }
}

const shape = {
  criterionGroups: criterionGroupsSchema
    .optional()
    .describe(
      'Criteria whose points count only together; absent: each by itself. Evaluations always count each by itself.',
    ),
}

export const criterionGroups: RewardOption<typeof shape> = {
  shape,
  refuse: ({ criterionGroups: own }, { rubrics }) => own && rubrics && assertGroups(own, rubrics),
  counts: ({ criterionGroups: own }, rubric, verdicts) => groupedVerdicts(own, rubric, verdicts),
  spoils: ({ criterionGroups: own }) => own !== undefined,
}
