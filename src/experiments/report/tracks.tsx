/** @file Effects on a line: a difference or a share with its interval, beside what was registered. */

import { statusLook } from '../../runs/report/parts/claim.tsx'
import { barPlace } from '../../runs/report/parts/meter.tsx'
import { IntervalBar, type TrackScale, trackScale } from '../../runs/report/parts/tracks.tsx'
import { isMargin, type PairStatistics, type ShareStatistics } from '../analysis/analysis.ts'
import type { ClaimStatus } from '../analysis/status.ts'
import type { Direction } from '../plan/registration.ts'

interface TargetProps {
  scale: TrackScale
  direction: Direction
  smallestEffect: number
  reach: number
}

/** The smallest effect: a dashed line where an effect has to reach it, a shaded zone where it is a margin. */
const Target = ({ scale, direction, smallestEffect, reach }: TargetProps) => {
  if (!isMargin(direction)) {
    const least = direction === 'greater' ? smallestEffect : -smallestEffect
    return <i class="least" style={{ left: barPlace(scale(least)) }} />
  }
  const low = direction === 'not-above' ? -reach : -smallestEffect
  const high = direction === 'not-below' ? reach : smallestEffect
  return <IntervalBar scale={scale} ends={[low, high]} kind="zone" />
}

interface EffectTrackProps {
  statistics: Pick<PairStatistics, 'difference' | 'interval'>
  direction: Direction
  smallestEffect: number
  status: ClaimStatus
}

/** A difference with its interval on a scale of its own, zero in the middle. */
export const EffectTrack = ({ statistics, direction, smallestEffect, status }: EffectTrackProps) => {
  const { difference, interval } = statistics
  const reach = 1.15 * Math.max(...interval.map(Math.abs), Math.abs(difference), smallestEffect, 1e-9)
  const scale = trackScale(-reach, reach)
  const kind = statusLook(status)
  return (
    <div class="track">
      <Target scale={scale} direction={direction} smallestEffect={smallestEffect} reach={reach} />
      <i class="zero" style={{ left: '50%' }} />
      <IntervalBar scale={scale} ends={interval} kind={`span ${kind}`} />
      <i class={`mean ${kind}`} style={{ left: barPlace(scale(difference)) }} />
    </div>
  )
}

interface ShareTrackProps {
  statistics: ShareStatistics
  atLeast: number
  status: ClaimStatus
}

/** A share of runs with its interval, from none of them to all, and the share that was registered. */
export const ShareTrack = ({ statistics: { share, interval }, atLeast, status }: ShareTrackProps) => {
  const kind = statusLook(status)
  return (
    <div class="track">
      <i class="least" style={{ left: barPlace(atLeast) }} />
      <IntervalBar scale={trackScale(0, 1)} ends={interval} kind={`span ${kind}`} />
      <i class={`mean ${kind}`} style={{ left: barPlace(share) }} />
    </div>
  )
}
