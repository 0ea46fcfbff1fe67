/** @file What pages show of a run that goes on, made by the functions of its report, of as much as a screen shows. */

import type { ReportData, RunTotals } from '../../runs/report/data.ts'
import { pageSections, runPage } from '../../runs/report/run-page.ts'
import type { RunPage } from '../../runs/report/view.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { OpenRun } from './open-run.ts'
import type { CurvesView } from './wire.ts'

/** More points than a chart has pixels say nothing. */
export const MOST_CURVE_POINTS = 1_000
/** Events that a page is sent, the latest, and those that are not folded away. */
const MOST_EVENTS = 300
const SHOWN_EVENTS = 12

export interface CurvesRequest {
  from?: number
  to?: number
  points?: number
}

const totalsOf = ({ metrics }: OpenRun): RunTotals => ({
  steps: metrics.length,
  seconds: metrics.total('time', 'total'),
  rollouts: metrics.total('rollouts'),
  tokens: metrics.total('tokens'),
})

/** A run as its report reads it, but for rollouts; where steps are many, a row of metrics is the mean of some. */
export const thinnedData = (
  run: OpenRun,
  { from, to, points = 500 }: CurvesRequest,
  evals: ReportData['evals'] = run.evals,
): { data: ReportData; stride: number } => {
  const { rows: metrics, stride } = run.metrics.rows(Math.min(points, MOST_CURVE_POINTS), from, to)
  const low = from ?? Number.NEGATIVE_INFINITY
  const high = to ?? Number.POSITIVE_INFINITY
  const data: ReportData = {
    info: run.info,
    status: run.status,
    metrics,
    evals: evals.filter(({ step }) => step >= low && step <= high),
    rollouts: [],
    events: run.events,
    rubrics: run.rubrics.rows,
    ...(stride > 1 && { totals: totalsOf(run) }),
  }
  return { data, stride }
}

/** All curves of a run between two steps; where steps are many, a point is the mean of some. */
export const curvesOf = (run: OpenRun, request: CurvesRequest): CurvesView => {
  const { data, stride } = thinnedData(run, request)
  const { first, last } = run.metrics
  return {
    first,
    last,
    from: data.metrics[0]?.step ?? first,
    to: data.metrics.at(-1)?.step ?? last,
    stride,
    sections: pageSections(data),
  }
}

const whole = new WeakMap<OpenRun, { count: number; evals: EvalRow[] }>()

/** Evaluations, the first and the last on each set with their problems: what is compared pair by pair. */
export const comparedEvals = (run: OpenRun): EvalRow[] => {
  const known = whole.get(run)
  if (known?.count === run.evals.length) return known.evals
  const places = run.evals.map(({ set, step }, at) => ({ set, step, at })).sort((a, b) => a.step - b.step)
  const ends = [...new Set(run.evals.map(({ set }) => set))].flatMap(set => {
    const own = places.filter(place => place.set === set)
    return [own[0].at, own.at(-1)!.at]
  })
  const read = new Map(run.wholeEvals(ends).map((row, i) => [ends[i], row]))
  const evals = run.evals.map((row, i) => read.get(i) ?? row)
  whole.set(run, { count: run.evals.length, evals })
  return evals
}

/** A run's page; its rollouts, settings and those that show signs have pages of their own. */
export const livePage = (run: OpenRun): RunPage => {
  const page = runPage(thinnedData(run, {}, comparedEvals(run)).data)
  const signs = page.signs.map(sign => ({ ...sign, rollouts: run.rollouts.shownBy(sign.monitor, sign.step) }))
  // Of a run that goes on the latest come first.
  const told = run.events
    .filter(({ monitor }) => monitor === undefined)
    .slice(-MOST_EVENTS)
    .reverse()
  const events = { isSerious: false, shown: told.slice(0, SHOWN_EVENTS), more: told.slice(SHOWN_EVENTS) }
  return { ...page, signs, events }
}
