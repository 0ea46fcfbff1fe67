/** @file Criteria before and after as a radar, in the colours of the bars beside it. */

import type { RadarRow } from '../view.ts'

const SIZE = 340
const RADIUS = 118
const CENTRE = SIZE / 2
const RINGS = [0.25, 0.5, 0.75, 1]

const onRadar = (value: number): number => RADIUS * Math.min(1, Math.max(0, value))

const at = (index: number, count: number, radius: number): string[] => {
  const angle = (2 * Math.PI * index) / count - Math.PI / 2
  return [CENTRE + radius * Math.cos(angle), CENTRE + radius * Math.sin(angle)].map(place => place.toFixed(1))
}

const outline = (values: readonly number[]): string =>
  values.map((value, i) => at(i, values.length, onRadar(value)).join(',')).join(' ')

/** The area of some values, in a colour of the page. */
const Area = ({ values, color, dashes }: { values: readonly number[]; color: string; dashes?: string }) => (
  <polygon
    points={outline(values)}
    fill={`var(--${color})`}
    fill-opacity="0.12"
    stroke={`var(--${color})`}
    stroke-width="2"
    stroke-dasharray={dashes}
  />
)

const anchor = (x: number): string => (x < CENTRE - 8 ? 'end' : x > CENTRE + 8 ? 'start' : 'middle')

const Spoke = ({ row: { id, name }, place, count }: { row: RadarRow; place: number; count: number }) => {
  const [x, y] = at(place, count, RADIUS)
  const [labelX, labelY] = at(place, count, RADIUS + 16)
  return (
    <>
      <line stroke="var(--grid)" x1={CENTRE} y1={CENTRE} x2={x} y2={y} />
      <text x={labelX} y={labelY} text-anchor={anchor(Number(x))}>
        <tspan class="strong">{id}</tspan>
        {name !== null && (
          <tspan x={labelX} dy="14">
            {name}
          </tspan>
        )}
      </text>
    </>
  )
}

/** Scores in [0, 1]; fewer than three criteria have no area. */
export const Radar = ({ rows }: { rows: readonly RadarRow[] }) => (
  <svg
    class="radar"
    viewBox={`-66 22 ${SIZE + 132} ${SIZE - 50}`}
    role="img"
    aria-label="Radar of the criteria before and after; the same metrics stand beside it"
  >
    {RINGS.map(ring => (
      <polygon fill="none" stroke="var(--grid)" points={outline(rows.map(() => ring))} key={ring} />
    ))}
    {rows.map((row, i) => (
      <Spoke row={row} place={i} count={rows.length} key={row.id} />
    ))}
    {rows.some(({ before }) => before !== null) && (
      <Area values={rows.map(({ before }) => before ?? 0)} color="before" dashes="5 4" />
    )}
    <Area values={rows.map(({ after }) => after)} color="c1" />
    {rows.map(({ id, after }, i) => {
      const [x, y] = at(i, rows.length, onRadar(after))
      return <circle fill="var(--c1)" stroke="var(--surface)" cx={x} cy={y} r="3.5" key={id} />
    })}
  </svg>
)
