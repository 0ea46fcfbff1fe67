/** @file Numbers in a chart: short, because a legend changes with every move of the pointer. */

import { NONE } from '../../../util/format.ts'
import type { ChartUnit } from '../chart-spec.ts'

type Maybe = number | null | undefined

const shortNumber = (value: Maybe): string => {
  if (value === null || value === undefined) return NONE
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size >= 10_000) return Math.round(value).toLocaleString('en')
  if (size >= 100) return value.toFixed(0)
  if (size >= 10) return String(+value.toFixed(1))
  if (size >= 0.01) return String(+value.toFixed(3))
  return value.toExponential(1)
}

const shortPercent = (value: Maybe): string =>
  value === null || value === undefined ? NONE : `${(value * 100).toFixed(1)}%`

/** How a legend writes a value. */
export const legendText: Record<ChartUnit, (value: Maybe) => string> = {
  share: shortPercent,
  rate: shortPercent,
  number: shortNumber,
  log: shortNumber,
  seconds: value => (value === null || value === undefined ? NONE : `${shortNumber(value)} s`),
}

export const isPowerOfTen = (value: number): boolean =>
  Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6

/** How the vertical axis writes a tick; empty where it has none to write. */
export const tickText: Record<ChartUnit, (value: number) => string> = {
  share: value => `${Math.round(value * 100)}%`,
  rate: value => `${+(value * 100).toFixed(1)}%`,
  number: shortNumber,
  log: value => (isPowerOfTen(value) ? value.toExponential(0) : ''),
  seconds: shortNumber,
}
