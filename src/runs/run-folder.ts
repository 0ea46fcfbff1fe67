/** @file A run on disk: a folder of plain files, one writer, any number of readers while it goes on. */

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { writeFileAtomic } from '../util/atomic.ts'
import { DataError, NumericError } from '../util/errors.ts'
import { describeEnvironment } from './environment.ts'
import { guardWrite, RunError, writeFailure } from './errors.ts'
import { upgradeEval, upgradeRollout } from './former-rows.ts'
import { takeLock } from './lock.ts'
import {
  appendRows,
  flushRows,
  keepThrough,
  type NewRows,
  type RowPosition,
  readRows,
  readRowsFrom,
  repairTail,
} from './row-files.ts'
import type { EvalRow, EventRow, MetricsRow, RolloutRow, RunInfo } from './rows.ts'
import {
  checkpointName,
  checkpointSteps,
  loadRunState,
  type PruneOptions,
  pruneCheckpoints,
  type RunState,
  removeFolder,
  saveRunState,
} from './run-state.ts'

/** What `create` needs; id, createdAt and environment have defaults. */
export type RunOptions = Partial<RunInfo> & { config: unknown }

/** Where to go on: the checkpoint's folder and the state beside it. */
export interface ResumePoint {
  step: number
  dir: string
  state: RunState
}

const ROW_FILES = ['metrics.jsonl', 'rollouts.jsonl', 'evals.jsonl', 'events.jsonl'] as const

const NO_VALUE_HINT = 'it may be a mean over nothing: a figure without a value is left out of its row'

const refuseNonFinite = (row: object, where: string, hint: string, path = ''): void => {
  for (const [key, value] of Object.entries(row)) {
    const name = path === '' ? key : `${path}.${key}`
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new NumericError(`${where}: ${name} is ${value}`, { hint })
    }
    if (value !== null && typeof value === 'object') refuseNonFinite(value, where, hint, name)
  }
}

/** A run folder open for writing. `readMetrics` and its like take no lock. */
export class RunFolder {
  readonly dir: string
  readonly info: RunInfo
  readonly #release: () => void
  #lastStep: number

  private constructor(dir: string, info: RunInfo, release: () => void) {
    this.dir = dir
    this.info = info
    this.#release = release
    this.#lastStep = readMetrics(dir).at(-1)?.step ?? Number.NEGATIVE_INFINITY
  }

  /**
   * Makes the folder `dir` and its config.json, and takes the lock.
   * @throws RunError when there is a run already, when it is locked, or when the disk refuses
   */
  static create(dir: string, options: RunOptions): RunFolder {
    const path = resolve(dir)
    assertFree(path)
    guardWrite(path, () => mkdirSync(join(path, 'checkpoints'), { recursive: true }))
    const release = takeLock(path)
    try {
      const info = describeRun(path, options)
      const file = join(path, 'config.json')
      guardWrite(file, () => writeFileAtomic(file, `${JSON.stringify(info, null, 2)}\n`))
      return new RunFolder(path, info, release)
    } catch (error) {
      release()
      throw error
    }
  }

  /**
   * Opens an existing run for writing: takes the lock (a dead process's too), drops torn last lines and half-made folders.
   * @throws RunError when there is no run, or a living process writes it
   */
  static open(dir: string): RunFolder {
    const path = resolve(dir)
    readRunInfo(path)
    const release = takeLock(path)
    try {
      for (const file of ROW_FILES) repairTail(join(path, file))
      removeLeftovers(path)
      return new RunFolder(path, readRunInfo(path), release)
    } catch (error) {
      release()
      throw error
    }
  }

  /** Path of a file or folder of the run. */
  path(...parts: string[]): string {
    return join(this.dir, ...parts)
  }

