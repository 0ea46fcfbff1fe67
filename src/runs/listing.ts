/** @file What a list of runs says of each: how far it is, and how it did. Reads the ends of its files, however long they are. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import { hasFile } from '../util/atomic.ts'
import { readRunInfo } from './readers.ts'
import { runStatus } from './report/data.ts'
import { assertLineFits } from './row-files.ts'
import { checkedEval } from './row-shapes.ts'
import type { EvalRow, MetricsRow } from './rows.ts'
import { describeScore } from './scores.ts'

export interface RunListing {
  dir: string
  id: string
  recipe: string | null
  preset: string | null
  seed: number | string | null
  status: 'finished' | 'running' | 'stopped' | 'unreadable'
  /** Why it cannot be read; null where it can. */
  problem: string | null
  /** Steps taken, and planned; null where no number is. */
  step: number
  steps: number | null
  /** The primary score of the last evaluation on the primary set; null before there is one. */
  score: { set: string; name: string; label: string; value: number | null; step: number } | null
  /** Of the last step; null where it has none. */
  reward: number | null
  createdAt: string
  forkedFrom: { run: string; step: number } | null
}

const PIECE = 64 * 1024

/** The last row of a file that is wanted; lines that are no rows, such as a torn last one, are passed over. */
const fromTheEnd = <Row>(path: string, wanted: (row: Row) => boolean): Row | null => {
  if (!hasFile(path)) return null
  const fd = openSync(path, 'r')
  try {
    let end = fstatSync(fd).size
    let tail = Buffer.alloc(0)
    while (end > 0 || tail.length > 0) {
      // As much again as there is: a long line is copied a few times, not once a piece.
      const start = Math.max(0, end - Math.max(PIECE, tail.length))
      assertLineFits(path, start, tail.length)
      const piece = Buffer.alloc(end - start)
      readSync(fd, piece, 0, piece.length, start)
      tail = Buffer.concat([piece, tail])
      end = start
      for (let at = lineStart(tail, end); at !== null; at = lineStart(tail, end)) {
        const row = parsed<Row>(tail.subarray(at).toString('utf8'))
        tail = tail.subarray(0, at)
        if (row !== null && wanted(row)) return row
      }
    }
    return null
  } finally {
    closeSync(fd)
  }
}

/** Where the last line of some bytes begins; null where that lies before them. */
const lineStart = (bytes: Buffer, before: number): number | null => {
  if (bytes.length === 0) return null
  const at = bytes.subarray(0, bytes.length - 1).lastIndexOf(0x0a)
  if (at >= 0) return at + 1
  return before === 0 ? 0 : null
}

const parsed = <Row>(text: string): Row | null => {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text) as Row
  } catch {
    return null
  }
}

const lastScore = (dir: string, primarySet: string | undefined): RunListing['score'] => {
  const found = fromTheEnd<EvalRow>(
    join(dir, 'evals.jsonl'),
    row => primarySet === undefined || row.set === primarySet,
  )
  if (found === null) return null
  const row = checkedEval(join(dir, 'evals.jsonl'))(found)
  const { set, primary: name, step } = row
  return { set, name, label: describeScore(name, [row]), value: row.scores[name]?.value ?? null, step }
}

/** @throws RunError where there is no run; DataError for a broken config.json */
export const listRun = (dir: string): RunListing => {
  const info = readRunInfo(dir)
  const metrics = fromTheEnd<MetricsRow>(join(dir, 'metrics.jsonl'), () => true)
  const score = lastScore(dir, info.primarySet)
  return {
    dir,
    id: info.id,
    recipe: info.recipe ?? null,
    preset: info.preset ?? null,
    seed: info.seed ?? null,
    status: runStatus(dir, info, score?.step ?? null),
    problem: null,
    step: typeof metrics?.step === 'number' ? metrics.step : 0,
    steps: info.steps ?? null,
    score,
    reward: typeof metrics?.reward === 'number' ? metrics.reward : null,
    createdAt: info.createdAt,
    forkedFrom: info.forkedFrom ?? null,
  }
}

/** A run that cannot be read, as a line that says so. */
export const unreadableRun = (dir: string, problem: string): RunListing => ({
  ...{ dir, id: basename(dir), recipe: null, preset: null, seed: null, status: 'unreadable', problem },
  ...{ step: 0, steps: null, score: null, reward: null, createdAt: '', forkedFrom: null },
})
