/** @file Verdicts as a kept rollout has them: each with who gave it, and calls of judges once, however many verdicts they brought. */

import type { Criterion, JudgeCall, Verdict } from '../../rubric/criterion.ts'
import type { RolloutRow, RolloutVerdict } from '../../runs/rows.ts'
import type { LeftOut } from '../../tasks/scored-response.ts'

/** A verdict that is kept; `criterionId` may be a name that tells it from another grader's. */
export type KeptVerdict = Omit<Verdict, 'source'> & Pick<RolloutVerdict, 'source' | 'leftOut'>

const NO_WORDS: ReadonlyMap<string, WrittenCriterion> = new Map()

const wordsOf = (own: WrittenCriterion | undefined) => own && { text: own.text, points: own.points }

/** Criteria by the ids that their verdicts are kept under. */
export const criteriaById = (criteria: readonly Criterion[], prefix = ''): [string, WrittenCriterion][] =>
  criteria.map(criterion => [`${prefix}${criterion.id}`, criterion])

/** Verdicts under names that tell them from other ones, each with whether its criterion was left out of the score. */
export const namedVerdicts = (
  prefix: string,
  verdicts: readonly Verdict[],
  leftOut?: LeftOut,
): (Verdict & Pick<RolloutVerdict, 'leftOut'>)[] =>
  verdicts.map(verdict => ({
    ...verdict,
    criterionId: `${prefix}${verdict.criterionId}`,
    ...(leftOut?.ids.has(verdict.criterionId) && { leftOut: true }),
  }))

/** What a criterion says and weighs. */
export type WrittenCriterion = Pick<Criterion, 'text' | 'points'>

/**
 * Fields of a row for its verdicts, in their order.
 * @param words of criteria by the verdicts' `criterionId`, those that the run's own rubric does not tell
 */
export const verdictFields = (
  verdicts: readonly KeptVerdict[],
  words: ReadonlyMap<string, WrittenCriterion> = NO_WORDS,
): Pick<RolloutRow, 'verdicts' | 'judgeCalls'> => {
  const places = new Map<JudgeCall, number>()
  const placeOf = (call: JudgeCall): number => {
    if (!places.has(call)) places.set(call, places.size)
    return places.get(call)!
  }
  const rows = verdicts.map(
    ({ criterionId, met, credit, explanation, source, call, leftOut }): RolloutVerdict => ({
      criterionId,
      ...wordsOf(words.get(criterionId)),
      met,
      ...(credit !== undefined && { credit }),
      ...(explanation !== undefined && { explanation }),
      ...(call !== undefined ? { call: placeOf(call) } : source !== undefined && { source }),
      ...(leftOut && { leftOut }),
    }),
  )
  return { verdicts: rows, ...(places.size > 0 && { judgeCalls: [...places.keys()] }) }
}
