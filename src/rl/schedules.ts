/** @file Schedules of a number over steps: constant, linear, cosine, each with warm-up, the last two held at the peak where asked. */

import { z } from 'zod'
import { amount, fraction } from '../util/setting-shapes.ts'

export const scheduleSchema = z.strictObject({
  kind: z
    .enum(['constant', 'linear', 'cosine'])
    .default('constant')
    .describe('Course after warm-up: constant, or a linear or cosine fall.'),
  peak: amount.describe('Highest value.'),
  warmup: amount.default(0).describe('Steps of linear warm-up; below 1: a share of all steps.'),
  hold: fraction
    .optional()
    .describe(
      'Share of the steps after warm-up during which linear and cosine stay at the peak before they fall; absent: none.',
    ),
  floor: fraction.default(0).describe('Share of the peak at which linear and cosine end.'),
})

/** A schedule as data. */
export type Schedule = z.output<typeof scheduleSchema>

/** Steps of warm-up out of `total`: a share below 1 is rounded up. */
export const warmupSteps = ({ warmup }: Pick<Schedule, 'warmup'>, total: number): number =>
  warmup < 1 ? Math.ceil(warmup * total) : warmup

/**
 * Value at `step` (0 is the first) of `total`. Warm-up rises by peak / warm-up steps and already gives one share at step
 * 0, since a first step at zero would be wasted. After it, and after the share `hold` of what is left (warm-up, stable, decay:
 * MiniCPM, arXiv 2404.06395, section 4), linear and cosine fall from the peak towards floor x peak, which they reach at step `total`,
 * one after the last. Steps beyond stay at the floor. With a hold of 1 no step falls.
 * @example
 * scheduleAt({ kind: 'linear', peak: 1, warmup: 2, floor: 0 }, 6, 10) // 0.5
 */
export const scheduleAt = (
  { kind, peak, warmup, hold = 0, floor }: Schedule,
  step: number,
  total: number,
): number => {
  const rise = warmupSteps({ warmup }, total)
  if (step < rise) return (peak * (step + 1)) / rise
  const fallsFrom = rise + hold * Math.max(0, total - rise)
  if (kind === 'constant' || step < fallsFrom) return peak
  const progress = Math.min(1, (step - fallsFrom) / Math.max(1, total - fallsFrom))
  const share = kind === 'linear' ? 1 - progress : 0.5 * (1 + Math.cos(Math.PI * progress))
  return peak * (floor + (1 - floor) * share)
}
