/** @file What pages show of a run that goes on, made by the functions of its report, of as much as a screen shows. */

import { hasGivenUp } from '../../runs/given-up.ts'
import type { ReportData, RunTotals } from '../../runs/report/data.ts'
import { eventPanel, runHead, runPage } from '../../runs/report/run-page.ts'
import type { MonitorSign } from '../../runs/report/signs.ts'
import type { Block, PageView } from '../../runs/report/view.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { plural } from '../../util/format.ts'
import { isRecord } from '../../util/own-value.ts'
import { runAddress } from './library.ts'
import type { OpenRun } from './open-run.ts'
import type { RunSummary, RunView } from './wire.ts'

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
  { from, to, points = 600 }: CurvesRequest,
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

const SMOOTHINGS = [
  ['', 'as the report'],
  ['1', 'none'],
  ...['5', '15', '51'].map(points => [points, `${points} points`] as const),
] as const

/** Of a run that goes on the latest come first. */
const eventBlock = ({ events }: OpenRun): Block | false => {
  const shown = events
    .filter(({ monitor }) => monitor === undefined)
    .slice(-MOST_EVENTS)
    .reverse()
  return eventPanel('Events', shown.slice(0, SHOWN_EVENTS), shown)
}

/** The rollouts that show a sign, and the curves around it. */
const signLinks = ({ found: { id }, rollouts }: OpenRun, { monitor, step }: MonitorSign): Block => {
  const shown = rollouts.shownBy(monitor, step)
  const text = `${plural(shown, 'rollout')} that ${shown === 1 ? 'shows' : 'show'} it`
  return {
    kind: 'links',
    links: [
      ...(shown > 0 ? [{ text, href: runAddress(id, 'rollouts', { monitor, from: step, to: step }) }] : []),
      { text: 'Steps around it', href: `?from=${Math.max(1, step - 20)}&to=${step + 20}` },
    ],
  }
}

/** A run's page, with curves between two steps; its rollouts and settings have pages of their own. */
export const livePage = (run: OpenRun, request: CurvesRequest): PageView => {
  const data = thinnedData(run, {}, comparedEvals(run)).data
  const { data: curves, stride } = thinnedData(run, request)
  const { first, last } = run.metrics
  const [from, to] = [curves.metrics[0]?.step ?? first, curves.metrics.at(-1)?.step ?? last]
  return runPage(data, {
    curves,
    tools: { smoothings: SMOOTHINGS, steps: { first, last, from, to, stride } },
    events: eventBlock(run),
    signMore: sign => [signLinks(run, sign)],
  })
}

const numbersIn = (value: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, own]) => (typeof own === 'number' ? [[key, own]] : [])),
  )

/** Thresholds of monitors in a run's configuration, by monitor, with what a person has changed since. */
const monitorsOf = ({ info: { config }, events }: OpenRun): RunView['monitors'] => {
  const found: RunView['monitors'] = {}
  const monitors = isRecord(config) && isRecord(config.monitors) ? config.monitors : {}
  for (const [name, value] of Object.entries(monitors)) {
    if (value === null) found[name] = null
    else if (isRecord(value) && name !== 'actions') found[name] = numbersIn(value)
  }
  for (const { control, title, figures } of events)
    if (control === 'threshold' && title !== undefined) found[title] = figures ?? null
  return found
}

/** What monitors did and a request can undo now; whether a raise still stands the run itself knows best. */
const undoableOf = ({ found, events }: OpenRun): RunView['undoable'] => {
  const raised = events.filter(({ action }) => action === 'raise-kl').length
  const undone = events.filter(event => event.undone === 'raise-kl').length
  return [
    ...(hasGivenUp(found.dir) ? (['rollback'] as const) : []),
    ...(raised > undone ? (['raise-kl'] as const) : []),
  ]
}

/** What stands over all pages of a run: what it is, how far, thresholds of its monitors. */
export const runView = (run: OpenRun, summary: RunSummary): RunView => ({
  run: summary,
  ...runHead(thinnedData(run, {}).data),
  monitors: monitorsOf(run),
  undoable: undoableOf(run),
})
