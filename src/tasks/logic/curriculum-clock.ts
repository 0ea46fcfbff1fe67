/** @file Where a training is in its curriculum: at its share of the steps, or behind it while a keyframe waits for the loss to fall. */

import type { z } from 'zod'
import type { keyframeSchema } from './start-settings.ts'

type TimedKeyframe = Pick<z.output<typeof keyframeSchema>, 'at' | 'until'>
/** Of a keyframe that is not left before it is learnt: the steps of its window all lie after the keyframe was reached. */
export type KeyframeWait = NonNullable<TimedKeyframe['until']>

/** The first step after which the mean of the last `window` losses is below the bound, counted from `from`; null: not yet. */
const firstBelow = (
  losses: readonly number[],
  from: number,
  { loss, window }: KeyframeWait,
): number | null => {
  let [sum, start] = [0, from]
  for (let i = from; i < losses.length; i++) {
    if (!Number.isFinite(losses[i])) {
      // Out of a sum it could not be taken again.
      ;[sum, start] = [0, i + 1]
      continue
    }
    sum += losses[i]
    if (i >= start + window) sum -= losses[i - window]
    if (i + 1 >= start + window && sum < window * loss) return i + 1
  }
  return null
}

/**
 * Progress in [0, 1] at a step, 1-based. Between keyframes that wait it is linear in the steps; what is left of the curriculum behind a
 * keyframe is spread over what is left of the steps when that keyframe is passed. It depends on nothing but its arguments, so that a training
 * that goes on from a checkpoint is where it was.
 * @param losses of the steps before this one; infinite where one is not known, which is below nothing
 */
export const curriculumProgress = (
  keyframes: readonly TimedKeyframe[],
  steps: number,
  step: number,
  losses: readonly number[],
): number => {
  const done = step - 1
  let [fromStep, fromAt] = [0, 0]
  const rate = () => (1 - fromAt) / Math.max(1, steps - fromStep)
  for (const { at, until } of keyframes) {
    if (until === undefined || at >= 1) continue
    const reached = Math.ceil(fromStep + (at - fromAt) / rate())
    if (done < reached) break
    const latest = Math.max(reached, Math.floor(until.atMost * steps))
    const passed = Math.min(firstBelow(losses, reached, until) ?? latest, latest)
    if (done < passed) return at
    ;[fromStep, fromAt] = [passed, at]
  }
  return Math.min(1, fromAt + (done - fromStep) * rate())
}
