/** @file Tables of test sets: model before and after, baselines in the same rows. */

import { capitalised, percent, percentInterval, plural, points, pointsInterval } from '../../util/format.ts'
import { type Baseline, type EvalRow, type Interval, scoreName } from '../rows.ts'
import { beforeAfter, criterionLabel, evalsOf, type ReportData, setNames } from './data.ts'
import { type Html, html, raw } from './html.ts'
import { pairedDifference } from './paired.ts'
import { scoreWords } from './scores.ts'

interface TableRow {
  name: string
  note?: string
  kind: 'before' | 'after' | 'baseline'
  n?: number
  accuracy?: number
  accuracyInterval?: Interval
  correctAndValid?: number
  correctAndValidInterval?: Interval
  greedyAccuracy?: number
  greedyCorrectAndValid?: number
  source?: EvalRow
}

const onBar = (share: number): number => Math.min(1, Math.max(0, share))

const place = (share: number): Html => raw(`${(onBar(share) * 100).toFixed(2)}%`)

/** A figure with its bar and, on the bar, its 95% interval. */
const meter = (value: number | undefined, interval: Interval | undefined, kind: string): Html => {
  if (value === undefined) return html`<td class="meter none">–</td>`
  const whisker =
    interval &&
    html`<b style="left:${place(interval[0])};width:${place(onBar(interval[1]) - onBar(interval[0]))}"></b>`
  return html`<td class="meter" title="${interval ? `95%: ${percentInterval(interval)}` : ''}"><span>${percent(value)}</span><div class="pbar"><i class="fill ${kind}" style="width:${place(value)}"></i>${whisker}</div></td>`
}

