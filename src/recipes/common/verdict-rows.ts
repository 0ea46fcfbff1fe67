/** @file Verdicts as a kept rollout has them: each with who gave it, and calls of judges once, however many verdicts they brought. */

import type { JudgeCall, Verdict } from '../../rubric/criterion.ts'
import type { RolloutRow, RolloutVerdict } from '../../runs/rows.ts'

/** A verdict that is kept; `criterionId` may be a name that tells it from another grader's. */
export type KeptVerdict = Omit<Verdict, 'source'> & Pick<RolloutVerdict, 'source' | 'leftOut'>

/** Fields of a row for its verdicts, in their order. */
export const verdictFields = (
  verdicts: readonly KeptVerdict[],
): Pick<RolloutRow, 'verdicts' | 'judgeCalls'> => {
  const places = new Map<JudgeCall, number>()
  const placeOf = (call: JudgeCall): number => {
    if (!places.has(call)) places.set(call, places.size)
    return places.get(call)!
  }
  const rows = verdicts.map(
    ({ criterionId, met, credit, explanation, source, call, leftOut }): RolloutVerdict => ({
      criterionId,
      met,
      ...(credit !== undefined && { credit }),
      ...(explanation !== undefined && { explanation }),
      ...(call !== undefined ? { call: placeOf(call) } : source !== undefined && { source }),
      ...(leftOut && { leftOut }),
    }),
  )
  return { verdicts: rows, ...(places.size > 0 && { judgeCalls: [...places.keys()] }) }
}
