/** @file Figures on a line: intervals, and the runs of arms as dots. */

import { plural } from '../../../util/format.ts'
import { COLORS } from '../bands.ts'
import { type DotRow, sharedRange } from '../dots.ts'
import { barPlace } from './meter.tsx'

/** Where a value lies, from 0 to 1. */
export type TrackScale = (value: number) => number

export const trackScale = (low: number, high: number): TrackScale => {
  const width = high - low || 1
  return value => (value - low) / width
}

interface SpanProps {
  scale: TrackScale
  ends: readonly [number, number]
  kind: string
}

/** From one value to another. */
export const IntervalBar = ({ scale, ends: [low, high], kind }: SpanProps) => (
  <b class={kind} style={{ left: barPlace(scale(low)), width: barPlace(scale(high) - scale(low)) }} />
)

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

interface ArmDotsProps {
  rows: readonly DotRow[]
  /** Cold starts: one colour each. */
  starts: readonly string[]
  /** A figure in its unit. */
  text(value: number): string
  /** In place of a scale on which all fit: its ends, and what is written at them. */
  scale?: { range: readonly [number, number]; ends: readonly [string, string] }
}

/** Every run of each arm as a point on one scale, with the arm's mean and its interval. */
export const ArmDots = ({ rows, starts, text, scale }: ArmDotsProps) => {
  const range = scale?.range ?? sharedRange(rows)
  const [low, high] = scale?.ends ?? [text(range[0]), text(range[1])]
  const colorOf = (start: string) => COLORS[Math.max(0, starts.indexOf(start)) % COLORS.length]
  return (
    <>
      <div class="dots-grid">
        {rows.map(row => (
          <>
            <div title={row.about}>{row.arm}</div>
            <DotTrack row={row} scale={trackScale(...range)} colorOf={colorOf} text={text} />
            <div class="num">
              {text(row.mean)}
              {row.interval && <small>{row.interval.map(text).join(' to ')}</small>}
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
