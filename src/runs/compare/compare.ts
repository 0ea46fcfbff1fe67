/** @file Any number of runs compared: in groups over seeds, as figures, as text, and as a page with one curve over another. */

import { type ComparedRuns, metricComparisons, scoreComparisons } from './comparisons.ts'
import { type ComparedRun, groupRuns, type RunGroup, runNames } from './groups.ts'
import { overlayPage } from './page.ts'
import { comparisonText } from './text.ts'

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

/**
 * Compares runs. The first group is what others are held against.
 * @param labels as in `groupRuns`
 * @throws RunError where one of the folders is no run; DataError for a broken file
 */
export const compareMany = (
  dirs: readonly string[],
  { labels, title = 'Comparison of runs' }: { labels?: ReadonlyMap<string, string>; title?: string } = {},
): { json: ComparedRuns; text: string; page(): string } => {
  const { groups, settings } = groupRuns(dirs, labels)
  const names = runNames(dirs)
  const json: ComparedRuns = {
    runs: dirs.length,
    groups: groups.map(group => describe(group, names)),
    scores: scoreComparisons(groups),
    metrics: metricComparisons(groups),
    settings,
  }
  return { json, text: comparisonText(json), page: () => overlayPage(title, groups, json) }
}
