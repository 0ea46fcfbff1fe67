/** @file Test problems by where they come from: scores, criteria and gold labels of each source. */

import { capitalised, percent, percentInterval } from '../../util/format.ts'
import { ownValue } from '../../util/own-value.ts'
import type { EvalRow, SourceScore } from '../rows.ts'
import { describeScore } from '../scores.ts'
import { criterionLabel, type ReportData } from './data.ts'
import { type Html, html } from './html.ts'

/** A model's row of the table above this one. */
export interface ModelRow {
  name: string
  kind: string
  evaluation: EvalRow
}

interface Column {
  title: string
  about(source: SourceScore): string
  value(source: SourceScore): number | null | undefined
}

const columnsOf = (data: ReportData, rows: readonly ModelRow[], headline: readonly string[]): Column[] => {
  const evals = rows.map(({ evaluation }) => evaluation)
  const sources = evals.flatMap(({ bySource = {} }) => Object.values(bySource))
  const labels = [...new Set(sources.flatMap(({ byLabel = {} }) => Object.keys(byLabel)))]
  const criteria = [...new Set(sources.flatMap(({ criteria = {} }) => Object.keys(criteria)))]
  return [
    ...headline.map(score => ({
      title: capitalised(describeScore(score, evals)),
      about: ({ scores }: SourceScore) =>
        scores[score]?.interval ? `95%: ${percentInterval(scores[score].interval)}` : '',
      value: ({ scores }: SourceScore) => scores[score]?.value,
    })),
    ...labels.map(label => ({
      title: `Answers to ${label}`,
      about: ({ byLabel }: SourceScore) => (byLabel?.[label] ? `${byLabel[label].n} problems` : ''),
      value: ({ byLabel }: SourceScore) => byLabel?.[label]?.scores.accuracy,
    })),
    ...criteria.map(id => ({
      title: criterionLabel(data.info, id),
      about: () => '',
      value: (source: SourceScore) => ownValue(source.criteria, id),
    })),
  ]
}

/** A row for each model and source; null where problems come from one source. */
export const sourceTable = (
  data: ReportData,
  rows: readonly ModelRow[],
  headline: readonly string[],
): Html | null => {
  const names = [...new Set(rows.flatMap(({ evaluation }) => Object.keys(evaluation.bySource ?? {})))]
  if (names.length === 0) return null
  const columns = columnsOf(data, rows, headline)
  const lines = names.flatMap(source =>
    rows.flatMap(({ name, kind, evaluation }) => {
      const own = evaluation.bySource?.[source]
      return own ? [{ source, name, kind, own }] : []
    }),
  )
  return html`<div class="scroll figures-place"><table class="figure-table"><thead><tr><th>By source</th><th></th>${columns.map(
    ({ title }) => html`<th class="num">${title}</th>`,
  )}<th class="num">Problems</th></tr></thead><tbody>${lines.map(
    ({ source, name, kind, own }) =>
      html`<tr class="${kind}"><th scope="row">${source}</th><td>${name}</td>${columns.map(
        ({ title, about, value }) =>
          html`<td class="num" data-name="${title}" title="${about(own)}">${percent(value(own))}</td>`,
      )}<td class="num quiet" data-name="Problems">${own.n}</td></tr>`,
  )}</tbody></table></div>`
}
