/** @file A run as a line of the table of runs, from a few pieces of its files: 200 runs are read in the blink of an eye. */

import { statSync } from 'node:fs'
import { readRunInfo } from '../../runs/readers.ts'
import { flatSettings } from '../../runs/report/compare.ts'
import { runStatus, stepSeconds } from '../../runs/report/data.ts'
import { signsOf } from '../../runs/report/signs.ts'
import { checkedEval } from '../../runs/row-shapes.ts'
import type { EvalRow, EventRow, MetricsRow } from '../../runs/rows.ts'
import { describeScore, scoreValue } from '../../runs/scores.ts'
import { meanKnown } from '../../util/descriptive.ts'
import { type FoundRun, fileOf } from './library.ts'
import { isPaused } from './open-run.ts'
import { RowReader } from './row-text.ts'
import type { RunSummary } from './wire.ts'

/** Points of a small curve. */
const SPARK_POINTS = 36
/** Read at a place of metrics.jsonl to find a row there: rows have 1 to 8 KB. */
const PIECE_BYTES = 16 * 1024
/** Read of the end of a file of rows. */
const TAIL_BYTES = 64 * 1024
/** An evaluation with thousands of problems has megabytes. */
const MOST_TAIL_BYTES = 8 * 1024 ** 2
/** What the small curve is of: the first of these that a run records. */
const FIGURES = ['reward', 'heldOut', 'accuracy', 'loss']
const ROWS = ['metrics.jsonl', 'evals.jsonl', 'events.jsonl'] as const

/** A run's line but for what depends on other runs. */
export type OwnSummary = Omit<RunSummary, 'settings'> & { flat: Map<string, string> }

const sizeAndTime = (dir: string, name: string): { size: number; ms: number } => {
  const path = fileOf(dir, name)
  if (path === null) return { size: 0, ms: 0 }
  const { size, mtimeMs } = statSync(path)
  return { size, ms: mtimeMs }
}

/** Whole rows in a piece of a file; its first line, and its last, may be cut. */
const rowsIn = <T>(text: string, fromStart: boolean): T[] => {
  const lines = text.split('\n')
  return lines.slice(fromStart ? 0 : 1).flatMap(line => {
    if (!line.startsWith('{') || !line.endsWith('}')) return []
    try {
      return [JSON.parse(line) as T]
    } catch {
      return []
    }
  })
}

/** The last rows of a file, as many as its end holds, at least one where there is one. */
const lastRows = <T>(dir: string, name: string, size: number): T[] => {
  if (size === 0) return []
  const reader = new RowReader(dir, name)
  try {
    for (let most = TAIL_BYTES; ; most *= 4) {
      const bytes = Math.min(size, most)
      const rows = rowsIn<T>(reader.text({ offset: size - bytes, bytes }), bytes === size)
      if (rows.length > 0 || bytes === size || most >= MOST_TAIL_BYTES) return rows
    }
  } finally {
    reader.close()
  }
}

/** Rows from places spread over a file; all of a short one. */
const spreadRows = (dir: string, size: number): MetricsRow[] => {
  if (size === 0) return []
  const reader = new RowReader(dir, 'metrics.jsonl')
  try {
    if (size <= SPARK_POINTS * PIECE_BYTES)
      return rowsIn<MetricsRow>(reader.text({ offset: 0, bytes: size }), true)
    const rows = Array.from({ length: SPARK_POINTS }, (_, i) => {
      const offset = Math.floor((i * (size - PIECE_BYTES)) / (SPARK_POINTS - 1))
      return rowsIn<MetricsRow>(reader.text({ offset, bytes: PIECE_BYTES }), offset === 0)[0]
    })
    return rows.filter(row => row !== undefined)
  } finally {
    reader.close()
  }
}

const sparkOf = (rows: readonly MetricsRow[], figure: string): (number | null)[] => {
  const stride = Math.max(1, Math.ceil(rows.length / SPARK_POINTS))
  const values: (number | null)[] = []
  for (let at = 0; at < rows.length; at += stride) {
    const around = rows.slice(at, at + stride).map(row => row[figure])
    values.push(meanKnown(around.map(value => (typeof value === 'number' ? value : null))))
  }
  return values
}

/** Titles of monitors whose sign has come and not gone. */
const openWarnings = (events: readonly EventRow[]): string[] => [
  ...new Set(signsOf(events).flatMap(({ until, title }) => (until === null ? [title] : []))),
]

const settingText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Of a run of which nothing could be read. */
const unreadable = ({ id, name, folder }: FoundRun, problem: string | null): OwnSummary => ({
  ...{ id, name, folder, recipe: null, preset: null, model: null },
  ...{ seed: null, status: 'unreadable', problem, step: 0, steps: null, stepSeconds: null },
  ...{ figure: null, spark: [], last: null, score: null, warnings: [], createdAt: null, writtenAt: null },
  flat: new Map(),
})

const scoreOf = (row: EvalRow | undefined): RunSummary['score'] => {
  const value = row === undefined ? null : scoreValue(row, row.primary)
  return row === undefined || value === null
    ? null
    : { value, words: describeScore(row.primary, [row]), set: row.set }
}

