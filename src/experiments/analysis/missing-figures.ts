/**
 * @file Figures that a registration asks for and a finished run does not have: a set or a curve with a wrong name. No schema knows
 * what a recipe measures; the first run that is done does, and it is better heard then than after the last.
 */

import { closest } from '../../util/schema.ts'
import { curveOf } from '../metrics/curves.ts'
import { type FinishedRun, metricNamed, tokensUntil } from '../metrics/index.ts'
import {
  type Claim,
  CONTROLS,
  comparisonsOf,
  type MetricChoice,
  metricText,
  type Registration,
} from '../plan/registration.ts'

const setsOf = ({ evals }: FinishedRun): string[] => [...new Set(evals.map(({ set }) => set))]

/** Dotted names of the figures of a step. */
const curvesOf = ({ metrics }: FinishedRun): string[] =>
  Object.entries(metrics.at(-1) ?? {}).flatMap(([key, value]) =>
    value !== null && typeof value === 'object' ? Object.keys(value).map(name => `${key}.${name}`) : [key],
  )

const orNear = (name: string, known: readonly string[], otherwise: string): string => {
  const near = closest(name, known)
  return near ? `did you mean ${near}?` : otherwise
}

/** What a run offers in place of a set or a curve that it lacks; null when it has both, or none is named. */
const instead = (run: FinishedRun, { set, key }: { set?: unknown; key?: unknown }): string | null => {
  const sets = setsOf(run)
  if (typeof set === 'string' && !sets.includes(set))
    return orNear(set, sets, `its test sets are ${sets.join(', ')}`)
  if (typeof key === 'string' && curveOf(run.metrics, key).length === 0)
    return orNear(key, curvesOf(run), 'its metrics.jsonl has the names')
  return null
}

const ofMetric = (run: FinishedRun, choice: MetricChoice, place: string): string[] => {
  const { metric, options } = metricNamed(choice, place)
  if (metric.value(run, options) !== null) return []
  const advice = instead(run, choice.options) ?? 'look at its evals.jsonl and metrics.jsonl'
  return [`${place}: no ${metricText(choice)} in a finished run of ${run.arm}; ${advice}`]
}

/** Every `equal: tokens` has to know what its arms generated. */
const ofTokens = (run: FinishedRun, { equal }: Claim, place: string): string[] =>
  equal === 'steps' || tokensUntil(run, run.steps) > 0
    ? []
    : [`${place}.equal: no generated tokens in a finished run of ${run.arm}; compare it at equal steps`]

type Chart = Registration['charts'][number]

const ofChart = (run: FinishedRun, { curve, set, title }: Chart, place: string): string[] => {
  const advice = instead(run, { set, key: curve })
  return advice === null
    ? []
    : [`${place} (${title}): nothing to draw of a finished run of ${run.arm}; ${advice}`]
}

/** What of a registration can never have a value, as one finished run shows it: a line each, with the place. */
export const missingFigures = ({ claims, controls, charts }: Registration, run: FinishedRun): string[] => {
  const compared = claims.flatMap((claim, i) =>
    comparisonsOf(claim).some(({ a, b }) => [a, b].includes(run.arm))
      ? [...ofMetric(run, claim.metric, `claims[${i}].metric`), ...ofTokens(run, claim, `claims[${i}]`)]
      : [],
  )
  const controlArms = CONTROLS.flatMap(kind => {
    const control = controls[kind]
    return 'arm' in control ? [control.arm] : []
  })
  const controlled = [controls.of, ...controlArms].includes(run.arm)
  return [
    ...compared,
    ...(controlled && controlArms.length > 0 ? ofMetric(run, controls.metric, 'controls.metric') : []),
    ...charts.flatMap((chart, i) =>
      chart.probe === undefined && chart.arms.includes(run.arm) ? ofChart(run, chart, `charts[${i}]`) : [],
    ),
  ]
}
