/** @file A share as a bar, with what is sure of it marked; with its metric beside it, a cell of a table. */

import { percent } from '../../../util/format.ts'

interface BarProps {
  value: number
  /** Which colour it has. */
  kind?: 'before' | 'after' | 'baseline'
  /** What it is, where no metric stands beside it. */
  label?: string
  /** 95%: drawn as a line over the bar. */
  interval?: readonly [number, number]
  /** Marked on the bar: what chance alone gives. */
  floor?: number | null
}

const onBar = (share: number): number => Math.min(1, Math.max(0, share))

/** A share as a place or a width, in percent, kept on the bar. */
export const barPlace = (share: number): string => `${(100 * onBar(share)).toFixed(2)}%`

export const Bar = ({ value, kind = 'after', label, interval, floor = null }: BarProps) => (
  <span class="pbar" {...(label !== undefined && { role: 'img', 'aria-label': label })}>
    <i class={`fill ${kind}`} style={{ width: barPlace(value) }} />
    {interval && (
      <b style={{ left: barPlace(interval[0]), width: barPlace(onBar(interval[1]) - onBar(interval[0])) }} />
    )}
    {floor !== null && <i class="floor" style={{ left: barPlace(floor) }} />}
  </span>
)

interface MeterProps extends Omit<BarProps, 'value'> {
  value: number | null
  /** In place of percent. */
  text?: string
}

export const Meter = ({ value, text = percent(value), ...bar }: MeterProps) => (
  <span class="meter-cell">
    <span>{text}</span>
    {value !== null && <Bar value={value} {...bar} />}
  </span>
)
