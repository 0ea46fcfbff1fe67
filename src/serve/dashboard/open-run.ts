/** @file A run that somebody looks at: its rows, read as they come and kept so that a long run takes little room. */

import { statSync } from 'node:fs'
import { readRunInfo } from '../../runs/readers.ts'
import { lastEvaluated, runStatus } from '../../runs/report/data.ts'
import { checkedEval, checkedEvent, checkedRubricRow } from '../../runs/row-shapes.ts'
import type { EvalRow, EventRow, MetricsRow, RubricRow, RunInfo } from '../../runs/rows.ts'
import { MetricColumns } from './columns.ts'
import { GrowingFile, type RowPlace, rowAt, rowOf } from './growing-file.ts'
import { type FoundRun, fileOf } from './library.ts'
import { RolloutIndex } from './rollout-index.ts'
import type { LightEval, RunStatus } from './wire.ts'

/** Rows kept whole, the latest; older ones count in the metrics alone. */
const MOST_ROWS = 4_000

type RowFile = 'metrics.jsonl' | 'evals.jsonl' | 'events.jsonl' | 'rubrics.jsonl'

/** Events kept; of more the first and the latest matter. */
const MOST_EVENTS = 10_000
/** How far a run is depends on files beside its rows: looked at again so often. */
const STATUS_MS = 2_000

export class OpenRun {
  readonly found: FoundRun
  readonly metrics = new MetricColumns()
  readonly rollouts: RolloutIndex
  /** The latest rows, and how many there are in all. */
  rubrics: { rows: RubricRow[]; count: number } = { rows: [], count: 0 }
  evals: LightEval[] = []
  events: EventRow[] = []
  /** What is wrong with its files; null where nothing is. */
  problem: string | null = null
  lastUsedMs = performance.now()
  readonly #evalPlaces: RowPlace[] = []
  readonly #files: GrowingFile[]
  #info: { value: RunInfo; readMs: number } | null = null
  #status: { value: RunStatus; atMs: number } | null = null

  constructor(found: FoundRun) {
    this.found = found
    this.rollouts = new RolloutIndex(found.dir)
    this.#files = [
      this.#grow<MetricsRow>('metrics.jsonl', row => this.metrics.add(row)),
      this.#grow<EvalRow>('evals.jsonl', (row, place) => this.#addEval(row, place)),
      this.#grow<EventRow>('events.jsonl', row => this.#addEvent(row)),
      this.#grow<RubricRow>('rubrics.jsonl', row => this.#addRubrics(row)),
    ]
  }

  #grow<T>(name: RowFile, add: (row: T, place: RowPlace) => void): GrowingFile {
    return new GrowingFile(this.found.dir, name, {
      onLine: line => {
        try {
          add(rowOf<T>(line, name), line)
        } catch (error) {
          this.problem ??= (error as Error).message
        }
      },
      onRestart: () => {
        this.problem = null
        this.#forget(name)
      },
    })
  }

  /** A file was begun anew. */
  #forget(name: RowFile): void {
    if (name === 'metrics.jsonl') this.metrics.clear()
    if (name === 'events.jsonl') this.events = []
    if (name === 'rubrics.jsonl') this.rubrics = { rows: [], count: 0 }
    if (name !== 'evals.jsonl') return
    this.evals = []
    this.#evalPlaces.length = 0
  }

  #addRubrics(row: RubricRow): void {
    const { rows } = this.rubrics
    rows.push(checkedRubricRow('rubrics.jsonl')(row))
    this.rubrics.count++
    if (rows.length > 2 * MOST_ROWS) rows.splice(0, MOST_ROWS)
  }

  #addEval(row: EvalRow, place: RowPlace): void {
    const { items: _, ...light } = checkedEval('evals.jsonl')(row)
    this.evals.push(light)
    this.#evalPlaces.push({ offset: place.offset, bytes: place.bytes })
  }

  #addEvent(row: EventRow): void {
    this.events.push(checkedEvent('events.jsonl')(row))
    if (this.events.length > MOST_EVENTS) this.events.splice(MOST_EVENTS / 2, 1)
  }

  /** config.json, read again when another one is there (a run that was begun anew). */
  get info(): RunInfo {
    const path = fileOf(this.found.dir, 'config.json')
    const changedMs = path === null ? 0 : statSync(path).mtimeMs
    if (this.#info?.readMs !== changedMs)
      this.#info = { value: readRunInfo(this.found.dir), readMs: changedMs }
    return this.#info.value
  }

  get status(): RunStatus {
    if (this.#status === null || performance.now() - this.#status.atMs > STATUS_MS)
      this.#status = { value: this.#statusNow(), atMs: performance.now() }
    return this.#status.value
  }

  #statusNow(): RunStatus {
    try {
      const status = runStatus(this.found.dir, this.info, lastEvaluated(this.evals))
      return status === 'running' && isPaused(this.events) ? 'paused' : status
    } catch (error) {
      this.problem ??= (error as Error).message
      return 'unreadable'
    }
  }

  /** Takes in what its files have gained, rollouts apart. @returns whether there was anything */
  async advance(): Promise<boolean> {
    this.lastUsedMs = performance.now()
    const changed = await Promise.all(this.#files.map(file => this.#advanceFile(file)))
    const any = changed.includes(true)
    if (any) this.#status = null
    return any
  }

  /** A file that cannot be read takes nothing else away. */
  async #advanceFile(file: GrowingFile): Promise<boolean> {
    try {
      return await file.advance()
    } catch (error) {
      this.problem ??= (error as Error).message
      return false
    }
  }

  /** Evaluations whole, with their problems, by their places in `evals`. */
  wholeEvals(indices: readonly number[]): EvalRow[] {
    return indices.flatMap(index => {
      const place = this.#evalPlaces[index]
      return place === undefined
        ? []
        : [checkedEval('evals.jsonl')(rowAt<EvalRow>(this.found.dir, 'evals.jsonl', place))]
    })
  }
}

/** Whether the last thing that a person told the run was to pause. */
export const isPaused = (events: readonly EventRow[]): boolean =>
  events.findLast(({ control }) => control === 'pause' || control === 'go-on' || control === 'stop')
    ?.control === 'pause'

const MOST_OPEN = 12

/** Runs that somebody looks at; those that nobody has looked at for longest are let go. */
export class OpenRuns {
  readonly #open = new Map<string, OpenRun>()

  get(found: FoundRun): OpenRun {
    const known = this.#open.get(found.id)
    if (known?.found.dir === found.dir) {
      known.lastUsedMs = performance.now()
      return known
    }
    const run = new OpenRun(found)
    this.#open.set(found.id, run)
    if (this.#open.size > MOST_OPEN) {
      const [oldest] = [...this.#open].sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs)
      this.#open.delete(oldest[0])
    }
    return run
  }
}
