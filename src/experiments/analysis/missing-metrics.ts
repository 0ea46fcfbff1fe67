/**
 * @file Values that a registration asks for and a finished run does not have: a set or a curve with a wrong name. No schema knows
 * what a recipe measures; the first run that is done does, and it is better heard then than after the last.
 */

import { curveOf } from '../../runs/report/bands.ts'
import { scoreNamesOf } from '../../runs/scores.ts'
import { meantOr } from '../../util/schema.ts'
import { scoreNameIn } from '../metrics/evaluation.ts'
import { evalsOn, type FinishedRun, metricNamed, tokensUntil } from '../metrics/index.ts'
import {
  CLAIM_CONTROLS,
  type Claim,
  comparisonsOf,
  equalsOf,
  type MetricChoice,
  metricText,
  namesUnder,
  type Registration,
} from '../plan/registration.ts'

/** Dotted names of the values of a step. */
const curvesOf = ({ metrics }: FinishedRun): string[] =>
  Object.entries(metrics.at(-1) ?? {}).flatMap(([key, value]) =>
    value !== null && typeof value === 'object' ? Object.keys(value).map(name => `${key}.${name}`) : [key],
  )

/** What a run offers in place of a set, a curve or a score that it lacks; null when it has all that are named. */
const instead = (run: FinishedRun, options: Readonly<Record<string, unknown>>): string | null => {
  const sets = [...new Set(run.evals.map(row => row.set))]
  const set = namesUnder(options, ['set', 'minus']).find(name => !sets.includes(name))
  if (set !== undefined) return meantOr(set, sets, `its test sets are ${sets.join(', ')}`)
  const key = namesUnder(options, ['key']).find(name => curveOf(run.metrics, name).length === 0)
  if (key !== undefined) return meantOr(key, curvesOf(run), 'its metrics.jsonl has the names')
  const rows = evalsOn(run, typeof options.set === 'string' ? options.set : undefined)
  const scores = scoreNamesOf(rows)
  const named = namesUnder(options, ['score', 'minusScore', 'train'])
  const score = named.find(name => rows.every(row => !(scoreNameIn(row, name) in row.scores)))
  return score === undefined || rows.length === 0
    ? null
    : meantOr(score, scores, `its scores are ${scores.join(', ')}`)
}

const ofMetric = (run: FinishedRun, choice: MetricChoice, place: string): string[] => {
  const { metric, options } = metricNamed(choice, place)
  // Where several arms' runs are read, this one stands for all of them: it lacks the same names.
  if (metric.value(run, options, () => run) !== null) return []
  const advice = instead(run, choice.options) ?? 'look at its evals.jsonl and metrics.jsonl'
  return [`${place}: no ${metricText(choice)} in a finished run of ${run.arm}; ${advice}`]
}

/** Every `equal: tokens` has to know what its arms generated. */
const ofTokens = (run: FinishedRun, claim: Claim, place: string): string[] =>
  !equalsOf(claim).includes('tokens') || tokensUntil(run, run.steps) > 0
    ? []
    : [
        `${place}.equal: no generated tokens in a finished run of ${run.arm}; compare it at equal steps, or in equal time`,
      ]

type Chart = Registration['charts'][number]

const ofChart = (run: FinishedRun, { curve, set, score, title }: Chart, place: string): string[] => {
  const advice = instead(run, { set, key: curve, ...(set !== undefined && { score }) })
  return advice === null
    ? []
    : [`${place} (${title}): nothing to draw of a finished run of ${run.arm}; ${advice}`]
}

/** What of a registration can never have a value, as one finished run shows it: a line each, with the place. */
export const missingMetrics = ({ claims, controls, charts }: Registration, run: FinishedRun): string[] => {
  const compared = claims.flatMap((claim, i) =>
    comparisonsOf(claim).some(({ a, b }) => [a, b].includes(run.arm))
      ? [...ofMetric(run, claim.metric, `claims[${i}].metric`), ...ofTokens(run, claim, `claims[${i}]`)]
      : [],
  )
  const controlArms = CLAIM_CONTROLS.flatMap(kind => {
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
