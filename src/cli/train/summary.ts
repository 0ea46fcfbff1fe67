/** @file What a finished run says in the terminal: before and after on each test set, and where the time went. */

import { readEvals, readMetrics, readRunInfo } from '../../runs/readers.ts'
import { beforeAfter, type ReportData, setNames, stageNames, stageWord } from '../../runs/report/data.ts'
import { pageText, TERMINAL } from '../../runs/report/page-text.ts'
import { profileSection } from '../../runs/report/profile.ts'
import { setPanels } from '../../runs/report/tables.ts'
import type { EvalRow, MetricsRow } from '../../runs/rows.ts'
import { describeScore, greedyName, headlineScores, missingVerdicts, scoreValue } from '../../runs/scores.ts'
import { percent, plural } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'

/** Mean seconds a step by stage, and each stage's share of the whole. */
export interface StepTime {
  total: number
  stages: Record<string, { seconds: number; share: number }>
}

export interface Summary {
  /** As its report reads it. */
  data: ReportData
  steps: number
  sets: { set: string; before: EvalRow | null; after: EvalRow }[]
  time: StepTime | null
}

/** Mean time a step; `rest` is what no stage accounts for. Null for a run without steps that took time. */
export const stepTime = (metrics: readonly MetricsRow[]): StepTime | null => {
  const timed = metrics.flatMap(({ time }) => (typeof time?.total === 'number' ? [time] : []))
  if (timed.length === 0) return null
  const average = (name: string) => mean(timed.map(time => time[name] ?? 0))
  const total = average('total')
  if (total === 0) return null
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

/** What a summary tells nothing of. */
const NOT_TOLD = { rollouts: [], events: [], rubrics: [] }

/** Reads a run folder: first and last evaluation on each set, and the times. */
export const summarise = (dir: string): Summary => {
  const [metrics, evals] = [readMetrics(dir), readEvals(dir)]
  const data = { info: readRunInfo(dir), status: 'finished', metrics, evals, ...NOT_TOLD } as const
  const sets = setNames(data).map(set => {
    const { before = null, after } = beforeAfter(data, set)
    return { set, before, after: after! }
  })
  return { data, steps: metrics.at(-1)?.step ?? 0, sets, time: stepTime(metrics) }
}

const timeLine = ({ total, stages }: StepTime): string => {
  const parts = Object.entries(stages).map(
    ([name, { seconds, share }]) => `${stageWord(name)} ${seconds.toFixed(3)} s (${percent(share)})`,
  )
  return `mean step ${total.toFixed(3)} s: ${parts.join(', ')}`
}

/** What a terminal is told of; the report has all. */
const MOST_SETS = 3
const MOST_CRITERIA = 16

/** The summary as text for a terminal: of the report the scores of test sets, and the criteria that changed most. */
export const formatSummary = ({ data, time }: Summary): string => {
  const sets = setPanels(data, true)
  const more = sets.length - MOST_SETS
  const blocks = [...sets.slice(0, MOST_SETS), more > 0 && `${plural(more, 'more test set')}.`]
  const sections = [sets.length > 0 && { title: 'Test sets', blocks }, profileSection(data, MOST_CRITERIA)]
  const end = time ? [timeLine(time)] : []
  return pageText({ title: '', sections, end }, TERMINAL).trim()
}

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

/** An evaluation in a line, as it is reported while a run goes on: `step 20, real: correct and proved 41.0%, answers right 80.0%; greedy 52.0% and 84.0% (100 problems)`. */
export const evalLine = (row: EvalRow): string => {
  const headline = headlineScores([row])
  const scores = headline.map(name => `${describeScore(name, [row])} ${percent(scoreValue(row, name))}`)
  const greedy = headline.map(greedyName).flatMap(name => scoreValue(row, name) ?? [])
  const decoded = greedy.length > 0 ? `; greedy ${greedy.map(percent).join(' and ')}` : ''
  const sources = Object.entries(row.bySource ?? {}).map(
    ([name, own]) => `; ${name} ${percent(own.scores.accuracy?.value)} right`,
  )
  const over = [plural(row.n, 'problem'), missingVerdicts(row)].filter(part => part !== null).join(', ')
  return `step ${row.step}, ${row.set}: ${scores.join(', ')}${decoded}${sources.join('')} (${over})`
}
