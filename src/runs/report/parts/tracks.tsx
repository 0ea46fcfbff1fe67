/** @file Figures on a line: intervals, and the runs of arms as dots. */

import type { ComponentChildren } from 'preact'
import { number, percent, plural } from '../../../util/format.ts'
import { COLORS } from '../bands.ts'
import { type DotRow, sharedRange } from '../dots.ts'
import type { ArmDotsView, TrackView } from '../view.ts'
import { statusLook } from './claim.tsx'
import { barPlace } from './meter.tsx'
import { noted } from './table.tsx'

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
    <>
      {least !== null && <i class="least" style={{ left: barPlace(scale(least)) }} />}
      {zone !== null && <IntervalBar scale={scale} ends={zone} kind="zone" />}
      {ends[0] < 0 && <i class="zero" style={{ left: '50%' }} />}
      <IntervalBar scale={scale} ends={interval} kind={`span ${kind}`} />
      <i class={`mean ${kind}`} style={{ left: barPlace(scale(value)) }} />
    </>
  )
}

interface ArmTrackProps {
  row: DotRow
  scale: TrackScale
  colorOf(start: string): string
  text(value: number): string
}

const ArmTrack = ({ row: { arm, dots, mean, interval }, scale, colorOf, text }: ArmTrackProps) => (
  <div role="img" aria-label={`${arm}: ${plural(dots.length, 'run')}, mean ${text(mean)}`}>
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

/** What colours stand for: names of colours of the page, with their words. */
export const ColorKey = ({ colors }: { colors: readonly (readonly [color: string, words: string])[] }) => (
  <div class="row key">
    {colors.map(([color, words]) => (
      <span key={words}>
        <i style={{ background: `var(--${color})` }} />
        {words}
      </span>
    ))}
  </div>
)

interface FigureLine {
  name: string
  /** What who points at the name is told. */
  about?: string
  track: ComponentChildren
  figure?: ComponentChildren
  below?: string
}

/** Names, what is drawn of them on a line, and figures; under them the ends of the lines. */
export const Lines = ({ lines, ends }: { lines: readonly FigureLine[]; ends?: readonly string[] }) => (
  <div class="lines">
    {lines.map(({ name, about, track, figure, below }) => (
      <>
        <div title={about}>{name}</div>
        <div class="track">{track}</div>
        <div class="num">{figure}</div>
        {below && <small>{below}</small>}
      </>
    ))}
    {ends && (
      <small class="ends">
        <span>{ends[0]}</span>
        <span>{ends[1]}</span>
      </small>
    )}
  </div>
)

/** Every run of each arm as a point on one scale, with the arm's mean and its interval. */
export const ArmDots = ({ dots: { rows, starts, isShare, isYesNo } }: { dots: ArmDotsView }) => {
  const text = isShare ? percent : number
  // Runs of 0 or 1 have the same scale whatever they are.
  const range = isYesNo ? ([-0.05, 1.05] as const) : sharedRange(rows)
  const colorOf = (start: string) => COLORS[Math.max(0, starts.indexOf(start)) % COLORS.length]
  return (
    <>
      <Lines
        lines={rows.map(row => ({
          name: row.arm,
          about: row.about,
          track: <ArmTrack row={row} scale={trackScale(range)} colorOf={colorOf} text={text} />,
          figure: noted(text(row.mean), row.interval?.map(end => text(end)).join(' to ')),
        }))}
        ends={isYesNo ? ['no', 'yes'] : range.map(end => text(end))}
      />
      <ColorKey
        colors={[
          ...starts.map(start => [colorOf(start), `cold start ${start}`] as const),
          ['ink', 'mean, with 95% interval'],
        ]}
      />
    </>
  )
}