  /**
   * Appends the metrics of one step.
   * @throws NumericError for NaN or infinity; RunError for a step that is not after the last one, or a failed write
   */
  appendMetrics(row: MetricsRow): void {
    refuseNonFinite(
      row,
      `metrics of step ${row.step}`,
      'a lower learning rate or a tighter gradient clip may help; null stands for "no value"',
    )
    if (!(row.step > this.#lastStep)) {
      throw new RunError(
        `${this.path('metrics.jsonl')}: step ${row.step} comes after step ${this.#lastStep}`,
        {
          hint: 'each step is written once; truncateAfter(step) goes back',
        },
      )
    }
    appendRows(this.path('metrics.jsonl'), [row])
    this.#lastStep = row.step
  }

  /**
   * Appends sampled rollouts with their verdicts.
   * @throws NumericError for NaN or infinity; RunError for a failed write
   */
  appendRollouts(rows: readonly RolloutRow[]): void {
    for (const row of rows)
      refuseNonFinite(row, `rollout of ${row.problemId}, step ${row.step}`, NO_VALUE_HINT)
    appendRows(this.path('rollouts.jsonl'), rows)
  }

  /**
   * Appends evaluations. Those of a step belong before its checkpoint, so that a resume finds or repeats them whole.
   * @throws NumericError for NaN or infinity; RunError for a primary score that is not there, or a failed write
   */
  appendEvals(rows: readonly EvalRow[]): void {
    for (const row of rows) {
      const place = `evaluation of step ${row.step} on ${row.set}`
      refuseNonFinite(row, place, NO_VALUE_HINT)
      if (!(row.primary in row.scores))
        throw new RunError(`${place}: primary: expected the name of one of its scores, got ${row.primary}`, {
          hint: `its scores are ${Object.keys(row.scores).join(', ')}`,
        })
    }
    appendRows(this.path('evals.jsonl'), rows)
  }

  /** Notes an event with the time of now. */
  appendEvent(event: EventRow): void {
    appendRows(this.path('events.jsonl'), [{ ...event, at: event.at ?? new Date().toISOString() }])
  }

  /** Drops what was recorded after `step`, in every row file, and torn last lines. */
  truncateAfter(step: number): void {
    for (const file of ROW_FILES) keepThrough(this.path(file), step)
    this.#lastStep = readMetrics(this.dir).at(-1)?.step ?? Number.NEGATIVE_INFINITY
  }

  /**
   * Writes a checkpoint so that it is whole or not there: `save` fills a temporary folder (model, optimiser), the state is
   * put beside, the folder gets its name, then `checkpoints/latest` points to it. Returns the checkpoint's folder.
   * @throws RunError for a failed write; earlier checkpoints stay as they were
   */
  async writeCheckpoint(
    state: RunState,
    save: (dir: string) => Promise<unknown> | unknown,
    prune?: PruneOptions,
  ): Promise<string> {
    const name = checkpointName(state.step)
    const target = this.path('checkpoints', name)
    const temporary = `${target}.${process.pid}.new.tmp`
    for (const file of ROW_FILES) flushRows(this.path(file))
    try {
      rmSync(temporary, { recursive: true, force: true })
      mkdirSync(temporary, { recursive: true })
      await save(temporary)
      saveRunState(temporary, state)
      removeFolder(target)
      renameSync(temporary, target)
    } catch (error) {
      rmSync(temporary, { recursive: true, force: true })
      throw writeFailure(target, error)
    }
    const pointer = this.path('checkpoints', 'latest')
    guardWrite(pointer, () => writeFileAtomic(pointer, `${name}\n`))
    if (prune) pruneCheckpoints(this.path('checkpoints'), { ...prune, pinned: state.step })
    return target
  }

  /**
   * Goes back to the latest checkpoint: reads its state and drops everything recorded after it.
   * @param changes what changed in the configuration, in words, for the error
   * @throws RunError when there is no checkpoint; CheckpointError when it is broken; ConfigError when settings changed
   */
  resume(expectedConfigHash?: string, changes?: string): ResumePoint {
    const dir = latestCheckpoint(this.dir)
    if (dir === null) {
      throw new RunError(`${this.dir}: there is nothing to resume: no checkpoint was saved yet`, {
        hint: 'start the run again without --resume, in another folder or after removing this one',
      })
    }
    const state = loadRunState(dir, expectedConfigHash, changes)
    this.truncateAfter(state.step)
    return { step: state.step, dir, state }
  }

  /** Gives the lock back. Writing after this is a mistake that nothing guards against. */
  close(): void {
    this.#release()
  }
}

/** Refuses a place where no new run can begin. @throws RunError for a run, for other files, and for a file in its place */
const assertFree = (path: string): void => {
  if (existsSync(path) && !statSync(path).isDirectory()) {
    throw new RunError(`${path}: expected a folder for the run, got a file`, {
      hint: 'choose another folder with --out',
    })
  }
  if (existsSync(join(path, 'config.json'))) {
    throw new RunError(`${path}: there is a run here already`, {
      hint: 'continue it with --resume, or choose another folder with --out',
    })
  }
  if (existsSync(path) && readdirSync(path).some(name => !/^lock$|\.tmp$/.test(name))) {
    throw new RunError(`${path}: the folder is not empty and holds no run`, {
      hint: 'choose another folder with --out',
    })
  }
}

/**
 * What `create` refuses of a folder, or `open` where a run is to go on; nothing is written and no lock taken.
 * @throws RunError, DataError as they do
 */
export const checkRunFolder = (dir: string, resume: boolean): void => {
  const path = resolve(dir)
  if (resume) readRunInfo(path)
  else assertFree(path)
}

const describeRun = (dir: string, options: RunOptions): RunInfo => ({
  ...options,
  id: options.id ?? basename(dir),
  createdAt: options.createdAt ?? new Date().toISOString(),
  config: options.config,
  environment: options.environment ?? describeEnvironment(),
})

const removeLeftovers = (dir: string): void => {
  for (const folder of [dir, join(dir, 'checkpoints')]) {
    if (!existsSync(folder)) continue
    for (const name of readdirSync(folder)) {
      // Within a checkpoint in the making, the policy saves beside the folder that it will fill: `.new.tmp.new`.
      if (/\.tmp(\.new|\.old)?$/.test(name)) rmSync(join(folder, name), { recursive: true, force: true })
    }
  }
}

/**
 * config.json of a run.
 * @throws RunError when there is no run in the folder; DataError when its config.json is broken
 */
export const readRunInfo = (dir: string): RunInfo => {
  const path = join(dir, 'config.json')
  if (!existsSync(path)) {
    throw new RunError(
      `${dir}: there is no run here (no config.json), so there is nothing to read or resume`,
      { hint: 'check the path; runs lie in the folder runs/ unless --out said otherwise' },
    )
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RunInfo
  } catch (error) {
    throw new DataError(`${path}: not JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** Rows of metrics.jsonl written so far; safe while the run goes on. */
export const readMetrics = (dir: string): MetricsRow[] => readRows(join(dir, 'metrics.jsonl'))

/** Rows of rollouts.jsonl written so far, those of earlier versions in the shape of today. */
export const readRollouts = (dir: string): RolloutRow[] =>
  readRows<RolloutRow>(join(dir, 'rollouts.jsonl')).map(upgradeRollout)

/** Rows of evals.jsonl written so far, those of earlier versions in the shape of today. */
export const readEvals = (dir: string): EvalRow[] =>
  readRows<EvalRow>(join(dir, 'evals.jsonl')).map(upgradeEval)

/** Rows of events.jsonl written so far. */
export const readEvents = (dir: string): EventRow[] => readRows(join(dir, 'events.jsonl'))

/** What each row file of a run holds. */
export interface RowTypes {
  metrics: MetricsRow
  rollouts: RolloutRow
  evals: EvalRow
  events: EventRow
}

const UPGRADES: { [File in keyof RowTypes]?: (row: RowTypes[File]) => RowTypes[File] } = {
  rollouts: upgradeRollout,
  evals: upgradeEval,
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
  const found = readRowsFrom<RowTypes[File]>(join(dir, `${file}.jsonl`), position)
  const upgrade = UPGRADES[file]
  return upgrade ? { ...found, rows: found.rows.map(upgrade) } : found
}

/** Folder of the checkpoint that `checkpoints/latest` names; the newest whole one if the pointer is missing or dangling. */
export const latestCheckpoint = (dir: string): string | null => {
  const root = join(dir, 'checkpoints')
  const pointer = join(root, 'latest')
  const named = existsSync(pointer) ? basename(readFileSync(pointer, 'utf8').trim()) : ''
  if (named !== '' && existsSync(join(root, named))) return join(root, named)
  const newest = checkpointSteps(root).at(-1)
  return newest === undefined ? null : join(root, checkpointName(newest))
}

/** A metrics row without its timings: what must be equal between a resumed run and an uninterrupted one. */
export const withoutTimings = ({ time: _time, ...row }: MetricsRow): MetricsRow => row as MetricsRow
