/** @file What a step's rollouts say by the source of their problems, and by gold label within it. */

import { LOGIC_LABELS } from '../../grade/logic/problem.ts'
import { LOGIC_CRITERIA } from '../../grade/logic/rubric.ts'
import type { Groups } from '../../rl/rollout.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { rewardMetrics } from '../../train/update-rows.ts'
import type { LogicRollout } from './credit.ts'
import { answered, average, credited, proved } from './metrics.ts'

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
  const bySource = (figure: (items: readonly LogicRollout[]) => number | null): MetricGroup =>
    Object.fromEntries(names.map(name => [name, figure(of(name))]))
  const labelled = names.flatMap(name =>
    LOGIC_LABELS.flatMap(label => {
      const own = of(name).filter(({ problem }) => problem.label === label)
      return own.length > 0 ? [[`${name}, ${label}`, average(own, answered)] as const] : []
    }),
  )
  return {
    shareBySource: bySource(items => items.length / Math.max(1, all.length)),
    rewardBySource: bySource(items => rewardMetrics([items]).reward as number | null),
    accuracyBySource: bySource(items => average(items, answered)),
    provedBySource: bySource(items => average(items, proved)),
    accuracyBySourceAndLabel: Object.fromEntries(labelled),
    ...Object.fromEntries(
      LOGIC_CRITERIA.map(id => [`${id}BySource`, bySource(items => average(items, credited(id)))]),
    ),
  }
}
