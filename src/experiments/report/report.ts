/** @file The results of a paper as files: their report, and its words and tables as Markdown, for reading in a repository. */

import { join } from 'node:path'
import { renderPage } from '../../runs/report/page.ts'
import { MARKDOWN, pageText } from '../../runs/report/page-text.ts'
import { type PageSection, tableSection } from '../../runs/report/view.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import type { FinishedRun } from '../metrics/index.ts'
import type { MetricChoice } from '../plan/registration.ts'
import { type EarlierLook, earlierLooks } from '../results/earlier.ts'
import type { PaperResult } from '../results/paper.ts'
import { paperCharts } from './curves.ts'
import { probeCharts, profileFigures } from './figures.ts'
import { intervalText } from './notes.ts'
import { paperView } from './paper-view.ts'

const EARLIER_ABOUT =
  'These claims were left open by earlier results. Here they are decided by the runs of this experiment alone, with p multiplied by the looks; the earlier one had the whole 5%, so over both the error is up to 7.5%. All pairs together are for reading and decide nothing.'

const effectText = (metric: MetricChoice, found: EarlierLook['comparisons'][number]['earlier']): string =>
  found === null ? '–' : `${intervalText(metric, found.difference, found.interval)}, ${found.pairs} pairs`

/** Earlier looks at claims: what they found, and all pairs together. False where no claim names any. */
const earlierSection = ({ claims, registration }: PaperResult, folder: string): PageSection | false => {
  const rows = claims.flatMap(own =>
    earlierLooks(folder, own, registration.arms).flatMap(({ results, claim: id, status, comparisons }) => [
      [own.claim.id, `${results}/${id}`, '', '', status ?? 'not there'],
      ...comparisons.map(({ name, earlier, together }) => [
        ...['', name, effectText(own.claim.metric, earlier), effectText(own.claim.metric, together), ''],
      ]),
    ]),
  )
  const head = ['Claim', 'Earlier', 'Difference then', 'All pairs together', 'Status then']
  return rows.length > 0 && tableSection('Looked at before', EARLIER_ABOUT, { text: true, head, rows })
}

const CURVES_ABOUT =
  'Means over cold starts and seeds; bands are 95% intervals of the mean. Drag to zoom, double-click to go back.'

/** The report as HTML, self-contained. @param folder of the results: those of earlier looks lie beside it */
export const renderPaperReport = (
  result: PaperResult,
  runs: readonly FinishedRun[],
  folder = '.',
): string => {
  const { registration } = result
  const charts = [...paperCharts(registration, runs), ...probeCharts(registration, runs)]
  const figures = profileFigures(registration, runs)
  const page = paperView(result, [
    earlierSection(result, folder),
    charts.length > 0 && {
      ...{ title: 'Curves of the arms', about: CURVES_ABOUT, blocks: [{ kind: 'charts', charts }] },
    },
    figures.length > 0 && { title: 'Figures', blocks: [{ kind: 'stack', blocks: figures }] },
  ])
  return renderPage(page, `${page.title} – Gradus`)
}

const MORE = 'Curves and every run: report.html, drawn anew by `--recompute --write`.'

/** Everything as one Markdown text. @param folder of the results: those of earlier looks lie beside it */
export const paperSummary = (result: PaperResult, folder = '.'): string =>
  pageText({ ...paperView(result, [earlierSection(result, folder)]), end: [MORE] }, MARKDOWN)

/** Writes `report.html` beside the results and returns its path. */
export const writePaperReport = (
  folder: string,
  result: PaperResult,
  runs: readonly FinishedRun[],
): string => {
  const path = join(folder, 'report.html')
  writeFileAtomic(path, renderPaperReport(result, runs, folder))
  return path
}

/** Writes `summary.md` beside the results. */
export const writePaperSummary = (folder: string, result: PaperResult): void =>
  writeFileAtomic(join(folder, 'summary.md'), paperSummary(result, folder))
