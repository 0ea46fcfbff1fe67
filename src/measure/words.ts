/** @file Metrics as a table of words, for a terminal and for a page. */

import {
  NONE,
  number,
  percent,
  percentInterval,
  percentNumber,
  points,
  pointsInterval,
} from '../util/format.ts'
import type { PairedMetric } from './compare.ts'
import type { Measured, MeasuredMetric, MetricName } from './metrics.ts'

export interface MetricTable {
  head: readonly string[]
  /** The first cell is the metric's name. */
  rows: readonly (readonly string[])[]
}

const metricCell = ({ value, interval, sd }: MeasuredMetric, unit: MetricName['unit']): string => {
  if (value === null) return NONE
  const spread = sd === undefined ? '' : ` ± ${unit === 'share' ? percentNumber(sd) : number(sd)}`
  const range =
    interval === null
      ? ''
      : unit === 'share'
        ? ` [${percentInterval(interval)}]`
        : ` [${interval.map(number).join(' to ')}]`
  return `${unit === 'share' ? percent(value) : number(value)}${spread}${range}`
}

const pCell = ({ p }: PairedMetric): string => (p < 0.001 ? 'below .001' : p.toFixed(3).replace(/^0/, ''))

const signed = (value: number): string => `${value > 0 ? '+' : ''}${number(value)}`

const differenceCells = (paired: PairedMetric | null, unit: MetricName['unit']): string[] => {
  if (paired === null) return [NONE, NONE, NONE]
  const { difference, interval, won, lost, tied } = paired
  const [value, range] =
    unit === 'share'
      ? [points(difference), interval && pointsInterval(interval)]
      : [signed(difference), interval?.map(signed).join(' to ')]
  return [`${value}${range ? ` [${range}]` : ''}`, pCell(paired), `${won} / ${lost} / ${tied}`]
}

const nullCell = (nulls: number | undefined): string =>
  nulls === undefined || nulls === 0 ? '' : `, ${percent(nulls)} without a verdict`

/** All metrics that are known of either; of two models their difference beside them. */
export const measureTable = (
  names: readonly MetricName[],
  a: Measured,
  against: { b: Measured; paired: Readonly<Record<string, PairedMetric | null>> } | null,
): MetricTable => {
  const known = names.filter(({ name }) => a.metrics[name].n > 0 || (against?.b.metrics[name].n ?? 0) > 0)
  return {
    head: against ? ['', 'A', 'B', 'A less B', 'p', 'won / lost / tied'] : ['', 'mean'],
    rows: known.map(({ name, words, unit }) => [
      words,
      `${metricCell(a.metrics[name], unit)}${nullCell(a.nullRates[name])}`,
      ...(against
        ? [
            `${metricCell(against.b.metrics[name], unit)}${nullCell(against.b.nullRates[name])}`,
            ...differenceCells(against.paired[name], unit),
          ]
        : []),
    ]),
  }
}
