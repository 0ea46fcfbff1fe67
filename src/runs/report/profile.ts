/** @file The rubric profile before and after, as a radar and as bars: SVG and HTML by hand. */

import { percent, points, pointsInterval } from '../../util/format.ts'
import { ownValue } from '../../util/own-value.ts'
import type { CriterionChange, Profile, RunInfo } from './data.ts'
import { criterionLabel, isTax } from './data.ts'
import { type Html, html, part } from './html.ts'
import { Bar } from './parts/meter.tsx'

const SIZE = 340
const RADIUS = 118
const CENTRE = SIZE / 2
const RINGS = [0.25, 0.5, 0.75, 1]

const at = (index: number, count: number, radius: number): [number, number] => {
  const angle = (2 * Math.PI * index) / count - Math.PI / 2
  return [CENTRE + radius * Math.cos(angle), CENTRE + radius * Math.sin(angle)]
}

const outline = (values: readonly number[]): string =>
  values
    .map((value, index) => at(index, values.length, RADIUS * Math.min(1, Math.max(0, value))))
    .map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`)
    .join(' ')

const anchor = (x: number): string => (x < CENTRE - 8 ? 'end' : x > CENTRE + 8 ? 'start' : 'middle')

const spoke = (info: RunInfo, id: string, index: number, count: number): Html => {
  const [x, y] = at(index, count, RADIUS)
  const [labelX, labelY] = at(index, count, RADIUS + 16)
  const name = ownValue(info.criterionNames, id)
  return html`<line class="spoke" x1="${CENTRE}" y1="${CENTRE}" x2="${x.toFixed(1)}" y2="${y.toFixed(1)}"/>
<text x="${labelX.toFixed(1)}" y="${labelY.toFixed(1)}" text-anchor="${anchor(x)}"><tspan class="strong">${id}</tspan>${
    name && name !== id && html`<tspan x="${labelX.toFixed(1)}" dy="14">${name}</tspan>`
  }</text>`
}

/** Radar of scores in [0, 1]; null for fewer than three criteria, which have no area. */
export const radar = (info: RunInfo, profile: Profile): Html | null => {
  const ids = Object.keys(profile.after)
  if (ids.length < 3) return null
  const rings = RINGS.map(ring => html`<polygon class="ring" points="${outline(ids.map(() => ring))}"/>`)
  const before = profile.before
  const spokes = ids.map((id, index) => spoke(info, id, index, ids.length))
  return html`<svg class="radar" viewBox="-66 22 ${SIZE + 132} ${SIZE - 50}" role="img" aria-label="Radar of the criteria before and after; the same figures stand beside it">
${rings}${spokes}
${before && html`<polygon class="shape before" points="${outline(ids.map(id => ownValue(before, id) ?? 0))}"/>`}
<polygon class="shape after" points="${outline(ids.map(id => profile.after[id]))}"/>
${ids.map((id, index) => {
  const [x, y] = at(index, ids.length, RADIUS * Math.min(1, Math.max(0, profile.after[id])))
  return html`<circle class="dot after" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3.5"/>`
})}</svg>`
}

const barRow = (
  label: string,
  before: number | undefined,
  after: number,
  change: CriterionChange | undefined,
): Html => {
  const difference = before === undefined ? '' : points(change?.change ?? after - before)
  return html`<div class="profile-row"><div class="profile-name">${label}${
    change && isTax(change) && html`<span class="chip warning">optimisation tax</span>`
  }</div>
<div class="profile-bars">${before !== undefined && part(Bar, { value: before, kind: 'before' })}${part(Bar, { value: after })}</div>
<div class="profile-figures"><span>${before !== undefined && html`<span class="quiet">${percent(before)} →</span> `}${percent(after)}</span><span class="quiet">${difference}${
    change && html`<small>${pointsInterval(change.interval)}</small>`
  }</span></div></div>`
}

/** The same profile as horizontal bars with figures. */
export const profileBars = (info: RunInfo, profile: Profile): Html =>
  html`<div class="profile">${Object.entries(profile.after).map(([id, after]) =>
    barRow(criterionLabel(info, id), ownValue(profile.before, id), after, ownValue(profile.changes, id)),
  )}</div>`

/** What the intervals are, and what training cost on criteria that it could not see; null before the end of a run. */
export const taxNote = (info: RunInfo, { changes }: Profile): Html | null => {
  if (changes === null) return null
  const unseen = Object.entries(changes).filter(([, { unseen }]) => unseen === true)
  const named = (entries: typeof unseen) => entries.map(([id]) => criterionLabel(info, id)).join(' and ')
  const taxed = unseen.filter(([, change]) => isTax(change))
  const verdict =
    unseen.length === 0
      ? ''
      : taxed.length > 0
        ? ` Training could not see ${named(unseen)} as they are judged here; ${named(taxed)} fell: the optimisation tax.`
        : ` Training could not see ${named(unseen)} as they are judged here; none of them fell beyond chance.`
  return html`<p class="about">Changes in points, paired problem by problem with the start, with 95% intervals.${verdict}</p>`
}
