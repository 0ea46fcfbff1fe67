/** @file What a step's rollouts say by the source of their problems, and by gold label within it. */

import type { LogicGrade } from '../../grade/logic/grade.ts'
import { LOGIC_LABELS } from '../../grade/logic/problem.ts'
import { LOGIC_CRITERIA } from '../../grade/logic/rubric.ts'
import type { Groups } from '../../rl/rollout.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { mean } from '../../util/statistics.ts'
import type { LogicRollout } from './rollout.ts'

type Pick = (item: LogicRollout) => number | null

/** A mean over the rollouts that have a value; null over none. */
const meanOf = (items: readonly LogicRollout[], pick: Pick): number | null => {
  const values = items.flatMap(item => pick(item) ?? [])
  return values.length > 0 ? mean(values) : null
}

const ofTruth =
  (read: (grade: LogicGrade) => boolean | null): Pick =>
  ({ grade: { grade } }) => {
    const holds = grade.excluded === null ? read(grade) : null
    return holds === null ? null : Number(holds)
  }

const answered = ofTruth(grade => grade.answerCorrect)
const proved = ofTruth(grade => grade.correctAndProved)

/**
 * Figures by source, each a group with one entry a source (`accuracyBySourceAndLabel`: one a source and label that occurs); null
 * where the step has no rollout that says anything. Criteria are those that training goes by, answers and proofs the truth.
 * @param names all sources, also those without a problem in this step
 */
export const sourceMetrics = (
  groups: Groups<LogicRollout>,
  names: readonly string[],
): Record<string, MetricGroup> => {
  const all = groups.flat()
  const of = (name: string) => all.filter(({ problem }) => problem.source === name)
  const bySource = (pick: Pick): MetricGroup =>
    Object.fromEntries(names.map(name => [name, meanOf(of(name), pick)]))
  const criterion =
    (id: (typeof LOGIC_CRITERIA)[number]): Pick =>
    ({ grade: { rewarded } }) =>
      rewarded.excluded === null ? rewarded.criteria[id] : null
  const labelled = names.flatMap(name =>
    LOGIC_LABELS.flatMap(label => {
      const own = of(name).filter(({ problem }) => problem.label === label)
      return own.length > 0 ? [[`${name}, ${label}`, meanOf(own, answered)] as const] : []
    }),
  )
  return {
    shareBySource: Object.fromEntries(names.map(name => [name, of(name).length / Math.max(1, all.length)])),
    rewardBySource: bySource(({ reward }) => reward),
    accuracyBySource: bySource(answered),
    provedBySource: bySource(proved),
    accuracyBySourceAndLabel: Object.fromEntries(labelled),
    ...Object.fromEntries(LOGIC_CRITERIA.map(id => [`${id}BySource`, bySource(criterion(id))])),
  }
}
