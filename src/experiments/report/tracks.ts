/** @file Figures on a line: an effect with its interval beside zero and the smallest effect; runs of an arm as dots. */

import { type Html, html, raw } from '../../runs/report/html.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'
import { isMargin, type PairStatistics, type ShareStatistics } from '../analysis/analysis.ts'
import type { Status } from '../analysis/status.ts'
import type { Direction } from '../plan/registration.ts'

export const STATUS_CLASS: Readonly<Record<Status, string>> = {
  reproduced: 'yes',
  'not reproduced': 'no',
  inconclusive: 'open',
  untestable: 'none',
}

type Scale = (value: number) => number

const at = (share: number): Html => raw(`${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`)

const scaleOf = (low: number, high: number): Scale => {
  const width = high - low || 1
  return value => (value - low) / width
}

const span = (scale: Scale, low: number, high: number, kind: string): Html =>
  html`<b class="${kind}" style="left:${at(scale(low))};width:${at(scale(high) - scale(low))}"></b>`

/** The smallest effect: a dashed line where an effect has to reach it, a shaded zone where it is a margin. */
const target = (scale: Scale, direction: Direction, smallestEffect: number, reach: number): Html => {
  if (!isMargin(direction)) {
    const place = direction === 'greater' ? smallestEffect : -smallestEffect
    return html`<i class="least" style="left:${at(scale(place))}"></i>`
  }
  const low = direction === 'not-above' ? -reach : -smallestEffect
  const high = direction === 'not-below' ? reach : smallestEffect
  return span(scale, low, high, 'zone')
}

/** A difference with its interval on a scale of its own, zero in the middle. */
export const effectTrack = (
  { difference, interval }: PairStatistics,
  direction: Direction,
  smallestEffect: number,
  status: Status,
): Html => {
  const reach = 1.15 * Math.max(...interval.map(Math.abs), Math.abs(difference), smallestEffect, 1e-9)
  const scale = scaleOf(-reach, reach)
  const kind = STATUS_CLASS[status]
  return html`<div class="track">${target(scale, direction, smallestEffect, reach)}<i class="zero" style="left:50%"></i>${span(scale, interval[0], interval[1], `span ${kind}`)}<i class="mean ${kind}" style="left:${at(scale(difference))}"></i></div>`
}

/** A share of runs with its interval, from none of them to all, and the share that was registered. */
export const shareTrack = ({ share, interval }: ShareStatistics, atLeast: number, status: Status): Html => {
  const scale = scaleOf(0, 1)
  const kind = STATUS_CLASS[status]
  return html`<div class="track"><i class="least" style="left:${at(atLeast)}"></i>${span(scale, interval[0], interval[1], `span ${kind}`)}<i class="mean ${kind}" style="left:${at(share)}"></i></div>`
}

export interface DotRow {
  values: readonly { value: number; start: string }[]
  mean: number
  interval: [number, number] | null
}

/** Mean and 95% bootstrap interval of an arm's runs. */
export const dotRow = (values: DotRow['values']): DotRow => {
  const numbers = values.map(({ value }) => value)
  const { low, high } = bootstrapInterval(numbers, { resamples: 2000, seed: 'report' })
  return { values, mean: mean(numbers), interval: numbers.length > 1 ? [low, high] : null }
}

/** A scale on which all rows fit. */
export const sharedRange = (rows: readonly DotRow[]): [number, number] => {
  const all = rows.flatMap(({ values }) => values.map(({ value }) => value))
  const [low, high] = [Math.min(...all), Math.max(...all)]
  const room = 0.06 * (high - low || Math.abs(high) || 1)
  return [low - room, high + room]
}

/** The runs of an arm as dots, one colour a cold start, with their mean and its interval. */
export const dotTrack = (
  row: DotRow,
  [low, high]: [number, number],
  colorOf: (start: string) => string,
): Html => {
  const scale = scaleOf(low, high)
  const runs = row.values.map(
    ({ value, start }) =>
      html`<i class="run" style="left:${at(scale(value))};border-color:var(--${colorOf(start)})"></i>`,
  )
  return html`<div class="track">${row.interval && span(scale, ...row.interval, 'span arm')}${runs}<i class="bar" style="left:${at(scale(row.mean))}"></i></div>`
}
