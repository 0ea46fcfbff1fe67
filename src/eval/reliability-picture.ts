/** @file Reliability as a picture: how often yes was right, beside how likely it was said to be; before and after calibration. */

import { percent } from '../util/format.ts'
import type { Reliability } from './calibration.ts'
import { HEADER, PLOT_LEFT, PLOT_WIDTH, pictureSvg, x } from './share-picture.ts'

const BOTTOM = HEADER + PLOT_WIDTH

const y = (share: number): string => (BOTTOM - PLOT_WIDTH * share).toFixed(1)

const scale = [0, 0.25, 0.5, 0.75, 1]
  .map(
    share =>
      `<line class="grid" x1="${x(0)}" x2="${x(1)}" y1="${y(share)}" y2="${y(share)}"/><text class="quiet small" text-anchor="end" x="${PLOT_LEFT - 10}" y="${y(share)}">${100 * share}%</text>`,
  )
  .join('\n')

/** A dot a bin, as large as it has rows. */
const dots = ({ bins }: Reliability, kind: 'main' | 'other'): string => {
  const all = bins.reduce((sum, { rows }) => sum + rows, 0)
  const line = bins.map(({ said, true: share }) => `${x(said)},${y(share)}`).join(' ')
  const circles = bins.map(
    ({ rows, said, true: share }) =>
      `<circle class="${kind}" cx="${x(said)}" cy="${y(share)}" r="${(3 + 15 * Math.sqrt(rows / all)).toFixed(1)}" fill-opacity=".45"><title>${rows} rows: said ${percent(said)}, true ${percent(share)}</title></circle>`,
  )
  return `<polyline class="${kind}" points="${line}" style="fill:none"/>${circles.join('')}`
}

/** Of likelihoods as they are and calibrated; on the diagonal what is said is how often it is true. */
export const reliabilitySvg = (raw: Reliability, calibrated: Reliability | null, title: string): string =>
  pictureSvg(
    [
      scale,
      `<line class="grid" x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}"/>`,
      dots(raw, calibrated ? 'other' : 'main'),
      ...(calibrated ? [dots(calibrated, 'main')] : []),
    ].join('\n'),
    BOTTOM,
    {
      title,
      ...(calibrated
        ? { name: 'calibrated on the other responses', against: 'as it is' }
        : { name: 'as it is' }),
      note: 'From left to right how likely yes was said to be, upwards how often it was true. Dots are as large as bins have verdicts.',
    },
  )
