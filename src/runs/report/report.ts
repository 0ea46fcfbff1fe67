/** @file A run as one HTML file that needs nothing else: no network, no folder beside it. */

import { join, resolve } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { guardWrite } from '../errors.ts'
import { loadReportData, type ReportData } from './data.ts'
import { renderPage } from './page.ts'
import { runPage } from './run-page.ts'

/** The report as HTML. All text of the run is escaped, and the page may run no script but its own. */
export const renderReport = (data: ReportData): string => {
  const page = runPage(data)
  return renderPage(page, `${page.title} – ${data.info.id} – Gradus`)
}

/**
 * Writes `report.html` into a run folder, finished or not, and returns its path.
 * @throws RunError when there is no run or the disk refuses; DataError for a broken file
 * @example
 * const { existsSync } = await import('node:fs')
 * RunFolder.create('runs/first', { config: {} }).close()
 * existsSync(writeReport('runs/first')) // true
 */
export const writeReport = (runDir: string): string => {
  const path = join(resolve(runDir), 'report.html')
  const page = renderReport(loadReportData(runDir))
  guardWrite(path, () => writeFileAtomic(path, page))
  return path
}
