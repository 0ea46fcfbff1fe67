/**
 * @file Metrics of a training curve: its level, its steadiness, and where its peak lies.
 *
 * A step may have no value: one without an update has no entropy. So points are placed by their step, of all steps of the run,
 * and a metric tells at how many steps it knows the curve.
 */

import { z } from 'zod'
import { type CurvePoint, curveOf, smoothed } from '../../runs/report/bands.ts'
import { fraction } from '../../util/setting-shapes.ts'
import { mean, std } from '../../util/statistics.ts'
import { type FinishedRun, type Metric, metric, type Peers, secondsUntil, tokensUntil } from './metric.ts'

/** Steps from `first` to `last`, both of them included. */
interface Span {
  first: number
  last: number
}

/** The steps between two places in a run, from 0 to 1. */
const spanOf = ({ from = 0, to = 1 }: { from?: number; to?: number }, steps: number): Span => ({
  first: Math.floor(from * steps) + 1,
  last: Math.max(1, Math.ceil(to * steps)),
})

const within = (points: readonly CurvePoint[], { first, last }: Span): CurvePoint[] =>
  points.filter(({ step }) => step >= first && step <= last)

/** Share of the steps that have a value, and the last that has; null where all of them have. */
const coverageOf = (points: readonly CurvePoint[], span: Span): Record<string, number> | null => {
  const length = span.last - span.first + 1
  const found = within(points, span)
  if (found.length >= length) return null
  return { known: found.length / length, ...(found.length > 0 && { lastStep: found.at(-1)!.step }) }
}