/** Reads a run's line; what cannot be read is said in it. */
const summarise = (found: FoundRun): OwnSummary => {
  const { dir } = found
  try {
    const info = readRunInfo(dir)
    const files = ROWS.map(name => sizeAndTime(dir, name))
    const [metrics, evals, told] = files
    const check = checkedEval('evals.jsonl')
    const evaluation = lastRows<EvalRow>(dir, 'evals.jsonl', evals.size)
      .map(row => check(row))
      .at(-1)
    const events = lastRows<EventRow>(dir, 'events.jsonl', told.size)
    const status = runStatus(dir, info, evaluation?.step ?? null)
    const spread = spreadRows(dir, metrics.size)
    const late = lastRows<MetricsRow>(dir, 'metrics.jsonl', metrics.size).slice(-20)
    const latest = late.at(-1)
    const figure = FIGURES.find(name => typeof (latest ?? spread.at(-1))?.[name] === 'number') ?? null
    const last = figure === null ? null : latest?.[figure]
    const writtenMs = Math.max(...files.map(({ ms }) => ms))
    return {
      ...unreadable(found, null),
      recipe: info.recipe ?? null,
      preset: info.preset ?? null,
      model: info.model ?? null,
      seed: info.seed === undefined ? null : String(info.seed),
      status: status === 'running' && isPaused(events) ? 'paused' : status,
      step: typeof latest?.step === 'number' ? latest.step : 0,
      steps: info.steps ?? null,
      stepSeconds: meanKnown(late.map(stepSeconds).filter(seconds => seconds > 0)),
      figure,
      spark: figure === null ? [] : sparkOf(spread, figure),
      last: typeof last === 'number' ? last : null,
      score: scoreOf(evaluation),
      warnings: openWarnings(events),
      createdAt: info.createdAt,
      writtenAt: writtenMs > 0 ? new Date(writtenMs).toISOString() : null,
      flat: new Map(flatSettings(info.config).map(([name, value]) => [name, settingText(value) ?? ''])),
    }
  } catch (error) {
    return unreadable(found, (error as Error).message)
  }
}

/** A run that is written may stop without a change of its files: it is looked at again so often. */
const RUNNING_MS = 3_000

/** What tells whether a run's line may have changed. */
const stampOf = ({ dir }: FoundRun): string =>
  ['config.json', ...ROWS]
    .map(name => sizeAndTime(dir, name))
    .map(({ size, ms }) => `${size}@${ms}`)
    .join(' ')

/** Lines of runs, read anew only where files have changed. */
export class Summaries {
  readonly #known = new Map<string, { stamp: string; atMs: number; summary: OwnSummary }>()

  of(found: FoundRun): OwnSummary {
    const stamp = stampOf(found)
    const known = this.#known.get(found.dir)
    const isLive = known?.summary.status === 'running' || known?.summary.status === 'paused'
    const stale = isLive && performance.now() - (known?.atMs ?? 0) > RUNNING_MS
    if (known?.stamp === stamp && !stale && known.summary.id === found.id) return known.summary
    const summary = summarise(found)
    this.#known.set(found.dir, { stamp, atMs: performance.now(), summary })
    return summary
  }

  /** Lines of all runs, the newest first. */
  async all(runs: readonly FoundRun[]): Promise<RunSummary[]> {
    const own: OwnSummary[] = []
    for (const [i, found] of runs.entries()) {
      own.push(this.of(found))
      if (i % 25 === 24) await new Promise(resolve => setImmediate(resolve))
    }
    own.sort((a, b) => (b.createdAt ?? '').localeCompare(a.createdAt ?? ''))
    return withSettings(own)
  }
}

/** Settings that differ for a reason of their own are told elsewhere. */
const TOLD_ELSEWHERE = new Set(['seed', 'out'])
const MOST_SETTINGS = 8

/** Says of each run the settings in which runs of its recipe differ. */
const withSettings = (own: readonly OwnSummary[]): RunSummary[] => {
  const byRecipe = new Map<string | null, OwnSummary[]>()
  for (const summary of own) byRecipe.set(summary.recipe, [...(byRecipe.get(summary.recipe) ?? []), summary])
  const differing = new Map([...byRecipe].map(([recipe, runs]) => [recipe, differingNames(runs)]))
  return own.map(({ flat, ...summary }) => ({
    ...summary,
    settings: Object.fromEntries(
      (differing.get(summary.recipe) ?? []).flatMap(name => {
        const value = flat.get(name)
        return value === undefined ? [] : [[name, value]]
      }),
    ),
  }))
}

const differingNames = (runs: readonly OwnSummary[]): string[] => {
  if (runs.length < 2) return []
  const names = new Set(runs.flatMap(({ flat }) => [...flat.keys()]))
  return [...names]
    .filter(name => !TOLD_ELSEWHERE.has(name) && new Set(runs.map(({ flat }) => flat.get(name))).size > 1)
    .slice(0, MOST_SETTINGS)
}
