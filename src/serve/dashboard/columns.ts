/** @file The metrics of a run as columns of numbers: 20,000 steps in a few megabytes, thinned to what a screen can show. */

import type { MetricGroup, MetricsRow } from '../../runs/rows.ts'
import { meanKnown } from '../../util/descriptive.ts'

/** Between a group's key and a name in it; no key has it. */
const WITHIN = '\u0000'
/** A run whose rows name more metrics than this keeps the first. */
const MOST_COLUMNS = 4000

/** Values by place; none where a step has no value. */
type MetricColumn = number[]

export interface Thinned {
  rows: MetricsRow[]
  /** Steps that a row stands for. */
  stride: number
}

export class MetricColumns {
  readonly #columns = new Map<string, MetricColumn>()
  readonly #steps: number[] = []

  get length(): number {
    return this.#steps.length
  }

  get first(): number {
    return this.#steps[0] ?? 0
  }

  get last(): number {
    return this.#steps.at(-1) ?? 0
  }

  clear(): void {
    this.#columns.clear()
    this.#steps.length = 0
  }

  add(row: MetricsRow): void {
    if (typeof row.step !== 'number') return
    const index = this.#steps.push(row.step) - 1
    for (const [key, value] of Object.entries(row)) {
      if (key === 'step') continue
      if (typeof value === 'number') this.#set(key, index, value)
      else if (value !== null && typeof value === 'object')
        for (const [name, part] of Object.entries(value))
          if (typeof part === 'number') this.#set(`${key}${WITHIN}${name}`, index, part)
    }
  }

  #set(name: string, index: number, value: number): void {
    let column = this.#columns.get(name)
    if (column === undefined) {
      if (this.#columns.size >= MOST_COLUMNS) return
      column = []
      this.#columns.set(name, column)
    }
    column[index] = value
  }

  /** Sum over all steps of a metric in a group. */
  total(key: string, name?: string): number {
    const column = this.#columns.get(name === undefined ? key : `${key}${WITHIN}${name}`) ?? []
    return column.reduce((sum, value) => sum + value, 0)
  }

  /** Names of metrics: `reward`, and `criteria` with the names in it. */
  names(): { key: string; name: string | null }[] {
    return [...this.#columns.keys()].map(path => {
      const [key, name = null] = path.split(WITHIN)
      return { key, name }
    })
  }

  /** Rows of steps `from` to `to`, at most `points` of them; where there are more, means over as many as it takes. */
  rows(points: number, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): Thinned {
    const begin = this.#indexOf(from)
    const end = this.#indexOf(to + 1e-9)
    const stride = Math.max(1, Math.ceil((end - begin) / points))
    const rows: MetricsRow[] = []
    for (let at = begin; at < end; at += stride) rows.push(this.#row(at, Math.min(end, at + stride)))
    return { rows, stride }
  }

  /** Place of the first step that is not before `step`; steps go up. */
  #indexOf(step: number): number {
    let [low, high] = [0, this.#steps.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#steps[middle] < step) low = middle + 1
      else high = middle
    }
    return low
  }

  #row(from: number, to: number): MetricsRow {
    const row: MetricsRow = { step: this.#steps[to - 1] }
    for (const [path, column] of this.#columns) {
      const value = meanKnown(column.slice(from, to))
      const [key, name] = path.split(WITHIN)
      if (name === undefined) {
        row[key] = value
        continue
      }
      row[key] ??= {}
      if (value !== null) (row[key] as MetricGroup)[name] = value
    }
    return row
  }
}
