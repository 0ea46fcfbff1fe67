/** @file A paper's report as one file. */

import { join } from 'node:path'
import { chartPage } from '../../runs/report/page.ts'
import { ExperimentFile } from '../../runs/report/parts/experiment-page.tsx'
import { part } from '../../runs/report/render.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import type { FinishedRun } from '../metrics/index.ts'
import type { PaperResult } from '../results/paper.ts'
import { paperCharts } from './curves.ts'
import { probeCharts, profileFigures } from './figures.tsx'
import { paperView } from './paper-view.ts'

const CURVES_ABOUT =
  'Means over cold starts and seeds; bands are 95% intervals of the mean. Drag to zoom, double-click to go back.'

/** The report as HTML, self-contained. */
export const renderPaperReport = (result: PaperResult, runs: readonly FinishedRun[]): string => {
  const page = paperView(result)
  const { registration } = result
  const charts = [...paperCharts(registration, runs), ...probeCharts(registration, runs)]
  const figures = profileFigures(registration, runs)
  const version = result.analysedWith.versions.gradus
  const body = part(ExperimentFile, { page, charts, curvesAbout: CURVES_ABOUT, figures, version })
  return chartPage(`${page.title} – Gradus`, body, charts)
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
