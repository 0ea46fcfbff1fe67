/** @file Tables of test sets: model before and after, baselines in the same rows. */

import { capitalised, percent, percentInterval, plural, points, pointsInterval } from '../../util/format.ts'
import { ownValue } from '../../util/own-value.ts'
import type { Baseline, EvalRow, Interval } from '../rows.ts'
import { describeScore, greedyName, headlineScores, missingVerdicts, scoreNamesOf } from '../scores.ts'
import { beforeAfter, criterionLabel, evalsOf, type ReportData, setNames } from './data.ts'
import { type Html, html, part } from './html.ts'
import { pairedDifference } from './paired.ts'
import { type ScoreLine, ScoreTable } from './parts/score-table.tsx'
import { type ModelRow, sourceTable } from './sources.ts'

interface TableRow extends ScoreLine {
  source?: EvalRow
}

const intervalTitle = (interval: Interval | undefined): string =>
  interval ? `95%: ${percentInterval(interval)}` : ''

const modelRow = (row: EvalRow, kind: TableRow['kind'], name: string): TableRow => ({
  name,
  kind,
  n: row.n,
  scores: row.scores,
  source: row,
})

const baselineRow = ([name, baseline]: [string, Baseline]): TableRow => ({
  ...baseline,
  name,
  kind: 'baseline',
})

const rowsOfSet = (data: ReportData, set: string): TableRow[] => {
  const { before, after } = beforeAfter(data, set)
  const rows: TableRow[] = []
  if (before) rows.push(modelRow(before, 'before', before.step === 0 ? 'Before' : `Step ${before.step}`))
  if (after) rows.push(modelRow(after, 'after', before ? `After ${after.step} steps` : `Step ${after.step}`))
  return rows
}

/** Baselines of a set, the strongest first, by the first of the headline scores that they have. */
const baselinesOf = (data: ReportData, set: string, headline: readonly string[]): TableRow[] => {
  const baselines: Record<string, Baseline> = {}
  for (const row of evalsOf(data, set)) Object.assign(baselines, row.baselines)
  const strength = ({ scores }: TableRow) => scores[headline.find(score => score in scores) ?? '']?.value ?? 0
  return Object.entries(baselines)
    .map(baselineRow)
    .sort((a, b) => strength(b) - strength(a))
}

/** Baselines that stand beside the model; the weaker ones are folded away. */
const SHOWN_BASELINES = 3

/** The headline scores with bars, then as decoded greedily. */
const mainTable = (lines: readonly TableRow[], bars: readonly string[], evals: readonly EvalRow[]): Html => {
  const others = bars.map(greedyName).filter(score => lines.some(({ scores }) => score in scores))
  return html`<div class="scroll figures-place">${part(ScoreTable, { lines, bars, others, evals })}</div>`
}

const answered = (label: string): string => (label === 'none' ? 'Unreadable' : `Answered ${label}`)

/** What an accuracy hides of a model that favours a label. */
const balanceTable = (rows: readonly TableRow[]): Html => {
  const said = [...new Set(rows.flatMap(row => Object.keys(row.source!.balance!.predicted)))].filter(label =>
    rows.some(row => row.source!.balance!.predicted[label] > 0),
  )
  const cell = (title: string, text: string, about = '') =>
    html`<td class="num" data-name="${title}" title="${about}">${text}</td>`
  return html`<div class="scroll figures-place"><table class="figure-table"><thead><tr><th>Balance</th><th class="num">Macro recall</th><th class="num">Lowest recall</th>${said.map(
    label => html`<th class="num">${answered(label)}</th>`,
  )}<th class="num">True-bias, points</th></tr></thead><tbody>${rows.map(({ name, kind, source }) => {
    const { macroRecall, minClassRecall, predicted, trueBias } = source!.balance!
    return html`<tr class="${kind}"><th scope="row">${name}</th>${cell('Macro recall', percent(macroRecall))}${cell('Lowest recall', percent(minClassRecall))}${said.map(
      label => cell(answered(label), percent(predicted[label])),
    )}${cell('True-bias, points', trueBias === null ? '–' : points(trueBias), 'share of answers True less share of problems True')}</tr>`
  })}</tbody></table></div>`
}

/** `20 problems`. Runs of earlier versions counted responses; their counts add up to more than the problems. */
const labelCount = (row: EvalRow, label: string): string => {
  const counts = Object.values(row.byLabel ?? {}).map(({ n }) => n)
  const unit = counts.reduce((a, b) => a + b, 0) > row.n ? 'responses' : 'problems'
  const score = row.byLabel?.[label]
  return score ? `${score.n} ${unit}` : ''
}

interface DetailColumn {
  title: string
  /** What the figure is over, or its interval. */
  about(row: EvalRow): string
  value(row: EvalRow): number | null | undefined
}

