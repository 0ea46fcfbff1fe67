/** @file What a list of runs says of each: how far it is, and how it did. Reads the ends of its files, however long they are. */

import { closeSync, fstatSync, openSync } from 'node:fs'
import { basename, join } from 'node:path'
import { hasFile } from '../util/atomic.ts'
import { readRunInfo } from './readers.ts'
import { runStatus } from './report/data.ts'
import { assertLineFits, readBytes } from './row-files.ts'
import { checkedEval } from './row-shapes.ts'
import type { EvalRow, MetricsRow, RunListing } from './rows.ts'
import { describeScore } from './scores.ts'

const PIECE = 64 * 1024

/** The rows of a file, the last first; lines that are no rows, such as a torn last one, are passed over. @param path null: none */
export const rowsFromEnd = function* <Row>(path: string | null): Generator<Row> {
  if (path === null || !hasFile(path)) return
  const fd = openSync(path, 'r')
  try {
    let end = fstatSync(fd).size
    let tail = Buffer.alloc(0)
    while (end > 0 || tail.length > 0) {
      // As much again as there is: a long line is copied a few times, not once a piece.
      const start = Math.max(0, end - Math.max(PIECE, tail.length))
      assertLineFits(path, start, tail.length)
      tail = Buffer.concat([readBytes(fd, start, end), tail])
      end = start
      for (let at = lineStart(tail, end); at !== null; at = lineStart(tail, end)) {
        const row = parsed<Row>(tail.subarray(at).toString('utf8'))
        tail = tail.subarray(0, at)
        if (row !== null) yield row
      }
    }
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
  try {
    const row: unknown = JSON.parse(text)
    return typeof row === 'object' && !Array.isArray(row) ? (row as Row | null) : null
  } catch {
    return null
  }
}

const lastScore = (path: string | null, primarySet: string | undefined): RunListing['score'] => {
  for (const found of rowsFromEnd<EvalRow>(path)) {
    if (primarySet !== undefined && found.set !== primarySet) continue
    const row = checkedEval(path!)(found)
    const { set, primary: name, step } = row
    return { set, name, label: describeScore(name, [row]), value: row.scores[name]?.value ?? null, step }
  }
  return null
}

/**
 * @param pathOf a file of the run by its name; null where it is not to be read
 * @throws RunError where there is no run; DataError for a broken config.json
 */
export const listRun = (
  dir: string,
  pathOf: (dir: string, name: string) => string | null = join,
): RunListing => {
  const info = readRunInfo(dir)
  const [metrics] = rowsFromEnd<MetricsRow>(pathOf(dir, 'metrics.jsonl'))
  const score = lastScore(pathOf(dir, 'evals.jsonl'), info.primarySet)
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
