/** @file Metrics on a line: intervals, the runs of arms as dots, the steps of a sign. */

import type { KindBlock, LineMark } from '../view.ts'
import { barPlace } from './meter.tsx'
import { noted } from './words.tsx'

const Mark = ({ mark: { class: own, at, to, title, href, color } }: { mark: LineMark }) => {
  const style = {
    left: barPlace(at),
    ...(to !== undefined && { width: barPlace(to - at) }),
    ...(color !== undefined && { '--tone': `var(--${color})` }),
  }
  if (href === undefined) return <i class={own} title={title} style={style} />
  return (
    <a class={own} href={href} title={title} aria-label={title} style={style}>
      <i />
    </a>
  )
}

/** @param label what is drawn, in words, where no metric beside it says so */
export const Track = ({ marks, label }: { marks: readonly LineMark[]; label?: string }) => (
  <div class="track" {...(label !== undefined && { role: 'img', 'aria-label': label })}>
    {marks.map((mark, i) => (
      <Mark mark={mark} key={i} />
    ))}
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

type LinesProps = Pick<Extract<KindBlock, { kind: 'lines' }>, 'lines' | 'ends'>

/** Names, what is drawn of them on a line, and metrics; under them the ends of the lines. */
export const Lines = ({ lines, ends }: LinesProps) => (
  <div class="lines">
    {lines.map(({ name, about, marks, label, value, notes = [], below }) => (
      <>
        <div title={about}>{name}</div>
        <Track marks={marks} label={label} />
        <div class="num">{noted(value, ...notes)}</div>
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
