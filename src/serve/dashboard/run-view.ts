/** @file What stands over all pages of a run: what it is, how far, thresholds of its monitors. */

import { hasGivenUp } from '../../runs/given-up.ts'
import { runHead } from '../../runs/report/run-page.ts'
import { thinnedData } from './curves.ts'
import type { OpenRun } from './open-run.ts'
import type { RunSummary, RunView } from './wire.ts'

const numbersOf = (values: object): Record<string, number> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'number'))

/** Thresholds of monitors in a run's configuration, by monitor. */
const monitorsOf = (config: unknown): RunView['monitors'] => {
  const monitors = (config as { monitors?: unknown } | null)?.monitors
  if (typeof monitors !== 'object' || monitors === null) return {}
  const found: RunView['monitors'] = {}
  for (const [name, value] of Object.entries(monitors)) {
    if (value === null) found[name] = null
    else if (typeof value === 'object' && name !== 'actions') found[name] = numbersOf(value)
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

/** What monitors did and a request can undo now; whether a raise still stands the run itself knows best. */
const undoableOf = ({ found, events }: OpenRun): RunView['undoable'] => {
  const raised = events.filter(({ action }) => action === 'raise-kl').length
  const undone = events.filter(event => event.undone === 'raise-kl').length
  return [
    ...(hasGivenUp(found.dir) ? (['rollback'] as const) : []),
    ...(raised > undone ? (['raise-kl'] as const) : []),
  ]
}

export const runView = (run: OpenRun, summary: RunSummary): RunView => ({
  run: summary,
  ...runHead(thinnedData(run, {}).data),
  monitors: changedMonitors(run),
  undoable: undoableOf(run),
})
