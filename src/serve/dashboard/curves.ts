/** @file The curves of a run: the sections of its report, over as many points as a screen shows. */

import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import { chartSections } from '../../runs/report/charts.ts'
import type { ReportData } from '../../runs/report/data.ts'
import { rubricCharts } from '../../runs/report/rubrics.ts'
import { signsOf } from '../../runs/report/signs.ts'
import type { OpenRun } from './open-run.ts'
import type { CurvesView, Mark, PageSection } from './wire.ts'

/** More points than a chart has pixels say nothing. */
export const MOST_CURVE_POINTS = 1_000

export interface CurvesRequest {
  from?: number
  to?: number
  points?: number
}

const reportData = (run: OpenRun, { from, to, points = 500 }: CurvesRequest) => {
  const { rows, stride } = run.metrics.rows(Math.min(points, MOST_CURVE_POINTS), from, to)
  const low = from ?? Number.NEGATIVE_INFINITY
  const high = to ?? Number.POSITIVE_INFINITY
  const data: ReportData = {
    info: run.info,
    status: 'running',
    metrics: rows,
    evals: run.evals.filter(({ step }) => step >= low && step <= high),
    rollouts: [],
    events: [],
    rubrics: [],
  }
  return { data, stride }
}

const sectionOf = (title: string, about: string | null, charts: ChartSpec[]): PageSection[] =>
  charts.length === 0 ? [] : [{ title, about, size: 'wide', charts }]

/** All curves of a run between two steps; where steps are many, a point is the mean of some. */
export const curvesOf = (run: OpenRun, request: CurvesRequest): CurvesView => {
  const { data, stride } = reportData(run, request)
  const { first, last } = run.metrics
  const sections = chartSections(data).map(
    ({ title, about, size, charts }): PageSection => ({ title, about: about ?? null, size, charts }),
  )
  return {
    first,
    last,
    from: data.metrics[0]?.step ?? first,
    to: data.metrics.at(-1)?.step ?? last,
    stride,
    sections: [...sections, ...sectionOf('Rubrics that evolve', null, rubricCharts(run.rubrics.rows))],
  }
}

/** What monitors said, with how many rollouts show it. */
export const marksOf = (run: OpenRun): Mark[] =>
  signsOf(run.events).map(sign => ({ ...sign, rollouts: run.rollouts.shownBy(sign.monitor, sign.step) }))
