/** @file What a run holds, read while it goes on or afterwards; nothing here takes the lock or writes. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasFile } from '../util/atomic.ts'
import { DataError } from '../util/errors.ts'
import { withFile } from '../util/file-failure.ts'
import { isRecord } from '../util/own-value.ts'
import { checkpointsToTry, pointedTo } from './checkpoints.ts'
import { RunError } from './errors.ts'
import { type NewRows, type RowPosition, readRows, readRowsFrom } from './row-files.ts'
import {
  checkedEval,
  checkedEvent,
  checkedInfo,
  checkedRollout,
  checkedRubricRow,
  isRubric,
} from './row-shapes.ts'
import type { EvalRow, EventRow, MetricsRow, RolloutRow, RubricRow, RunInfo } from './rows.ts'
import { checkpointName, checkpointSteps } from './run-state.ts'

/**
 * config.json of a run.
 * @throws RunError when there is no run in the folder; DataError when its config.json is broken
 */
export const readRunInfo = (dir: string): RunInfo => {
  const path = join(dir, 'config.json')
  if (!hasFile(path)) {
    throw new RunError(
      `${dir}: there is no run here (no config.json), so there is nothing to read or resume`,
      { hint: 'check the path; runs lie in the folder runs/ unless --out said otherwise' },
    )
  }
  const text = withFile(path, () => readFileSync(path, 'utf8'))
  let info: unknown
  try {
    info = JSON.parse(text)
  } catch (error) {
    throw new DataError(`${path}: not JSON: ${(error as Error).message}`, { hint: PUT_BACK, cause: error })
  }
  if (isRecord(info) && isRecord(info.config) && isRubric(info.rubric))
    return checkedInfo(path)(info as unknown as RunInfo)
  const missing = isRecord(info) && isRecord(info.config) ? 'criteria of its rubric' : 'its config'
  throw new DataError(`${path}: expected the description of a run with ${missing}, got something else`, {
    hint: PUT_BACK,
  })
}

const PUT_BACK = 'put it back from a copy; without it nobody knows what the run was made with'

/** Rows of metrics.jsonl written so far; safe while the run goes on. */
export const readMetrics = (dir: string): MetricsRow[] => readRows(join(dir, 'metrics.jsonl'))

/** Rows of rollouts.jsonl written so far. @throws DataError for a broken row */
export const readRollouts = (dir: string): RolloutRow[] => rowsOf(dir, 'rollouts')

/** Rows of evals.jsonl written so far. @throws DataError for a broken row */
export const readEvals = (dir: string): EvalRow[] => rowsOf(dir, 'evals')

/** Rows of events.jsonl written so far. @throws DataError for a broken row */
export const readEvents = (dir: string): EventRow[] => rowsOf(dir, 'events')

/** Rows of rubrics.jsonl written so far; none where no rubrics evolve. */
export const readRubricRows = (dir: string): RubricRow[] => rowsOf(dir, 'rubrics')

/** What each row file of a run holds. */
export interface RowTypes {
  metrics: MetricsRow
  rollouts: RolloutRow
  evals: EvalRow
  events: EventRow
  rubrics: RubricRow
}

/** What is done to a row of the file at a path that was read. */
const READ: { [File in keyof RowTypes]?: (path: string) => (row: RowTypes[File]) => RowTypes[File] } = {
  rollouts: checkedRollout,
  evals: checkedEval,
  events: checkedEvent,
  rubrics: checkedRubricRow,
}

const rowsOf = <File extends keyof RowTypes>(dir: string, file: File): RowTypes[File][] => {
  const path = join(dir, `${file}.jsonl`)
  const rows = readRows<RowTypes[File]>(path)
  const read = READ[file]?.(path)
  return read ? rows.map(read) : rows
}

/**
 * The rows that a file of a run has gained since a position, for those who watch it grow; safe while the run goes on.
 * @param position of the last call; absent: from the beginning
 * @throws DataError for a broken line
 */
export const readNewRows = <File extends keyof RowTypes>(
  dir: string,
  file: File,
  position?: RowPosition,
): NewRows<RowTypes[File]> => {
  const path = join(dir, `${file}.jsonl`)
  const found = readRowsFrom<RowTypes[File]>(path, position)
  const read = READ[file]?.(path)
  return read ? { ...found, rows: found.rows.map(read) } : found
}

/** Folder of the checkpoint that `checkpoints/latest` names; the newest whole one if the pointer is missing or dangling. */
export const latestCheckpoint = (dir: string): string | null => {
  const root = join(dir, 'checkpoints')
  const named = pointedTo(dir)
  if (named !== '' && existsSync(join(root, named))) return join(root, named)
  const newest = checkpointSteps(root).at(-1)
  return newest === undefined ? null : join(root, checkpointName(newest))
}

/** Whether there is a run in a folder: one that is being made has no config.json yet. */
export const isRun = (dir: string): boolean => existsSync(join(dir, 'config.json'))

/** Whether a run has checkpoints, whole or damaged. */
export const hasCheckpoints = (dir: string): boolean => checkpointsToTry(dir).length > 0

/** A rollout without what its judges took, and whether they had to be asked: what is equal between a resumed run and another. */
export const withoutCalls = ({ judgeCalls: _calls, ...row }: RolloutRow): RolloutRow => row as RolloutRow

/** A metrics row without its timings: what must be equal between a resumed run and an uninterrupted one. */
export const withoutTimings = ({ time: _time, ...row }: MetricsRow): MetricsRow => row as MetricsRow