/** Scores beside the headline ones. */
const furtherColumns = (evals: readonly EvalRow[], headline: readonly string[]): DetailColumn[] => {
  const shown = new Set([...headline, ...headline.map(greedyName)])
  return scoreNamesOf(evals)
    .filter(score => !shown.has(score))
    .map(score => ({
      title: capitalised(describeScore(score, evals)),
      about: row => intervalTitle(row.scores[score]?.interval),
      value: row => row.scores[score]?.value,
    }))
}

const labelColumns = (evals: readonly EvalRow[], headline: readonly string[]): DetailColumn[] => {
  const labels = [...new Set(evals.flatMap(row => Object.keys(row.byLabel ?? {})))]
  const scores = headline.filter(score =>
    evals.some(({ byLabel = {} }) => Object.values(byLabel).some(label => score in label.scores)),
  )
  return labels.flatMap(label =>
    scores.map(score => ({
      title: scores.length > 1 ? `${label}: ${describeScore(score, evals)}` : label,
      about: (row: EvalRow) => labelCount(row, label),
      value: (row: EvalRow) => row.byLabel?.[label]?.scores[score],
    })),
  )
}

const criterionColumns = (data: ReportData, evals: readonly EvalRow[]): DetailColumn[] =>
  [...new Set(evals.flatMap(row => Object.keys(row.criteria ?? {})))].map(id => ({
    title: criterionLabel(data.info, id),
    about: row => intervalTitle(ownValue(row.criteriaIntervals, id)),
    value: row => ownValue(row.criteria, id),
  }))

const detailTable = (
  data: ReportData,
  rows: readonly TableRow[],
  headline: readonly string[],
): Html | null => {
  const evals = rows.flatMap(({ source }) => source ?? [])
  const columns = [
    ...furtherColumns(evals, headline),
    ...labelColumns(evals, headline),
    ...criterionColumns(data, evals),
  ]
  if (columns.length === 0) return null
  const balances = rows.filter(row => row.source?.balance !== undefined)
  return html`<details><summary>Further scores, labels and criteria</summary><div class="scroll figures-place"><table class="figure-table"><thead><tr><th></th>${columns.map(
    ({ title }) => html`<th class="num">${title}</th>`,
  )}</tr></thead><tbody>${rows.flatMap(({ source, kind, name }) =>
    source === undefined
      ? []
      : html`<tr class="${kind}"><th scope="row">${name}</th>${columns.map(
          ({ title, about, value }) =>
            html`<td class="num" data-name="${title}" title="${about(source)}">${percent(value(source))}</td>`,
        )}</tr>`,
  )}</tbody></table></div>${balances.length > 0 && balanceTable(balances)}</details>`
}

/** The changes since the first evaluation, each with the problems that it is over. */
const changesOf = (data: ReportData, set: string): string => {
  const { before, after } = beforeAfter(data, set)
  const parts = headlineScores(after ? [after] : []).flatMap(score => {
    const paired = pairedDifference(before, after, score)
    if (paired === null) return []
    const { n, difference, interval } = paired
    return `${describeScore(score, [after!])} ${percent(paired.before)} → ${percent(paired.after)}, ${points(difference)} points (95%: ${pointsInterval(interval)}; ${n} problems)`
  })
  return parts.length > 0 ? `Paired by problem: ${parts.join('; ')}.` : ''
}

/** What share of the verdicts the graders failed to give, by evaluation. */
const missingOf = (rows: readonly TableRow[]): string => {
  const parts = rows.flatMap(({ name, source }) => {
    const missing = source && missingVerdicts(source)
    return missing ? [`${name.toLowerCase()} ${missing}`] : []
  })
  return parts.length > 0 ? `Graders failed on some verdicts: ${parts.join(', ')}.` : ''
}

const furtherBaselines = (
  baselines: readonly TableRow[],
  headline: readonly string[],
  evals: readonly EvalRow[],
): Html | null =>
  baselines.length === 0
    ? null
    : html`<details><summary>${plural(baselines.length, 'weaker baseline')}</summary>${mainTable(baselines, headline, evals)}</details>`

const modelRows = (rows: readonly TableRow[]): ModelRow[] =>
  rows.flatMap(({ name, kind, source }) => (source ? [{ name, kind, evaluation: source }] : []))

/** One block for each test set. */
export const testSetTables = (data: ReportData): Html[] =>
  setNames(data).map(set => {
    const evals = evalsOf(data, set)
    const headline = headlineScores(evals)
    const rows = rowsOfSet(data, set)
    const baselines = baselinesOf(data, set, headline)
    const shown = evals.at(-1)
    const how = shown?.samples
      ? `Means over ${plural(shown.samples, 'sample')} a problem${shown.temperature === undefined ? '' : ` at temperature ${shown.temperature}`}.`
      : ''
    return html`<div class="panel set"><h3>${set}</h3><p class="about">${how} ${changesOf(data, set)} ${missingOf(rows)}</p>${mainTable([...rows, ...baselines.slice(0, SHOWN_BASELINES)], headline, evals)}${furtherBaselines(baselines.slice(SHOWN_BASELINES), headline, evals)}${sourceTable(data, modelRows(rows), headline)}${detailTable(data, rows, headline)}</div>`
  })
