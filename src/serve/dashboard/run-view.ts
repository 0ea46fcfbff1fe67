/** @file What stands over all pages of a run: what it is, how far, thresholds of its monitors. */

import { hasGivenUp } from '../../runs/given-up.ts'
import { runHead } from '../../runs/report/run-page.ts'
import { isRecord } from '../../util/own-value.ts'
import { thinnedData } from './curves.ts'
import type { OpenRun } from './open-run.ts'
import type { RunSummary, RunView } from './wire.ts'

/** Thresholds of monitors in a run's configuration, by monitor, with what a person has changed since. */
const monitorsOf = ({ info: { config }, events }: OpenRun): RunView['monitors'] => {
  const found: RunView['monitors'] = {}
  const monitors = isRecord(config) && isRecord(config.monitors) ? config.monitors : {}
  for (const [name, value] of Object.entries(monitors)) {
    if (value === null) found[name] = null
    else if (isRecord(value) && name !== 'actions')
      found[name] = Object.fromEntries(Object.entries(value).filter(isNumberEntry))
  }
  for (const { control, title, figures } of events)
    if (control === 'threshold' && title !== undefined) found[title] = figures ?? null
  return found
}

const isNumberEntry = (entry: [string, unknown]): entry is [string, number] => typeof entry[1] === 'number'

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
  monitors: monitorsOf(run),
  undoable: undoableOf(run),
})
