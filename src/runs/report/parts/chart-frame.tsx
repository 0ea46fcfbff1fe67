/** @file What stands around a chart: its title, the place of its legend, the place that it is drawn in, and the chart in words. */

import { number, percent } from '../../../util/format.ts'
import { type ChartSpec, movingMean } from '../chart-spec.ts'

const inWords = ({ title, unit, series, over = 'step', smooth = 1 }: ChartSpec): string => {
  const format = unit === 'share' || unit === 'rate' ? percent : number
  const parts = series.map(({ label, kind, values }) => {
    const known = (kind === 'line' ? movingMean(values, smooth) : values).filter(value => value !== null)
    return `${label} from ${format(known[0])} to ${format(known.at(-1))}`
  })
  return `${title} over ${over}s: ${parts.join('; ')}`
}

/** What is inside a chart's `figure`; a script draws into it. */
export const ChartFrame = ({ spec }: { spec: ChartSpec }) => (
  <>
    <figcaption class="row">
      <span class="name">
        {spec.title}
        {spec.about && <small>{spec.about}</small>}
      </span>
      <span class="row key legend" />
    </figcaption>
    <div class="plot" role="img" aria-label={inWords(spec)} />
  </>
)
