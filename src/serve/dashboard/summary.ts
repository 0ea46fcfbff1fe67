/** @file A run as a line of the table of runs, from a few pieces of its files: 200 runs are read in the blink of an eye. */

import { statSync } from 'node:fs'
import { flatSettings } from '../../runs/leaves.ts'
import { listRun, rowsFromEnd, unreadableRun } from '../../runs/listing.ts'
import { readRunInfo } from '../../runs/readers.ts'
import { stepSeconds } from '../../runs/report/data.ts'
import { signsOf } from '../../runs/report/signs.ts'
import type { EventRow, MetricsRow } from '../../runs/rows.ts'
import { meanKnown } from '../../util/descriptive.ts'
import { tryJson } from '../../util/json.ts'
import { MetricColumns } from './columns.ts'
import { textAt } from './growing-file.ts'
import { type FoundRun, fileOf } from './library.ts'
import { isPaused } from './open-run.ts'
import type { RunSummary } from './wire.ts'

/** Points of a small curve. */
const SPARK_POINTS = 36
/** Read at a place of metrics.jsonl to find a row there: rows have 1 to 8 KB. */
const PIECE_BYTES = 16 * 1024
/** Rows of metrics that tell how long steps take of late, and events that tell how a run stands. */
const LATE_ROWS = 20
const LATE_EVENTS = 400
/** What the small curve is of: the first of these that a run records. */
const METRICS = ['reward', 'heldOut', 'accuracy', 'loss']
const ROWS = ['metrics.jsonl', 'evals.jsonl', 'events.jsonl'] as const

/** A run's line but for what depends on other runs. */
type OwnSummary = Omit<RunSummary, 'settings'> & { dir: string; flat: Map<string, string> }

const sizeAndTime = (dir: string, name: string): { size: number; ms: number } => {
  const path = fileOf(dir, name)
  if (path === null) return { size: 0, ms: 0 }
  const { size, mtimeMs } = statSync(path)
  return { size, ms: mtimeMs }
}

/** The last rows of a file, at most so many, in their order. */
const lastRows = <Row>(dir: string, name: string, most: number): Row[] => {
  const rows: Row[] = []
  for (const row of rowsFromEnd<Row>(fileOf(dir, name))) if (rows.push(row) === most) break
  return rows.reverse()
}

/** The first whole row of each piece of metrics.jsonl, at places that are spread over it. */
const spreadRows = (dir: string, size: number): MetricsRow[] =>
  Array.from({ length: SPARK_POINTS }, (_, i) => {
    const offset = Math.floor((i * (size - PIECE_BYTES)) / (SPARK_POINTS - 1))
    const lines = textAt(dir, 'metrics.jsonl', { offset, bytes: PIECE_BYTES }).split('\n')
    return lines.slice(offset === 0 ? 0 : 1, -1)
  }).flatMap(([line = '']) => (tryJson(line) as MetricsRow | undefined) ?? [])

const sparkOf = (rows: readonly MetricsRow[], metric: string): (number | null)[] => {
  const columns = new MetricColumns()
  for (const { step, [metric]: value } of rows) columns.add({ step, [metric]: value })
  return columns.rows(SPARK_POINTS).rows.map(row => (row[metric] as number | null | undefined) ?? null)
}

/** Titles of monitors whose sign has come and not gone. */
const openWarnings = (events: readonly EventRow[]): string[] => [
  ...new Set(signsOf(events).flatMap(({ until, title }) => (until === null ? [title] : []))),
]

const settingText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** What a run's line tells beside what `gradus runs` lists, of one of which nothing could be read. */
const NOTHING = {
  ...{ model: null, stepSeconds: null, metric: null, spark: [], last: null, warnings: [], writtenAt: null },
  flat: new Map<string, string>(),
}

/** Reads a run's line; what cannot be read is said in it. */
const summarise = ({ id, name, folder, dir }: FoundRun): OwnSummary => {
  const named = { id, name, folder }
  try {
    const { model = null, config } = readRunInfo(dir)
    const listed = listRun(dir, fileOf)
    const files = ROWS.map(file => sizeAndTime(dir, file))
    const isLong = files[0].size > SPARK_POINTS * PIECE_BYTES
    const events = lastRows<EventRow>(dir, 'events.jsonl', LATE_EVENTS)
    // A short file is read whole.
    const read = lastRows<MetricsRow>(dir, 'metrics.jsonl', isLong ? LATE_ROWS : Number.POSITIVE_INFINITY)
    const spread = isLong ? spreadRows(dir, files[0].size) : read
    const late = read.slice(-LATE_ROWS)
    const latest = late.at(-1)
    const metric = METRICS.find(key => typeof latest?.[key] === 'number') ?? null
    const last = metric === null ? null : latest?.[metric]
    const writtenMs = Math.max(...files.map(({ ms }) => ms))
    return {
      ...listed,
      ...named,
      model,
      status: listed.status === 'running' && isPaused(events) ? 'paused' : listed.status,
      stepSeconds: meanKnown(late.map(stepSeconds).filter(seconds => seconds > 0)),
      metric,
      spark: metric === null ? [] : sparkOf(spread, metric),
      last: typeof last === 'number' ? last : null,
      warnings: openWarnings(events),
      writtenAt: writtenMs > 0 ? new Date(writtenMs).toISOString() : null,
      flat: new Map(flatSettings(config).map(([key, value]) => [key, settingText(value) ?? ''])),
    }
  } catch (error) {
    return { ...unreadableRun(dir, (error as Error).message), ...NOTHING, ...named }
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
    own.sort((a, b) => b.createdAt.localeCompare(a.createdAt))
    return withSettings(own)
  }
}

/** Settings that differ for a reason of their own are told elsewhere. */
const TOLD_ELSEWHERE = new Set(['seed', 'out'])
const MOST_SETTINGS = 8

/** Says of each run the settings in which runs of its recipe differ. */
const withSettings = (own: readonly OwnSummary[]): RunSummary[] => {
  const recipes = [...new Set(own.map(({ recipe }) => recipe))]
  const differing = new Map(
    recipes.map(recipe => [recipe, differingNames(own.filter(run => run.recipe === recipe))]),
  )
  return own.map(({ dir: _, flat, ...summary }) => {
    const names = differing.get(summary.recipe)!.filter(name => flat.has(name))
    return { ...summary, settings: Object.fromEntries(names.map(name => [name, flat.get(name)!])) }
  })
}

const differingNames = (runs: readonly OwnSummary[]): string[] => {
  if (runs.length < 2) return []
  const names = new Set(runs.flatMap(({ flat }) => [...flat.keys()]))
  return [...names]
    .filter(name => !TOLD_ELSEWHERE.has(name) && new Set(runs.map(({ flat }) => flat.get(name))).size > 1)
    .slice(0, MOST_SETTINGS)
}
