/** @file A run on disk: a folder of plain files, one writer, any number of readers while it goes on. */

import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  isBeingWritten,
  isTemporaryName,
  syncFolder,
  temporaryPath,
  writeFileAtomic,
} from '../util/atomic.ts'
import { NumericError } from '../util/errors.ts'
import { checkCheckpoint, pointedTo, sealCheckpoint, setAside } from './checkpoints.ts'
import { describeEnvironment } from './environment.ts'
import { guardWrite, RunError, saveFailure } from './errors.ts'
import { FORK_FOLDER } from './forks.ts'
import { type RunLock, takeLock } from './lock.ts'
import { hasCheckpoints, isRun, readMetrics, readRunInfo } from './readers.ts'
import { chooseCheckpoint, type ResumeOptions } from './resume.ts'
import { cutBackTo, type RowExtent } from './row-extent.ts'
import { keepThrough, repairTail } from './row-files.ts'
import type { EvalRow, EventRow, MetricsRow, RolloutRow, RubricRow, RunExtension, RunInfo } from './rows.ts'
import { ROW_FILES, type RowFile, RunRows } from './run-rows.ts'
import {
  checkpointName,
  type PruneOptions,
  pruneCheckpoints,
  type RunState,
  removeFolder,
  saveRunState,
} from './run-state.ts'

/** What `create` needs; id, createdAt and environment have defaults. */
export type NewRunOptions = Partial<RunInfo> & { config: unknown }

/** Where to go on: the checkpoint's folder and the state beside it. */
export interface ResumePoint {
  step: number
  dir: string
  state: RunState
  /** What a person should know: damage that was found, and what was done about it. Among the run's events as well. */
  warnings: string[]
  /** A scheduler goes on, not a person. */
  unattended?: boolean
}

type NewSettings = Pick<RunExtension, 'step' | 'before'> & Pick<RunInfo, 'config' | 'steps'>

const NO_VALUE_HINT = 'it may be a mean over nothing: a metric without a value is left out of its row'

const refuseNonFinite = (row: object, where: string, hint: string, path = ''): void => {
  for (const [key, value] of Object.entries(row)) {
    const name = path === '' ? key : `${path}.${key}`
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new NumericError(`${where}: ${name} is ${value}`, { hint })
    }
    if (value !== null && typeof value === 'object') refuseNonFinite(value, where, hint, name)
  }
}

/**
 * A run folder open for writing. `readMetrics` and its like take no lock.
 * @example
 * const run = RunFolder.create('runs/first', { config: { seed: 1 }, recipe: 'own' })
 * run.appendMetrics({ step: 1, reward: 0.5 })
 * run.close()
 * readMetrics('runs/first').map(({ reward }) => reward) // [ 0.5 ]
 */
export class RunFolder {
  readonly dir: string
  readonly info: RunInfo
  readonly #lock: RunLock
  readonly #rows: RunRows
  readonly #listeners: (() => void)[] = []
  /** Read when it is needed first: a damaged file is a matter of the resume. */
  #lastStep: number | null = null

  private constructor(dir: string, info: RunInfo, lock: RunLock) {
    this.dir = dir
    this.info = info
    this.#lock = lock
    this.#rows = new RunRows(dir)
  }

