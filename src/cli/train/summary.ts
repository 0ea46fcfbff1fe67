/** @file What a finished run says in the terminal: before and after on each test set, and where the time went. */

import { readEvals, readMetrics, readRunInfo } from '../../runs/readers.ts'
import { beforeAfter, isTax, setNames, stageNames, stageWord } from '../../runs/report/data.ts'
import { pairedDifference } from '../../runs/report/paired.ts'
import type { EvalRow, MetricsRow } from '../../runs/rows.ts'
import { describeScore, headlineScores, missingVerdicts, scoreNamesOf } from '../../runs/scores.ts'
import { percent, percentNumber, points } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'
import { sourceScoreLines } from './by-source.ts'

/** Mean seconds a step by stage, and each stage's share of the whole. */
export interface StepTime {
  total: number
  stages: Record<string, { seconds: number; share: number }>
}

export interface Summary {
  steps: number
  sets: { set: string; before: EvalRow | null; after: EvalRow }[]
  time: StepTime | null
}

/** Mean time a step; `rest` is what no stage accounts for. Null for a run without steps. */
export const stepTime = (metrics: readonly MetricsRow[]): StepTime | null => {
  const timed = metrics.flatMap(({ time }) => (typeof time?.total === 'number' ? [time] : []))
  if (timed.length === 0) return null
  const average = (name: string) => mean(timed.map(time => time[name] ?? 0))
  const total = average('total')
  const names = stageNames(metrics)
  const stages = Object.fromEntries(names.map(name => [name, average(name)]))
  stages.rest = Math.max(0, total - names.reduce((sum, name) => sum + stages[name], 0))
  return {
    total,
    stages: Object.fromEntries(
      Object.entries(stages).map(([name, seconds]) => [name, { seconds, share: seconds / total }]),
    ),
  }
}

/** Reads a run folder: first and last evaluation on each set, and the times. */
export const summarise = (dir: string): Summary => {
  const metrics = readMetrics(dir)
  const data = { info: readRunInfo(dir), evals: readEvals(dir) }
  const sets = setNames(data).map(set => {
    const { before = null, after } = beforeAfter(data, set)
    return { set, before, after: after! }
  })
  return { steps: metrics.at(-1)?.step ?? 0, sets, time: stepTime(metrics) }
}

const cell = (row: EvalRow, score: string): string => {
  const { value = null, interval } = row.scores[score] ?? {}
  if (value === null) return '–'
  return `${percentNumber(value)}${interval ? ` [${percentNumber(interval[0])}, ${percentNumber(interval[1])}]` : ''}`
}

const setTable = ({ set, before, after }: Summary['sets'][number]): string[] => {
  const samples =
    after.samples && after.temperature ? `${after.samples} at temperature ${after.temperature}` : 'greedy'
  const rows = scoreNamesOf([after]).map(score => [
    describeScore(score, [after]),
    ...(before ? [cell(before, score)] : []),
    cell(after, score),
  ])
  const header = ['percent [95% interval]', ...(before ? [`step ${before.step}`] : []), `step ${after.step}`]
  const table = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...table.map(row => row[column].length)))
  const lines = table.map(row =>
    row
      .map((text, column) => (column === 0 ? text.padEnd(widths[0]) : text.padStart(widths[column])))
      .join('   '),
  )
  return [
    `${set}: ${after.n} problems${before && before.n !== after.n ? ` (${before.n} at step ${before.step})` : ''}, samples ${samples}`,
    ...lines.map(line => `  ${line}`),
    ...missingLines(before, after),
    ...(before && before.n !== after.n ? sharedLines(before, after) : []),
    ...sourceScoreLines(after, before),
    ...changeLines(after),
    ...baselineLines(after),
  ]
}

/** Where graders failed on some verdicts. */
const missingLines = (before: EvalRow | null, after: EvalRow): string[] => {
  const parts = [before, after].flatMap(row => {
    const missing = row && missingVerdicts(row)
    return missing ? [`${missing} at step ${row.step}`] : []
  })
  return parts.length > 0 ? [`  ${parts.join(', ')}: graders failed on them`] : []
}

/** Columns over different problems do not compare: the same figures over those that both have. */
const sharedLines = (before: EvalRow, after: EvalRow): string[] =>
  scoreNamesOf([after]).flatMap(score => {
    const paired = pairedDifference(before, after, score)
    if (paired === null) return []
    const [low, high] = paired.interval
    return `  on the ${paired.n} problems of both, ${describeScore(score, [after])}: ${percentNumber(paired.before)} -> ${percentNumber(paired.after)}, ${points(paired.difference)} points [${points(low)}, ${points(high)}]`
  })

/** Each criterion against the start, and where training cost something that it could not see. */
const changeLines = ({ tax }: EvalRow): string[] => {
  const entries = Object.entries(tax ?? {})
  if (entries.length === 0) return []
  return [
    '  criteria since the start, points [95% interval]:',
    ...entries.map(([id, change]) => {
      const { before, after, interval } = change
      const range = `[${points(interval[0])}, ${points(interval[1])}]`
      const note = isTax(change) ? '   optimisation tax' : ''
      return `    ${id}  ${percentNumber(before).padStart(5)} -> ${percentNumber(after).padStart(5)}  ${points(change.change).padStart(6)} ${range}${note}`
    }),
  ]
}

/** Shallow cues, best first: what they are worth on this set, in the headline scores that they have. */
const baselineLines = (row: EvalRow): string[] =>
  headlineScores([row]).flatMap(score => {
    const entries = Object.entries(row.baselines ?? {}).flatMap(([name, { scores }]) => {
      const value = scores[score]?.value ?? null
      return value === null ? [] : [{ name, value }]
    })
    if (entries.length === 0) return []
    const width = Math.max(...entries.map(({ name }) => name.length))
    return [
      `  shallow baselines, ${describeScore(score, [row])}:`,
      ...entries
        .sort((a, b) => b.value - a.value)
        .map(({ name, value }) => `    ${name.padEnd(width)}  ${percentNumber(value).padStart(5)}`),
    ]
  })

const timeLine = ({ total, stages }: StepTime): string => {
  const parts = Object.entries(stages).map(
    ([name, { seconds, share }]) => `${stageWord(name)} ${seconds.toFixed(3)} s (${percent(share)})`,
  )
  return `mean step ${total.toFixed(3)} s: ${parts.join(', ')}`
}

/** The summary as text for a terminal. */
export const formatSummary = ({ sets, time }: Summary): string =>
  [...sets.map(set => setTable(set).join('\n')), ...(time ? [timeLine(time)] : [])].join('\n\n')

/** The summary for machines: evaluation rows without their single problems. */
export const summaryJson = ({ steps, sets, time }: Summary) => {
  const brief = (row: EvalRow | null) => {
    if (row === null) return null
    const { items: _items, ...rest } = row
    return rest
  }
  return {
    steps,
    sets: sets.map(({ set, before, after }) => ({ set, before: brief(before), after: brief(after) })),
    time,
  }
}