/** Least-squares slope of a curve over its place in the span, from 0 to 1. */
const slope = (points: readonly CurvePoint[], { first, last }: Span): number => {
  const xs = points.map(({ step }) => (step - first) / Math.max(1, last - first))
  const [centreX, centreY] = [mean(xs), mean(points.map(({ value }) => value))]
  const xx = xs.reduce((sum, x) => sum + (x - centreX) ** 2, 0)
  return xx === 0 ? 0 : xs.reduce((sum, x, i) => sum + (x - centreX) * (points[i].value - centreY), 0) / xx
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

/** `first`, `last`: the first and the last value that is known. */
const STATISTICS = {
  first: (values: readonly number[]) => values[0],
  last: (values: readonly number[]) => values[values.length - 1],
  mean: (values: readonly number[]) => mean(values),
  max: (values: readonly number[]) => Math.max(...values),
  min: (values: readonly number[]) => Math.min(...values),
  change: (values: readonly number[]) => values[values.length - 1] - values[0],
  'largest-drop': largestDrop,
  'standard-deviation': (values: readonly number[]) => std(values, 1),
  'log-variance': (values: readonly number[]) => Math.log(Math.max(1e-30, std(values, 1) ** 2)),
  /** Of the variance in proportion to the squared mean: what a scale, or a clip that scales all values, does not change. */
  'log-relative-variance': (values: readonly number[]) =>
    Math.log(Math.max(1e-30, (std(values, 1) / Math.max(1e-30, Math.abs(mean(values)))) ** 2)),
} as const

const NAMES = [...(Object.keys(STATISTICS) as (keyof typeof STATISTICS)[]), 'slope'] as const

/** Where in a run a curve is read: around the step at which another curve first reaches a level. */
const matchedSchema = z
  .strictObject({
    /** The curve that is to be alike, such as a reward. */
    key: z.string(),
    /** The level that it has to reach; else the lowest of what the arms in `among` reach at most. */
    level: z.number().optional(),
    among: z.array(z.string()).min(2).optional(),
    window: z.int().positive().default(9),
    /** Share of the run that is read, half of it before the step and half after. */
    span: z.number().positive().max(1).default(0.2),
  })
  .refine(
    ({ level, among }) => (level === undefined) !== (among === undefined),
    'either level (a number) or among (the arms of which the lowest counts); give one of them',
  )
type Matched = z.output<typeof matchedSchema>

const curveOptions = z
  .strictObject({
    key: z.string(),
    statistic: z.enum(NAMES).default('mean'),
    window: z.int().positive().default(1),
    from: fraction.optional(),
    to: fraction.optional(),
    matched: matchedSchema.optional(),
  })
  .refine(
    ({ from, to, matched }) => matched === undefined || (from === undefined && to === undefined),
    'no from or to beside matched, which says itself where the curve is read; leave them out',
  )

/** The level at which runs are compared; null where one of them is not there, or does not have the curve. */
const matchedLevel = (
  run: FinishedRun,
  { key, level, among, window }: Matched,
  peers?: Peers,
): number | null => {
  if (level !== undefined) return level
  const runs = among!.map(arm => (arm === run.arm ? run : peers?.(arm)))
  const highest = runs.map(each => {
    const values = each ? smoothed(curveOf(each.metrics, key), window).map(({ value }) => value) : []
    return values.length > 0 ? Math.max(...values) : null
  })
  return highest.every(value => value !== null) ? Math.min(...highest) : null
}

/** The first step at which the smoothed curve is at the level, and what is read around it; null where it never is. */
const matchedSpan = (run: FinishedRun, matched: Matched, peers?: Peers): (Span & { at: number }) | null => {
  const level = matchedLevel(run, matched, peers)
  if (level === null) return null
  const reached = smoothed(curveOf(run.metrics, matched.key), matched.window).find(
    ({ value }) => value >= level - 1e-12,
  )
  if (!reached) return null
  const half = Math.max(1, Math.round((matched.span * run.steps) / 2))
  return { at: reached.step, first: reached.step - half, last: reached.step + half }
}

const curve = metric({
  summary: `a statistic of a training curve (${NAMES.join(', ')}), smoothed over \`window\` steps, from one place in the run to another`,
  options: curveOptions,
  unit: 'number',
  among: ({ matched }) => matched?.among ?? [],
  value: (run, options, peers) => {
    const { key, statistic, window } = options
    const span = readSpan(run, options, peers)
    if (span === null) return null
    const points = within(smoothed(curveOf(run.metrics, key), window), span)
    if (points.length < 2) return null
    return statistic === 'slope' ? slope(points, span) : STATISTICS[statistic](points.map(p => p.value))
  },
  details: (run, options, peers) => {
    const points = curveOf(run.metrics, options.key)
    if (!options.matched) return coverageOf(points, spanOf(options, run.steps))
    const span = matchedSpan(run, options.matched, peers)
    return span && { matchedStep: span.at }
  },
})

/** The steps that are read; a matched span may reach beyond the run, and its slope is per whole span all the same. */
const readSpan = (
  run: FinishedRun,
  { matched, from, to }: z.output<typeof curveOptions>,
  peers?: Peers,
): Span | null => (matched ? matchedSpan(run, matched, peers) : spanOf({ from, to }, run.steps))

const WHOLE = { from: 0, to: 1 } as const

/**
 * Place of the highest smoothed value in the run (0 to 1), how far it lies above the first one, and the place of the last one;
 * null for an empty curve.
 */
const peakOf = ({ metrics, steps }: FinishedRun, key: string, window: number) => {
  const points = smoothed(curveOf(metrics, key), window)
  if (points.length < 2) return null
  const values = points.map(({ value }) => value)
  const index = values.indexOf(Math.max(...values))
  const placeOf = ({ step }: CurvePoint) => (step - 1) / Math.max(1, steps - 1)
  return {
    index,
    place: placeOf(points[index]),
    rise: values[index] - values[0],
    fall: values[index] - values[values.length - 1],
    lastPlace: placeOf(points[points.length - 1]),
  }
}

const peakDetails = (run: FinishedRun, { key, window }: { key: string; window: number }) => {
  const peak = peakOf(run, key, window)
  return (
    peak && {
      rise: peak.rise,
      fall: peak.fall,
      peak: peak.place,
      ...coverageOf(curveOf(run.metrics, key), spanOf(WHOLE, run.steps)),
    }
  )
}

const peakShape = { key: z.string().default('entropy'), window: z.int().positive().default(9) }

const risesThenFalls = metric({
  summary:
    '1 where the smoothed curve peaks after its first step, before the place `before`, at least `rise` above its start and `fall` above its end; null where it ends before that place',
  options: z.strictObject({
    ...peakShape,
    before: fraction.default(0.5),
    rise: z.number().min(0).default(0),
    fall: z.number().min(0).default(0),
  }),
  unit: 'number',
  binary: true,
  value: (run, { key, window, before, rise, fall }) => {
    const peak = peakOf(run, key, window)
    // What it does later is not known.
    if (!peak || peak.lastPlace < before) return null
    return Number(peak.index > 0 && peak.place < before && peak.rise >= rise && peak.fall >= fall)
  },
  details: peakDetails,
})

/** What of a peak is read. */
const peakMetric = (of: 'place' | 'rise', unit: Metric['unit'], summary: string): Metric =>
  metric({
    ...{ summary, unit, options: z.strictObject(peakShape) },
    value: (run, { key, window }) => peakOf(run, key, window)?.[of] ?? null,
    details: peakDetails,
  })

/** What the steps of a run took in all. */
const spent = (until: typeof tokensUntil, summary: string): Metric => ({
  ...{ summary, unit: 'number', options: z.strictObject({}) },
  value: run => until(run, run.steps),
})

export const CURVE_METRICS: Readonly<Record<string, Metric>> = {
  curve,
  'rises-then-falls': risesThenFalls,
  'peak-place': peakMetric('place', 'share', 'place of a training curve’s peak in the run, from 0 to 1'),
  'peak-rise': peakMetric(
    'rise',
    'number',
    'how far a smoothed training curve’s peak lies above its first value',
  ),
  tokens: spent(tokensUntil, 'tokens generated in training'),
  seconds: spent(secondsUntil, 'seconds of the training steps'),
}