  /**
   * Makes the folder `dir` and its config.json, and takes the lock.
   * @throws RunError when there is a run already, when it is locked, or when the disk refuses
   */
  static create(dir: string, options: NewRunOptions): RunFolder {
    const path = resolve(dir)
    assertFree(path)
    guardWrite(path, () => mkdirSync(join(path, 'checkpoints'), { recursive: true }))
    const lock = takeLock(path)
    try {
      // Another process may have made one, and ended, since we looked.
      assertFree(path)
      const info = describeRun(path, options)
      writeInfo(path, info)
      removeLeftovers(path)
      return new RunFolder(path, info, lock)
    } catch (error) {
      lock.release()
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
    const lock = takeLock(path)
    try {
      for (const file of ROW_FILES) repairTail(join(path, file))
      removeLeftovers(path)
      return new RunFolder(path, readRunInfo(path), lock)
    } catch (error) {
      lock.release()
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
    this.#lastStep ??= readMetrics(this.dir).at(-1)?.step ?? Number.NEGATIVE_INFINITY
    if (!(row.step > this.#lastStep)) {
      throw new RunError(
        `${this.path('metrics.jsonl')}: step ${row.step} comes after step ${this.#lastStep}`,
        {
          hint: 'each step is written once; truncateAfter(step) goes back',
        },
      )
    }
    this.#append('metrics.jsonl', [row])
    this.#lastStep = row.step
  }

  /**
   * Appends sampled rollouts with their verdicts.
   * @throws NumericError for NaN or infinity; RunError for a failed write
   */
  appendRollouts(rows: readonly RolloutRow[]): void {
    for (const row of rows)
      refuseNonFinite(row, `rollout of ${row.problemId}, step ${row.step}`, NO_VALUE_HINT)
    this.#append('rollouts.jsonl', rows)
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
    this.#append('evals.jsonl', rows)
  }

  /**
   * Appends what became of rubrics that evolve.
   * @throws NumericError for NaN or infinity; RunError for a failed write
   */
  appendRubrics(rows: readonly RubricRow[]): void {
    for (const row of rows)
      refuseNonFinite(row, `rubrics of ${row.question}, step ${row.step}`, NO_VALUE_HINT)
    this.#append('rubrics.jsonl', rows)
  }

  /** Notes an event with the time of now. */
  appendEvent(event: EventRow): void {
    this.#append('events.jsonl', [{ ...event, at: event.at ?? new Date().toISOString() }])
  }

  /** Calls `listener` after rows were appended, for those who read along. It must be quick, and not throw. */
  onAppend(listener: () => void): void {
    this.#listeners.push(listener)
  }

  #append(file: RowFile, rows: readonly unknown[]): void {
    this.#lock.assertHeld()
    this.#rows.append(file, rows)
    for (const listener of this.#listeners) listener()
  }

  /** Drops what was recorded after `step`, in every row file, and torn last lines. */
  truncateAfter(step: number): void {
    this.#cutBack(path => keepThrough(path, step))
  }

  #cutBack(cut: (path: string, file: RowFile) => void): void {
    this.#lastStep = null
    this.#rows.cutBack(cut)
  }

  /**
   * Drops everything that was recorded, to begin anew in the same folder, with other settings if need be.
   * @throws RunError when there is a checkpoint: that is for `resume`; or a failed write
   */
  restart(options: NewRunOptions): void {
    if (hasCheckpoints(this.dir))
      throw new RunError(`${this.dir}: expected a run without a checkpoint to begin anew`, {
        hint: 'continue it with --resume, or choose another folder with --out',
      })
    this.#cutBack(path => rmSync(path, { force: true }))
    const info = { ...this.info }
    // The new settings may have none of these, and then no old ones either.
    for (const key of OF_SETTINGS) delete info[key]
    Object.assign(info, describeRun(this.dir, options))
    writeInfo(this.dir, info)
    for (const key of OF_SETTINGS) delete this.info[key]
    Object.assign(this.info, info)
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
    const target = this.path('checkpoints', checkpointName(state.step))
    const temporary = temporaryPath(`${target}.new`)
    const rows = this.#rows.extents()
    try {
      rmSync(temporary, { recursive: true, force: true })
      mkdirSync(temporary, { recursive: true })
      await save(temporary)
      saveRunState(temporary, state)
      await sealCheckpoint(temporary, this.dir, state, rows)
      syncFolder(temporary)
      this.#lock.assertHeld()
      removeFolder(target, temporary)
    } catch (error) {
      rmSync(temporary, { recursive: true, force: true })
      throw saveFailure(target, error)
    }
    syncFolder(this.path('checkpoints'))
    pointTo(target)
    // The one before goes only when the new one is known to be there, whole.
    if (prune && isWhole(target))
      pruneCheckpoints(this.path('checkpoints'), { ...prune, pinned: state.step }, isWhole)
    return target
  }

  /**
   * Goes back to the latest checkpoint that is whole: reads its state and drops everything recorded after it. Of what is
   * damaged it tells, here and among the run's events; a damaged checkpoint gets another name.
   * @throws RunError when there is no checkpoint; CheckpointError when none is whole, or rows from before it are damaged;
   * ConfigError when settings changed
   */
  resume(configHash?: string | readonly string[], options: ResumeOptions = {}): ResumePoint {
    const { checkpoint, warnings, aside, moment } = chooseCheckpoint(this.dir, configHash, options)
    const { step, dir, state } = checkpoint
    if (moment) this.#cutBack((path, file) => cutBackTo(path, moment.rows[file] ?? NO_ROWS))
    else this.truncateAfter(step)
    if (basename(dir) !== pointedTo(this.dir)) pointTo(dir)
    for (const damaged of aside) setAside(damaged)
    for (const message of warnings) this.appendEvent({ level: 'warning', message })
    return { step, dir, state, warnings }
  }

  /** Goes to another checkpoint of the run: its row files become what `cut` makes of them, and `latest` points to it. */
  turnTo(checkpoint: string, cut: (path: string, file: RowFile) => void): void {
    this.#lock.assertHeld()
    this.#cutBack(cut)
    pointTo(checkpoint)
  }

  /**
   * Records that the run goes on with other settings than it had.
   * @param step of the checkpoint that it goes on from
   * @throws RunError for a failed write
   */
  extend({ config, steps, step, before }: NewSettings): void {
    this.#lock.assertHeld()
    const extensions = [...(this.info.extensions ?? []), { step, at: new Date().toISOString(), before }]
    writeInfo(this.dir, Object.assign(this.info, { config, steps, extensions }))
  }

  /** Removes the run and all that it holds. @throws RunError when another process took it over */
  remove(): void {
    this.#lock.assertHeld()
    rmSync(this.dir, { recursive: true, force: true })
  }

  /** Gives the lock back. Writing after this is a mistake that nothing guards against. */
  close(): void {
    this.#lock.release()
  }
}

/** What a run says of itself that goes by its settings and rows. */
const OF_SETTINGS = [
  'rubric',
  'criterionNames',
  'criterionAbout',
  'criterionWeights',
  'rewardFormula',
  'primarySet',
  'files',
] as const

export const NO_ROWS: RowExtent = { rows: 0, lastStep: null, bytes: 0, sha256: '' }

/** `checkpoints/latest` says so from now on. */
const pointTo = (checkpoint: string): void => {
  const pointer = join(dirname(checkpoint), 'latest')
  guardWrite(pointer, () => writeFileAtomic(pointer, `${basename(checkpoint)}\n`))
  syncFolder(dirname(checkpoint))
}

/** As far as sizes tell. */
const isWhole = (dir: string): boolean => checkCheckpoint(dir, true).problems.length === 0

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
  if (existsSync(path) && readdirSync(path).some(name => !isOfHalfARun(path, name))) {
    throw new RunError(`${path}: the folder is not empty and holds no run`, {
      hint: 'choose another folder with --out',
    })
  }
}

/** What a run leaves that was killed before its config.json was there. */
const isOfHalfARun = (path: string, name: string): boolean =>
  name === 'lock' ||
  name === FORK_FOLDER ||
  isTemporaryName(name) ||
  (name === 'checkpoints' && readdirSync(join(path, name)).every(isTemporaryName))

/**
 * What `create` refuses of a folder, or `open` where a run is to go on; nothing is written and no lock taken.
 * @throws RunError, DataError as they do
 */
export const checkRunFolder = (dir: string, resume: boolean | 'or-start'): void => {
  const path = resolve(dir)
  if (resume === true || (resume === 'or-start' && isRun(path))) readRunInfo(path)
  else assertFree(path)
}

/**
 * Removes what a run holds of which nothing can be used. Under its lock: a process that was started a moment ago may take it.
 * @throws RunError when another process writes it; nothing is removed then
 */
export const clearRun = (dir: string): void => {
  if (!existsSync(dir)) return
  const lock = takeLock(dir)
  try {
    for (const name of readdirSync(dir))
      if (name !== 'lock') rmSync(join(dir, name), { recursive: true, force: true })
  } finally {
    lock.release()
  }
}

const describeRun = (dir: string, options: NewRunOptions): RunInfo => ({
  ...options,
  id: options.id ?? basename(dir),
  createdAt: options.createdAt ?? new Date().toISOString(),
  config: options.config,
  environment: options.environment ?? describeEnvironment(),
})

const writeInfo = (dir: string, info: RunInfo): void => {
  const file = join(dir, 'config.json')
  guardWrite(file, () => writeFileAtomic(file, `${JSON.stringify(info, null, 2)}\n`))
}

/** What saves that were killed left in a run that is ours now. A report may be written by another process meanwhile. */
const removeLeftovers = (dir: string): void => {
  for (const path of leftoversOf(dir)) rmSync(path, { recursive: true, force: true })
}

/** Paths of what killed saves left in a run that nobody writes. */
export const leftoversOf = (dir: string): string[] =>
  [dir, join(dir, 'checkpoints')].flatMap(folder =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter(isTemporaryName)
          .map(name => join(folder, name))
          .filter(path => folder !== dir || !isBeingWritten(path))
      : [],
  )
