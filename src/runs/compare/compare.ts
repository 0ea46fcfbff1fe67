/** @file Any number of runs compared: in groups over seeds, as metrics, as text, and as a page with one curve over another. */

import { loadReportData } from '../report/data.ts'
import { renderPage } from '../report/page.ts'
import { pageText, TERMINAL } from '../report/page-text.ts'
import { type ComparedRuns, comparedRuns } from './comparisons.ts'
import { groupRuns } from './groups.ts'
import { comparePage } from './view.ts'

/**
 * Compares runs. The first group is what others are held against.
 * @param labels as in `groupRuns`
 * @throws RunError where one of the folders is no run; DataError for a broken file
 */
export const compareMany = (
  dirs: readonly string[],
  { labels, title = 'Comparison of runs' }: { labels?: ReadonlyMap<string, string>; title?: string } = {},
): { json: ComparedRuns; readonly text: string; page(): string } => {
  const runs = dirs.map(dir => ({ dir, data: loadReportData(dir) }))
  const grouped = groupRuns(runs, labels)
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
