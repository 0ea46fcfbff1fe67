/** @file What a run's own page says beside its curves: how far it is, what monitors said, evaluations, settings. */

import { formatDuration, number } from '../../util/format.ts'
import { marksOf } from './curves.ts'
import type { OpenRun } from './open-run.ts'
import type { RunSummary, RunView } from './wire.ts'

/** Events that a page is sent, the latest. */
const MOST_EVENTS = 300

/** Thresholds of monitors in a run's configuration, by monitor. */
const monitorsOf = (config: unknown): RunView['monitors'] => {
  const monitors = (config as { monitors?: unknown } | null)?.monitors
  if (typeof monitors !== 'object' || monitors === null) return {}
  const found: RunView['monitors'] = {}
  for (const [name, value] of Object.entries(monitors)) {
    if (value === null) found[name] = null
    else if (typeof value === 'object') found[name] = value as Record<string, number>
  }
  return found
}

/** With what a person has changed since. */
const changedMonitors = (run: OpenRun): RunView['monitors'] => {
  const monitors = { ...monitorsOf(run.info.config) }
  for (const { control, title, figures } of run.events)
    if (control === 'threshold' && title !== undefined) monitors[title] = figures ?? null
  return monitors
}

const totals = ({ metrics }: OpenRun): RunView['figures'] => {
  const seconds = metrics.total('time', 'total')
  const figures: [string, number, (value: number) => string][] = [
    ['training time', seconds, formatDuration],
    ['rollouts sampled', metrics.total('rollouts'), value => number(Math.round(value))],
    ['tokens sampled', metrics.total('tokens'), value => number(Math.round(value))],
    ['tokens a second', seconds > 0 ? metrics.total('tokens') / seconds : 0, number],
  ]
  return figures.flatMap(([name, value, format]) => (value > 0 ? [{ name, value: format(value) }] : []))
}

export const runView = (run: OpenRun, summary: RunSummary, rolloutBytes: number): RunView => ({
  run: summary,
  controllable: summary.status === 'running' || summary.status === 'paused',
  config: run.info.config,
  environment: run.info.environment ?? {},
  version: run.info.version ?? null,
  marks: marksOf(run),
  events: run.events.filter(({ monitor }) => monitor === undefined).slice(-MOST_EVENTS),
  evals: run.evals,
  monitors: changedMonitors(run),
  rollouts: {
    kept: run.rollouts.count,
    indexed: run.rollouts.count,
    bytes: rolloutBytes,
    read: run.rollouts.bytes,
  },
  rubricQuestions: run.rubrics.count,
  figures: totals(run),
})
