/** @file Figures on a line: intervals, and the runs of arms as dots. */

import { number, percent, plural } from '../../../util/format.ts'
import { COLORS } from '../bands.ts'
import { type DotRow, sharedRange } from '../dots.ts'
import type { ArmDotsView, TrackView } from '../view.ts'
import { statusLook } from './claim.tsx'
import { barPlace } from './meter.tsx'

/** Where a value lies, from 0 to 1. */
type TrackScale = (value: number) => number

const trackScale = ([low, high]: readonly [number, number]): TrackScale => {
  const width = high - low || 1
  return value => (value - low) / width
}

interface SpanProps {
  scale: TrackScale
  ends: readonly [number, number]
  kind: string
}

/** From one value to another. */
const IntervalBar = ({ scale, ends: [low, high], kind }: SpanProps) => (
  <b class={kind} style={{ left: barPlace(scale(low)), width: barPlace(scale(high) - scale(low)) }} />
)

/** A figure with its interval: zero in the middle where it may be below it, dashed what is to be reached, shaded a margin. */
export const Track = ({ track, status }: { track: TrackView; status: string }) => {
  const { ends, value, interval, least, zone } = track
  const scale = trackScale(ends)
  const kind = statusLook(status)
  return (
    <div class="track">
      {least !== null && <i class="least" style={{ left: barPlace(scale(least)) }} />}
      {zone !== null && <IntervalBar scale={scale} ends={zone} kind="zone" />}
      {ends[0] < 0 && <i class="zero" style={{ left: '50%' }} />}
      <IntervalBar scale={scale} ends={interval} kind={`span ${kind}`} />
      <i class={`mean ${kind}`} style={{ left: barPlace(scale(value)) }} />
    </div>
  )
}

interface DotTrackProps {
  row: DotRow
  scale: TrackScale
  colorOf(start: string): string
  text(value: number): string
}

const DotTrack = ({ row: { arm, dots, mean, interval }, scale, colorOf, text }: DotTrackProps) => (
  <div class="track" role="img" aria-label={`${arm}: ${plural(dots.length, 'run')}, mean ${text(mean)}`}>
    {interval && <IntervalBar scale={scale} ends={interval} kind="span arm" />}
    {dots.map(({ value, start, title }, i) => (
      <i
        class="run"
        title={title}
        style={{ left: barPlace(scale(value)), borderColor: `var(--${colorOf(start)})` }}
        key={`${i}-${start}`}
      />
    ))}
    <i class="average" style={{ left: barPlace(scale(mean)) }} />
  </div>
)

/** Every run of each arm as a point on one scale, with the arm's mean and its interval. */
export const ArmDots = ({ dots: { rows, starts, isShare, isYesNo } }: { dots: ArmDotsView }) => {
  const text = isShare ? percent : number
  // Runs of 0 or 1 have the same scale whatever they are.
  const range = isYesNo ? ([-0.05, 1.05] as const) : sharedRange(rows)
  const [low, high] = isYesNo ? ['no', 'yes'] : range.map(end => text(end))
  const colorOf = (start: string) => COLORS[Math.max(0, starts.indexOf(start)) % COLORS.length]
  return (
    <>
      <div class="dots-grid">
        {rows.map(row => (
          <>
            <div title={row.about}>{row.arm}</div>
            <DotTrack row={row} scale={trackScale(range)} colorOf={colorOf} text={text} />
            <div class="num">
              {text(row.mean)}
              {row.interval && <small>{row.interval.map(end => text(end)).join(' to ')}</small>}
            </div>
          </>
        ))}
        <div />
        <div class="ends">
          <span>{low}</span>
          <span>{high}</span>
        </div>
        <div />
      </div>
      <div class="startkey">
        {starts.map(start => (
          <span key={start}>
            <i style={{ borderColor: `var(--${colorOf(start)})` }} />
            cold start {start}
          </span>
        ))}
        <span>
          <b />
          mean, with 95% interval
        </span>
      </div>
    </>
  )
}
