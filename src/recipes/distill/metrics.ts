/** @file What a run says of its teacher when it is over. */

import type { MetricsRow } from '../../runs/rows.ts'
import { mean } from '../../util/statistics.ts'

/** So many first steps without a change are no chance. */
const FIRST_STEPS = 5
const FEW_CHANGES = 0.01

/** What to say of a teacher that the rubric tells nothing. */
export const silentTeacher = (metrics: readonly MetricsRow[]): string[] => {
  const shares = metrics.flatMap(({ teacherChanges }) =>
    typeof teacherChanges === 'number' ? [teacherChanges] : [],
  )
  if (shares.length < FIRST_STEPS || mean(shares.slice(0, FIRST_STEPS)) >= FEW_CHANGES) return []
  return [
    'the rubric in its prompt changed hardly any token for the teacher: there was nothing to learn; begin with a model that follows a rubric it is shown (the evaluation "full scaffold" before the first step tells)',
  ]
}
