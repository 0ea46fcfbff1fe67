/** @file What a run's own pages say beside its curves: what its report has, evaluations, thresholds of monitors. */

import { livePage } from './curves.ts'
import type { OpenRun } from './open-run.ts'
import type { RunSummary, RunView } from './wire.ts'

/** Thresholds of monitors in a run's configuration, by monitor. */
const monitorsOf = (config: unknown): RunView['monitors'] => {
  const monitors = (config as { monitors?: unknown } | null)?.monitors ?? {}
  return Object.fromEntries(Object.entries(monitors).filter(([, value]) => typeof value === 'object'))
}

/** With what a person has changed since. */
const changedMonitors = (run: OpenRun): RunView['monitors'] => {
  const monitors = { ...monitorsOf(run.info.config) }
  for (const { control, title, figures } of run.events)
    if (control === 'threshold' && title !== undefined) monitors[title] = figures ?? null
  return monitors
}

export const runView = (run: OpenRun, summary: RunSummary): RunView => ({
  run: summary,
  page: livePage(run),
  sets: [...new Set(run.evals.map(({ set }) => set))],
  monitors: changedMonitors(run),
})