const modelRow = (row: EvalRow, kind: TableRow['kind'], name: string): TableRow => ({
  ...row,
  name,
  kind,
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

/** Baselines of a set, the strongest first. */
const baselinesOf = (data: ReportData, set: string): TableRow[] => {
  const baselines: Record<string, Baseline> = {}
  for (const row of evalsOf(data, set)) Object.assign(baselines, row.baselines)
  const strength = ({ accuracy, correctAndValid }: TableRow) => accuracy ?? correctAndValid ?? 0
  return Object.entries(baselines)
    .map(baselineRow)
    .sort((a, b) => strength(b) - strength(a))
}

/** Baselines that stand beside the model; the weaker ones are folded away. */
const SHOWN_BASELINES = 3

const mainTable = (rows: readonly TableRow[], score: string): Html => {
  const greedy = rows.some(row => row.greedyAccuracy !== undefined || row.greedyCorrectAndValid !== undefined)
  const whole = rows.some(row => row.correctAndValid !== undefined)
  return html`<div class="scroll"><table><thead><tr><th></th>${whole && html`<th class="wide">Correct and valid</th>`}<th class="wide">${score}</th>${
    greedy &&
    html`${whole && html`<th class="num">Greedy: correct and valid</th>`}<th class="num">Greedy: ${score}</th>`
  }<th class="num">Problems</th></tr></thead><tbody>${rows.map(
    row =>
      html`<tr class="${row.kind}"><th scope="row">${row.name}${row.note && html`<small>${row.note}</small>`}</th>${
        whole && meter(row.correctAndValid, row.correctAndValidInterval, row.kind)
      }${meter(row.accuracy, row.accuracyInterval, row.kind)}${
        greedy &&
        html`${whole && html`<td class="num">${percent(row.greedyCorrectAndValid)}</td>`}<td class="num">${percent(row.greedyAccuracy)}</td>`
      }<td class="num quiet">${row.n ?? '–'}</td></tr>`,
  )}</tbody></table></div>`
}

const intervalTitle = (interval: Interval | undefined): string =>
  interval ? `95%: ${percentInterval(interval)}` : ''

/** What an accuracy hides of a model that favours a label. */
const balanceTable = (rows: readonly TableRow[]): Html => {
  const said = [...new Set(rows.flatMap(row => Object.keys(row.source!.balance!.predicted)))].filter(label =>
    rows.some(row => row.source!.balance!.predicted[label] > 0),
  )
  return html`<div class="scroll"><table><thead><tr><th>Balance</th><th class="num">Macro recall</th><th class="num">Lowest recall</th>${said.map(
    label => html`<th class="num">${label === 'none' ? 'Unreadable' : `Answered ${label}`}</th>`,
  )}<th class="num">True-bias, points</th></tr></thead><tbody>${rows.map(({ name, kind, source }) => {
    const { macroRecall, minClassRecall, predicted, trueBias } = source!.balance!
    return html`<tr class="${kind}"><th scope="row">${name}</th><td class="num">${percent(macroRecall)}</td><td class="num">${percent(minClassRecall)}</td>${said.map(
      label => html`<td class="num">${percent(predicted[label])}</td>`,
    )}<td class="num" title="share of answers True less share of problems True">${trueBias === null ? '–' : points(trueBias)}</td></tr>`
  })}</tbody></table></div>`
}

/** `20 problems`. Runs of earlier versions counted responses; their counts add up to more than the problems. */
const labelCount = (row: EvalRow, label: string): string => {
  const counts = Object.values(row.byLabel ?? {}).map(({ n }) => n)
  const unit = counts.reduce((a, b) => a + b, 0) > row.n ? 'responses' : 'problems'
  const score = row.byLabel?.[label]
  return score ? `${score.n} ${unit}` : ''
}

const detailTable = (data: ReportData, rows: readonly TableRow[]): Html | null => {
  const models = rows.filter(row => row.source !== undefined)
  const labels = [...new Set(models.flatMap(row => Object.keys(row.source!.byLabel ?? {})))]
  const criteria = [...new Set(models.flatMap(row => Object.keys(row.source!.criteria ?? {})))]
  if (labels.length + criteria.length === 0) return null
  const balances = models.filter(row => row.source!.balance !== undefined)
  return html`<details><summary>By label and criterion</summary><div class="scroll"><table><thead><tr><th></th>${labels.map(
    label => html`<th class="num">${label}</th>`,
  )}${criteria.map(id => html`<th class="num">${criterionLabel(data.info, id)}</th>`)}</tr></thead><tbody>${models.map(
    row =>
      html`<tr class="${row.kind}"><th scope="row">${row.name}</th>${labels.map(
        label =>
          html`<td class="num" title="${labelCount(row.source!, label)}">${percent(row.source!.byLabel?.[label]?.accuracy)}</td>`,
      )}${criteria.map(id => html`<td class="num" title="${intervalTitle(row.source!.criteriaIntervals?.[id])}">${percent(row.source!.criteria?.[id])}</td>`)}</tr>`,
  )}</tbody></table></div>${balances.length > 0 && balanceTable(balances)}</details>`
}

/** The changes since the first evaluation, each with the problems that it is over. */
const changesOf = (data: ReportData, set: string): string => {
  const { before, after } = beforeAfter(data, set)
  const parts = (['correctAndValid', 'accuracy'] as const).flatMap(score => {
    const paired = pairedDifference(before, after, score)
    if (paired === null) return []
    const { n, difference, interval } = paired
    return `${scoreWords(score, [after!])} ${percent(paired.before)} → ${percent(paired.after)}, ${points(difference)} points (95%: ${pointsInterval(interval)}; ${n} problems)`
  })
  return parts.length > 0 ? `Paired by problem: ${parts.join('; ')}.` : ''
}

const furtherBaselines = (baselines: readonly TableRow[], score: string): Html | null =>
  baselines.length === 0
    ? null
    : html`<details><summary>${plural(baselines.length, 'weaker baseline')}</summary>${mainTable(baselines, score)}</details>`

/** One block for each test set. */
export const testSetTables = (data: ReportData): Html[] =>
  setNames(data).map(set => {
    const rows = rowsOfSet(data, set)
    const baselines = baselinesOf(data, set)
    const score = capitalised(scoreName(data.evals))
    const shown = evalsOf(data, set).at(-1)
    const how = shown?.samples
      ? `Means over ${plural(shown.samples, 'sample')} a problem${shown.temperature === undefined ? '' : ` at temperature ${shown.temperature}`}.`
      : ''
    return html`<div class="panel set"><h3>${set}</h3><p class="about">${how} ${changesOf(data, set)}</p>${mainTable([...rows, ...baselines.slice(0, SHOWN_BASELINES)], score)}${furtherBaselines(baselines.slice(SHOWN_BASELINES), score)}${detailTable(data, rows)}</div>`
  })
