/** @file A test set's tables: model before and after, baselines in the same rows; scores of sources, labels and criteria. */

import {
  capitalised,
  joinKnown,
  NONE,
  percent,
  percentInterval,
  plural,
  points,
  pointsInterval,
} from '../../util/format.ts'
import { ownValue } from '../../util/own-value.ts'
import type { Baseline, CriterionChange, EvalRow, Interval, Scores } from '../rows.ts'
import { describeScore, greedyName, headlineScores, missingVerdicts, scoreNamesOf } from '../scores.ts'
import { beforeAfter, criterionLabel, evalsOf, isTax, type ReportData, setNames } from './data.ts'
import { pairedDifference } from './paired.ts'
import { type Block, foldBlock, type ScoreLine, type TableCell, type TableView } from './view.ts'

interface ScoreColumns {
  bars: readonly string[]
  others: readonly string[]
  evals: readonly Omit<EvalRow, 'items'>[]
  /** What the lines are, over their names. */
  head?: string
}

/** A line of scores with the evaluation that it is of; of a baseline none. */
interface SourcedLine extends ScoreLine {
  source?: EvalRow
}

const intervalTitle = (interval: Interval | undefined): string =>
  interval ? `95%: ${percentInterval(interval)}` : ''

const rowsOfSet = (data: ReportData, set: string): SourcedLine[] => {
  const { before, after } = beforeAfter(data, set)
  const modelRow = (row: EvalRow | undefined, kind: ScoreLine['kind'], name: string): SourcedLine[] =>
    row ? [{ name, kind, n: row.n, scores: row.scores, source: row }] : []
  return [
    ...modelRow(before, 'before', before?.step === 0 ? 'Before' : `Step ${before?.step}`),
    ...modelRow(after, 'after', before ? `After ${plural(after!.step, 'step')}` : `Step ${after?.step}`),
  ]
}

/** Baselines of a set, the strongest first, by the first of the headline scores that they have. */
const baselinesOf = (data: ReportData, set: string, headline: readonly string[]): ScoreLine[] => {
  const baselines: Record<string, Baseline> = {}
  for (const row of evalsOf(data, set)) Object.assign(baselines, row.baselines)
  const strength = ({ scores }: ScoreLine) =>
    scores[headline.find(score => score in scores) ?? '']?.value ?? 0
  return Object.entries(baselines)
    .map(([name, baseline]): ScoreLine => ({ ...baseline, name, kind: 'baseline' }))
    .sort((a, b) => strength(b) - strength(a))
}

/** Baselines that stand beside the model; the weaker ones are folded away. */
const SHOWN_BASELINES = 3

const answered = (label: string): string => (label === 'none' ? 'Unreadable' : `Answered ${label}`)

const balanceTable = (rows: readonly SourcedLine[]): TableView | null => {
  const balances = rows.flatMap(({ name, kind, source }) =>
    source?.balance === undefined ? [] : [{ name, kind, balance: source.balance }],
  )
  if (balances.length === 0) return null
  const said = [...new Set(balances.flatMap(({ balance }) => Object.keys(balance.predicted)))].filter(label =>
    balances.some(({ balance }) => balance.predicted[label] > 0),
  )
  return {
    head: ['Balance', 'Macro recall', 'Lowest recall', ...said.map(answered), 'True-bias, points'],
    rows: balances.map(({ name, kind, balance: { macroRecall, minClassRecall, predicted, trueBias } }) => [
      { text: name, row: kind },
      ...[macroRecall, minClassRecall, ...said.map(label => predicted[label])].map(percent),
      {
        text: trueBias === null ? NONE : points(trueBias),
        title: 'share of answers True less share of problems True',
      },
    ]),
  }
}

/** What columns are read from: an evaluation, or what it says of one source. */
type Scored = Pick<EvalRow, 'scores' | 'byLabel' | 'criteria' | 'criteriaIntervals' | 'tax'>

interface DetailColumn {
  title: string
  /** What the metric is over, or its interval. */
  about(row: Scored): string
  value(row: Scored): number | null | undefined
  /** What stands below the metric. */
  notes?(row: Scored): string[] | undefined
}

const cellsOf = (columns: readonly DetailColumn[], row: Scored) =>
  columns.map(({ about, value, notes }) => ({
    ...{ text: percent(value(row)), title: about(row) || undefined, notes: notes?.(row) },
  }))

const namesIn = (groups: readonly (object | undefined)[]): string[] => [
  ...new Set(groups.flatMap(group => Object.keys(group ?? {}))),
]

const scoreColumns = (scores: readonly string[], evals: readonly EvalRow[]): DetailColumn[] =>
  scores.map(score => ({
    title: capitalised(describeScore(score, evals)),
    about: row => intervalTitle(row.scores[score]?.interval),
    value: row => row.scores[score]?.value,
  }))

const labelColumns = (
  rows: readonly Scored[],
  scores: readonly string[],
  titleOf: (label: string, score: string) => string,
): DetailColumn[] =>
  namesIn(rows.map(({ byLabel }) => byLabel)).flatMap(label =>
    scores.map(score => ({
      title: titleOf(label, score),
      about: ({ byLabel }: Scored) => (byLabel?.[label] ? `${byLabel[label].n} problems` : ''),
      value: ({ byLabel }: Scored) => byLabel?.[label]?.scores[score],
    })),
  )

/** Since the start, with what training cost on what it could not see. */
const changeNotes = (change: CriterionChange | undefined): string[] | undefined =>
  change && [
    `${points(change.change)} (${pointsInterval(change.interval)})`,
    ...(isTax(change) ? ['optimisation tax'] : []),
  ]

