/** @file A profile as a picture: dots with intervals, one criterion a line. */

import { percent, points, pointsInterval } from '../util/format.ts'
import type { Estimate } from '../util/intervals.ts'
import { type CriterionComparison, type CriterionProfile, isClear } from './profile.ts'
import {
  escapeXml,
  HEADER,
  MARGIN,
  type PictureOptions,
  PLOT_LEFT,
  PLOT_WIDTH,
  pictureHtml,
  pictureSvg,
  shorten,
  x,
} from './share-picture.ts'

export type { PictureOptions } from './share-picture.ts'

type Row = CriterionProfile & Partial<Pick<CriterionComparison, 'against' | 'difference'>>

const LONGEST_LABEL = 34

const dot = (interval: Estimate, y: number, kind: 'main' | 'other'): string => {
  const { estimate, low, high } = interval
  return `<line class="interval ${kind}" x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}"/><circle class="${kind}" cx="${x(estimate)}" cy="${y}" r="4.5"/>`
}

const values = ({ satisfaction, difference, points: worth }: Row, y: number): string => {
  const left = PLOT_LEFT + PLOT_WIDTH + 18
  if (!satisfaction) return `<text class="quiet" x="${left}" y="${y + 4}">no verdicts</text>`
  const value = `<text class="ink" x="${left}" y="${y + 4}">${percent(satisfaction.estimate)}</text>`
  if (!difference)
    return `${value}<text class="quiet small" x="${left + 60}" y="${y + 4}">${percent(satisfaction.low)} to ${percent(satisfaction.high)}</text>`
  const { estimate, low, high } = difference
  // Less of a flaw is a gain.
  const gain = worth !== null && worth < 0 ? -estimate : estimate
  const kind = isClear(difference) ? (gain > 0 ? 'up' : 'down') : 'quiet'
  return `${value}<text class="${kind}" x="${left + 60}" y="${y + 4}">${points(estimate)}</text><text class="quiet small" x="${left + 108}" y="${y + 4}">${pointsInterval([low, high])}</text>`
}

const label = ({ criterion, points }: Row, y: number): string => {
  const penalty = points !== null && points < 0 ? '<tspan class="quiet small"> penalty</tspan>' : ''
  const room = penalty === '' ? LONGEST_LABEL : LONGEST_LABEL - 8
  return `<text class="ink" x="${MARGIN}" y="${y + 4}"><title>${escapeXml(criterion)}</title>${escapeXml(shorten(criterion, room))}${penalty}</text>`
}

const rowOf = (row: Row, y: number): string => {
  const other = row.against?.satisfaction
  const dots = [
    ...(other ? [dot(other, y + 5, 'other')] : []),
    ...(row.satisfaction ? [dot(row.satisfaction, other ? y - 5 : y, 'main')] : []),
  ]
  return [label(row, y), ...dots, values(row, y)].join('\n')
}

/** Rows of a comparison show both models and the paired difference in points. */
export const profileSvg = (rows: readonly Row[], options: PictureOptions): string => {
  const step = options.against === undefined ? 28 : 36
  const body = rows.map((row, index) => rowOf(row, HEADER + index * step + step / 2)).join('\n')
  const note = options.note ?? 'Dots are means over items, lines 95% bootstrap intervals.'
  return pictureSvg(body, HEADER + rows.length * step, { ...options, note })
}

/** The picture in a page of its own. */
export const profileHtml = (rows: readonly Row[], options: PictureOptions): string =>
  pictureHtml(profileSvg(rows, options), options.title)
