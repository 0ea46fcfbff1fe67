/** @file Any number of runs compared: in groups over seeds, as metrics, as text, and as a page with one curve over another. */

import { renderPage } from '../report/page.ts'
import { pageText, TERMINAL } from '../report/page-text.ts'
import { type ComparedRuns, metricComparisons, scoreComparisons } from './comparisons.ts'
import { type ComparedRun, type GroupedRuns, groupRuns, type RunGroup, runNames } from './groups.ts'
import { comparePage } from './view.ts'

const stepOf = ({ data }: ComparedRun): number => data.metrics.at(-1)?.step ?? 0

const describe = ({ label, runs }: RunGroup, names: ReadonlyMap<string, string>) => {
  const steps = runs.map(stepOf)
  return {
    label,
    runs: runs.map(run => ({
      name: names.get(run.dir)!,
      dir: run.dir,
      seed: run.data.info.seed ?? null,
      status: run.data.status,
      step: stepOf(run),
    })),
    steps: [Math.min(...steps), Math.max(...steps)] as [number, number],
  }
}

/** The metrics of groups of runs. */
export const comparedRuns = ({ groups, settings }: GroupedRuns): ComparedRuns => {
  const dirs = groups.flatMap(({ runs }) => runs.map(({ dir }) => dir))
  const names = runNames(dirs)
  return {
    runs: dirs.length,
    groups: groups.map(group => describe(group, names)),
    scores: scoreComparisons(groups),
    metrics: metricComparisons(groups),
    settings,
  }
}

/**
 * Compares runs. The first group is what others are held against.
 * @param labels as in `groupRuns`
 * @throws RunError where one of the folders is no run; DataError for a broken file
 */
export const compareMany = (
  dirs: readonly string[],
  { labels, title = 'Comparison of runs' }: { labels?: ReadonlyMap<string, string>; title?: string } = {},
): { json: ComparedRuns; readonly text: string; page(): string } => {
  const grouped = groupRuns(dirs, labels)
  const json = comparedRuns(grouped)
  const page = () => comparePage(title, grouped.groups, json)
  return {
    json,
    get text() {
      return pageText(page(), TERMINAL)
    },
    page: () => renderPage(page(), title),
  }
}