const criterionColumns = (data: ReportData, rows: readonly Scored[]): DetailColumn[] =>
  namesIn(rows.map(({ criteria }) => criteria)).map(id => ({
    title: criterionLabel(data.info, id),
    about: row => intervalTitle(ownValue(row.criteriaIntervals, id)),
    value: row => ownValue(row.criteria, id),
    notes: ({ tax }) => changeNotes(ownValue(tax, id)),
  }))

/** Scores beside the headline ones, labels and criteria. */
const detailTable = (data: ReportData, rows: readonly SourcedLine[], headline: readonly string[]) => {
  const evals = rows.flatMap(({ source }) => source ?? [])
  const shown = new Set([...headline, ...headline.map(greedyName)])
  const further = scoreNamesOf(evals).filter(score => !shown.has(score))
  const labelled = headline.filter(score =>
    evals.some(({ byLabel = {} }) => Object.values(byLabel).some(({ scores }) => score in scores)),
  )
  const columns = [
    ...scoreColumns(further, evals),
    ...labelColumns(evals, labelled, (label, score) =>
      labelled.length > 1 ? `${label}: ${describeScore(score, evals)}` : label,
    ),
    ...criterionColumns(data, evals),
  ]
  if (columns.length === 0) return null
  return {
    head: ['', ...columns.map(({ title }) => title)],
    rows: rows.flatMap(({ source, kind, name }) =>
      source === undefined ? [] : [[{ text: name, row: kind }, ...cellsOf(columns, source)]],
    ),
  }
}

/** A row for each source and model; null where problems come from one source. */
const sourceTable = (data: ReportData, rows: readonly SourcedLine[], headline: readonly string[]) => {
  const evals = rows.flatMap(({ source }) => source ?? [])
  const names = namesIn(evals.map(({ bySource }) => bySource))
  if (names.length === 0) return null
  const sources = evals.flatMap(({ bySource = {} }) => Object.values(bySource))
  const columns = [
    ...scoreColumns(headline, evals),
    ...labelColumns(sources, ['accuracy'], label => `Answers to ${label}`),
    ...criterionColumns(data, sources),
  ]
  return {
    head: ['By source', 'Model', ...columns.map(({ title }) => title), 'Problems'],
    rows: names.flatMap(name =>
      rows.flatMap(({ name: model, kind, source }) => {
        const own = source?.bySource?.[name]
        return own ? [[{ text: name, row: kind }, model, ...cellsOf(columns, own), String(own.n)]] : []
      }),
    ),
  }
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
const missingOf = (rows: readonly SourcedLine[]): string => {
  const parts = rows.flatMap(({ name, source }) => {
    const missing = source && missingVerdicts(source)
    return missing ? [`${name.toLowerCase()} ${missing}`] : []
  })
  return parts.length > 0 ? `Graders failed on some verdicts: ${parts.join(', ')}.` : ''
}

const scoreCell = (score: Scores[string] | undefined, kind: ScoreLine['kind'], isBar: boolean): TableCell => {
  if (typeof score?.value !== 'number') return NONE
  const { value, interval } = score
  return {
    ...{ text: percent(value), title: intervalTitle(interval) || undefined },
    ...(isBar ? { bar: { value, kind, interval } } : { notes: interval && [percentInterval(interval)] }),
  }
}

/** Scores of evaluations and baselines: those with a bar, then the others. @param evals which call them by words */
export const scoreTable = (
  lines: readonly ScoreLine[],
  { bars, others, evals, head = '' }: ScoreColumns,
): TableView => ({
  head: [head, ...[...bars, ...others].map(score => capitalised(describeScore(score, evals))), 'Problems'],
  rows: lines.map(({ name, note, kind, n, scores }) => [
    { text: name, row: kind, notes: note === undefined ? [] : [note] },
    ...[...bars, ...others].map(score => scoreCell(scores[score], kind, bars.includes(score))),
    n === undefined ? NONE : String(n),
  ]),
})

/** A panel for each test set: the headline scores, and what there is beside them. @param brief without the latter */
export const setPanels = (data: ReportData, brief = false): Block[] =>
  setNames(data).map(set => {
    const evals = evalsOf(data, set)
    const bars = headlineScores(evals)
    const rows = rowsOfSet(data, set)
    const baselines = baselinesOf(data, set, bars)
    const shown = evals.at(-1)
    const how = shown?.samples
      ? `Means over ${plural(shown.samples, 'sample')} a problem${shown.temperature === undefined ? '' : ` at temperature ${shown.temperature}`}.`
      : ''
    // As decoded greedily.
    const others = bars
      .map(greedyName)
      .filter(name => [...rows, ...baselines].some(({ scores }) => name in scores))
    const weaker = baselines.slice(SHOWN_BASELINES)
    const columns = { bars, others, evals }
    const about = joinKnown([how, changesOf(data, set), missingOf(rows)], ' ')
    const scores = scoreTable([...rows, ...baselines.slice(0, SHOWN_BASELINES)], columns)
    if (brief) return { kind: 'panel', title: set, blocks: [about, scores] }
    const [details, balance] = [detailTable(data, rows, bars), balanceTable(rows)]
    return {
      ...{ kind: 'panel', class: 'set', title: set },
      blocks: [
        about,
        scores,
        weaker.length > 0 && foldBlock(plural(weaker.length, 'weaker baseline'), scoreTable(weaker, columns)),
        sourceTable(data, rows, bars),
        (details ?? balance) && foldBlock('Further scores, labels and criteria', details, balance),
      ],
    }
  })
