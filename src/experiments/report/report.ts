/** @file A paper's report as one file. */

import { join } from 'node:path'
import { chartPage } from '../../runs/report/page.ts'
import { part } from '../../runs/report/render.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import type { FinishedRun } from '../metrics/index.ts'
import type { PaperResult } from '../results/paper.ts'
import { paperCharts } from './curves.ts'
import { paperFigures } from './figures.tsx'
import { PaperPage } from './paper-page.tsx'

/** The report as HTML, self-contained. */
export const renderPaperReport = (result: PaperResult, runs: readonly FinishedRun[]): string => {
  const charts = paperCharts(result.registration, runs)
  const figures = paperFigures(result.registration, runs)
  return chartPage(
    `${result.registration.title} – Gradus`,
    part(PaperPage, { result, charts, figures }),
    charts,
  )
}

/** Writes `report.html` beside the results and returns its path. */
export const writePaperReport = (
  folder: string,
  result: PaperResult,
  runs: readonly FinishedRun[],
): string => {
  const path = join(folder, 'report.html')
  writeFileAtomic(path, renderPaperReport(result, runs))
  return path
}
