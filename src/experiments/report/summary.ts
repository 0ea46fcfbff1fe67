/** @file The results of a paper as Markdown: the words and tables of their report, for reading in a repository. */

import { join } from 'node:path'
import { MARKDOWN, pageText } from '../../runs/report/page-text.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import type { PaperResult } from '../results/paper.ts'
import { earlierSection } from './earlier-view.ts'
import { paperView } from './paper-view.ts'

const MORE = 'Curves and every run: report.html, drawn anew by `--recompute --write`.'

/** Everything as one Markdown text. @param folder of the results: those of earlier looks lie beside it */
export const paperSummary = (result: PaperResult, folder = '.'): string =>
  pageText({ ...paperView(result, [earlierSection(result, folder)]), end: [MORE] }, MARKDOWN)

/** Writes `summary.md` beside the results and returns its path. */
export const writePaperSummary = (folder: string, result: PaperResult): string => {
  const path = join(folder, 'summary.md')
  writeFileAtomic(path, paperSummary(result, folder))
  return path
}
