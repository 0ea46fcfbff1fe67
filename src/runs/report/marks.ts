/** @file Metrics on a line as data: what was measured with its interval, runs as dots. */

import { plural } from '../../util/format.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'
import { COLORS } from './bands.ts'
import { type Block, type LineMark, statusLook, type TrackLine } from './view.ts'

/** Where values lie on a line: shares of the way from its low end to its high one. */
const scaleOf = ([low, high]: readonly [number, number]) => {
  const width = high - low || 1
  return (value: number) => (value - low) / width
}

interface Measure {
  ends: [number, number]
  value: number
  interval: readonly [number, number]
  status: string
  /** A smallest effect that is to be reached, or a margin. */
  least?: number
  zone?: readonly [number, number]
}

/** A metric with its interval: zero in the middle where it may be below it, dashed what is to be reached, shaded a margin. */
export const measureMarks = ({ ends, value, interval, status, least, zone }: Measure): LineMark[] => {
  const at = scaleOf(ends)
  const between = (kind: string, [low, high]: readonly [number, number]) => ({
    ...{ class: kind, at: at(low), to: at(high) },
  })
  return [
    ...(least === undefined ? [] : [{ class: 'least', at: at(least) }]),
    ...(zone === undefined ? [] : [between('zone', zone)]),
    ...(ends[0] < 0 ? [{ class: 'zero', at: 0.5 }] : []),
    between(`span ${statusLook(status)}`, interval),
    { class: `mean ${statusLook(status)}`, at: at(value) },
  ]
}

/** A scale on which all values fit; values of 0 or 1 have the same one whatever they are. */
const rangeOf = (values: readonly number[], isYesNo: boolean): [number, number] => {
  if (isYesNo) return [-0.05, 1.05]
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const room = 0.06 * (high - low || Math.abs(high) || 1)
  return [low - room, high + room]
}

interface DotGroup {
  name: string
  about?: string
  /** With places in the list of what colours stand for. */
  dots: readonly { value: number; color: number; title: string }[]
}

interface DotWords {
  /** What colours stand for. */
  colors: readonly string[]
  text(value: number): string
  /** Values are 0 or 1: no, or yes. */
  isYesNo: boolean
}

/** Every run of each group as a point on one scale, with the group's mean and its 95% bootstrap interval. */
export const dotBlocks = (groups: readonly DotGroup[], { colors, text, isYesNo }: DotWords): Block[] => {
  const range = rangeOf(
    groups.flatMap(({ dots }) => dots.map(({ value }) => value)),
    isYesNo,
  )
  const at = scaleOf(range)
  const colorOf = (place: number) => COLORS[place % COLORS.length]
  const lines = groups.map(({ name, about, dots }): TrackLine => {
    const values = dots.map(({ value }) => value)
    const { low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'report' })
    const isMany = values.length > 1
    return {
      ...{ name, about, value: text(mean(values)) },
      label: `${name}: ${plural(values.length, 'run')}, mean ${text(mean(values))}`,
      notes: isMany ? [`${text(low)} to ${text(high)}`] : [],
      marks: [
        ...(isMany ? [{ class: 'span arm', at: at(low), to: at(high) }] : []),
        ...dots.map(({ value, color, title }) => ({
          ...{ class: 'run', at: at(value), color: colorOf(color), title },
        })),
        { class: 'average', at: at(mean(values)) },
      ],
    }
  })
  const key = colors.map((words, i) => [colorOf(i), words] as const)
  return [
    { kind: 'lines', lines, ends: isYesNo ? ['no', 'yes'] : [text(range[0]), text(range[1])] },
    { kind: 'key', colors: [...key, ['ink', 'mean, with 95% interval']] },
  ]
}
