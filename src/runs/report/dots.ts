/** @file Runs of an arm as dots on a line: their mean, its interval, and a scale on which several arms fit. */

import { bootstrapInterval, mean } from '../../util/statistics.ts'

/** One run. */
export interface Dot {
  value: number
  /** The cold start that it began from. */
  start: string
  /** What a reader who points at it is told. */
  title?: string
}

export interface DotRow {
  arm: string
  /** What the arm is. */
  about?: string
  dots: readonly Dot[]
  mean: number
  /** 95%; null of a single run. */
  interval: readonly [number, number] | null
}

/** Mean and 95% bootstrap interval of an arm's runs. @throws DataError where there is none */
export const dotRow = (arm: string, dots: readonly Dot[], about?: string): DotRow => {
  const values = dots.map(({ value }) => value)
  const { low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'report' })
  return { arm, about, dots, mean: mean(values), interval: values.length > 1 ? [low, high] : null }
}

/** A scale on which all rows fit. */
export const sharedRange = (rows: readonly DotRow[]): [number, number] => {
  const all = rows.flatMap(({ dots }) => dots.map(({ value }) => value))
  const [low, high] = [Math.min(...all), Math.max(...all)]
  const room = 0.06 * (high - low || Math.abs(high) || 1)
  return [low - room, high + room]
}
