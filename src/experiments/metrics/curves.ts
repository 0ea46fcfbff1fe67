/** @file Metrics of a training curve: its level, its steadiness, and where its peak lies. */

import { z } from 'zod'
import type { MetricsRow } from '../../runs/rows.ts'
import { mean, std } from '../../util/statistics.ts'
import { type FinishedRun, type Metric, tokensUntil } from './metric.ts'

/** A curve of metrics.jsonl by dotted name: `entropy`, `criteria.companion`. */
export const curveOf = (metrics: readonly MetricsRow[], key: string): { step: number; value: number }[] =>
  metrics.flatMap(row => {
    const value = key
      .split('.')
      .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], row)
    return typeof value === 'number' ? [{ step: row.step, value }] : []
  })

/** Centred moving mean over `window` steps, shorter at the ends. */
export const smoothed = (values: readonly number[], window: number): number[] => {
  const reach = Math.floor((window - 1) / 2)
  return values.map((_, i) => mean(values.slice(Math.max(0, i - reach), i + reach + 1)))
}

/** Least-squares slope of a curve over its place in the run, from 0 to 1. */
const slope = (values: readonly number[]): number => {
  const xs = values.map((_, i) => i / Math.max(1, values.length - 1))
  const [centreX, centreY] = [mean(xs), mean(values)]
  const xx = xs.reduce((sum, x) => sum + (x - centreX) ** 2, 0)
  return xx === 0 ? 0 : xs.reduce((sum, x, i) => sum + (x - centreX) * (values[i] - centreY), 0) / xx
}

/** Largest fall from the highest value so far. */
const largestDrop = (values: readonly number[]): number => {
  let highest = Number.NEGATIVE_INFINITY
  let drop = 0
  for (const value of values) {
    highest = Math.max(highest, value)
    drop = Math.max(drop, highest - value)
  }
  return drop
}

const STATISTICS = {
  first: (values: readonly number[]) => values[0],
  last: (values: readonly number[]) => values[values.length - 1],
  mean: (values: readonly number[]) => mean(values),
  max: (values: readonly number[]) => Math.max(...values),
  min: (values: readonly number[]) => Math.min(...values),
  change: (values: readonly number[]) => values[values.length - 1] - values[0],
  slope,
  'largest-drop': largestDrop,
  'standard-deviation': (values: readonly number[]) => std(values, 1),
  'log-variance': (values: readonly number[]) => Math.log(Math.max(1e-30, std(values, 1) ** 2)),
} as const

interface CurveOptions {
  key: string
  statistic: keyof typeof STATISTICS
  window: number
  from: number
  to: number
}

const share = z.number().min(0).max(1)

const curve: Metric<CurveOptions> = {
  summary: `a statistic of a training curve (${Object.keys(STATISTICS).join(', ')}), smoothed over \`window\` steps, from one place in the run to another`,
  options: z.strictObject({
    key: z.string(),
    statistic: z.enum(Object.keys(STATISTICS) as [keyof typeof STATISTICS]).default('mean'),
    window: z.int().positive().default(1),
    from: share.default(0),
    to: share.default(1),
  }),
  unit: 'number',
  value: ({ metrics }, { key, statistic, window, from, to }) => {
    const all = smoothed(
      curveOf(metrics, key).map(({ value }) => value),
      window,
    )
    const part = all.slice(Math.floor(from * all.length), Math.max(1, Math.ceil(to * all.length)))
    return part.length < 2 ? null : STATISTICS[statistic](part)
  },
}

interface PeakOptions {
  key: string
  window: number
  before: number
  rise: number
}

/** Place of the highest smoothed value in the run (0 to 1) and how far it lies above the start; null for an empty curve. */
export const peakOf = ({ metrics }: FinishedRun, key: string, window: number) => {
  const values = smoothed(
    curveOf(metrics, key).map(({ value }) => value),
    window,
  )
  if (values.length < 2) return null
  const index = values.indexOf(Math.max(...values))
  return { index, place: index / (values.length - 1), rise: values[index] - values[0] }
}

const risesThenFalls: Metric<PeakOptions> = {
  summary:
    '1 where the smoothed curve peaks after its first step, before the place `before`, at least `rise` above its start',
  options: z.strictObject({
    key: z.string().default('entropy'),
    window: z.int().positive().default(9),
    before: share.default(0.5),
    rise: z.number().min(0).default(0),
  }),
  unit: 'number',
  binary: true,
  value: (run, { key, window, before, rise }) => {
    const peak = peakOf(run, key, window)
    return peak && Number(peak.index > 0 && peak.place < before && peak.rise >= rise)
  },
}

const peakPlace: Metric<{ key: string; window: number }> = {
  summary: 'place of a training curve’s peak in the run, from 0 to 1',
  options: z.strictObject({ key: z.string().default('entropy'), window: z.int().positive().default(9) }),
  unit: 'share',
  value: (run, { key, window }) => peakOf(run, key, window)?.place ?? null,
}

const tokens: Metric<object> = {
  summary: 'tokens generated in training',
  options: z.strictObject({}),
  unit: 'number',
  value: run => tokensUntil(run, run.steps),
}

const seconds: Metric<object> = {
  summary: 'seconds of the training steps',
  options: z.strictObject({}),
  unit: 'number',
  value: ({ metrics }) => metrics.reduce((sum, row) => sum + (row.time?.total ?? 0), 0),
}

export const CURVE_METRICS: Readonly<Record<string, Metric>> = {
  curve: curve as Metric,
  'rises-then-falls': risesThenFalls as Metric,
  'peak-place': peakPlace as Metric,
  tokens: tokens as Metric,
  seconds: seconds as Metric,
}
