/** @file What a step of distillation says in metrics.jsonl: how far the teacher is from the student on the student's tokens. */

import type { Credited, Groups } from '../../rl/rollout.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import { mean } from '../../util/statistics.ts'

/** A token counts as changed where the teacher finds it twice as likely as the student, or half. */
const CHANGED = Math.log(2)
/** So many first steps without a change are no chance. */
const FIRST_STEPS = 5
const FEW_CHANGES = 0.01

/** How far the teacher is from the student on the student's tokens. */
export const teacherMetrics = <Problem>(
  task: Pick<ScoredTask<Problem>, 'leaks'>,
  groups: Groups<Credited<Problem, unknown>>,
): Omit<MetricsRow, 'step'> => {
  const all = groups.flat()
  const gaps = all.flatMap(({ rollout, advantages }) =>
    Array.from(advantages).filter((_, t) => rollout.mask[t] === 1),
  )
  return {
    teacherKl: -mean(gaps),
    teacherChanges: mean(gaps.map(gap => Number(Math.abs(gap) > CHANGED))),
    ...(task.leaks && { leakRate: mean(all.map(({ rollout }) => Number(task.leaks!(rollout.tokens)))) }),
  }
}

/** What to say of a teacher that the rubric tells nothing. */
export const silentTeacher = (metrics: readonly MetricsRow[]): string[] => {
  const first = metrics.flatMap(({ teacherChanges }) => (typeof teacherChanges === 'number' ? [teacherChanges] : []))
  if (first.length < FIRST_STEPS || mean(first.slice(0, FIRST_STEPS)) >= FEW_CHANGES) return []
  return [
    'the rubric in its prompt changed hardly any token for the teacher: there was nothing to learn; begin with a model that follows a rubric it is shown (the evaluation "full scaffold" before the first step tells)',
  ]
}
