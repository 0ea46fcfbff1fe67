/** @file The metrics that a registration may name. Another one is another entry here. */

import { ConfigError } from '../../util/errors.ts'
import { meantOr, parseWith } from '../../util/schema.ts'
import type { MetricChoice } from '../plan/registration.ts'
import { CURVE_METRICS } from './curves.ts'
import { allOf, DIFFERENCE_METRICS } from './differences.ts'
import { EVALUATION_METRICS } from './evaluation.ts'
import type { Metric } from './metric.ts'
import { PROBE_METRICS } from './probed.ts'
import { WIN_METRICS } from './win-rate.ts'

export type { FinishedRun, JudgeWork, Metric, MetricUnit } from './metric.ts'
export { beforeTraining, evalsOn, judgeWorkOf, peersOf, secondsUntil, tokensUntil } from './metric.ts'

export const METRICS: Readonly<Record<string, Metric>> = {
  ...EVALUATION_METRICS,
  ...DIFFERENCE_METRICS,
  ...WIN_METRICS,
  'all-of': allOf((choice, place) => metricNamed(choice, place)),
  ...CURVE_METRICS,
  ...PROBE_METRICS,
}

/** A metric with its options checked. @throws ConfigError for a name that is none, or options that do not fit. */
export const metricNamed = (choice: MetricChoice, place: string): { metric: Metric; options: unknown } => {
  if (!Object.hasOwn(METRICS, choice.name)) {
    const names = Object.keys(METRICS)
    throw new ConfigError(
      `${place}: expected one of ${names.join(', ')}, got ${JSON.stringify(choice.name)}; ${meantOr(choice.name, names, 'choose one of these')}`,
    )
  }
  const metric = METRICS[choice.name]
  return { metric, options: parseWith(metric.options, choice.options, `${place} (${choice.name})`) }
}
