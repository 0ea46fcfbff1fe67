/** @file The state of a run beside a checkpoint: what it takes to go on as if nothing had happened. */

import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasFile, temporaryPath, writeFileAtomic } from '../util/atomic.ts'
import { shortHash } from '../util/canonical.ts'
import { CheckpointError, ConfigError } from '../util/errors.ts'
import type { RngState } from '../util/rng.ts'
import { guardWrite } from './errors.ts'

/** `recipe` is free-form JSON that belongs to the training: how far it is, banks, schedules, cursors into data. */
export interface RunState {
  step: number
  configHash: string
  rng: Record<string, RngState>
  recipe?: unknown
}

/** Whether a state's `recipe` says that nothing is left to do. */
export const isFinished = (recipe: unknown): boolean =>
  (recipe as { finished?: unknown } | null | undefined)?.finished === true

/** What to do about a checkpoint that cannot be read. */
export const EARLIER_CHECKPOINT = 'resume from an earlier checkpoint by pointing checkpoints/latest at it'

const STATE_FILE = 'run-state.json'
const STEP_FOLDER = /^step-(\d{6,})$/

/**
 * Hash of a configuration whatever the order of its keys.
 * @param freeKeys top-level keys that do not count: they may change between stop and resume
 */
export const configHash = (config: unknown, freeKeys: readonly string[]): string => {
  const kept =
    config !== null && typeof config === 'object' && !Array.isArray(config)
      ? Object.fromEntries(Object.entries(config).filter(([key]) => !freeKeys.includes(key)))
      : config
  return shortHash(kept)
}

/** Writes the state into a checkpoint's folder. @throws RunError when the disk is full */
export const saveRunState = (checkpointDir: string, state: RunState): void => {
  const path = join(checkpointDir, STATE_FILE)
  guardWrite(path, () => writeFileAtomic(path, `${JSON.stringify(state, null, 2)}\n`))
}

const isRngState = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 4 && value.every(part => Number.isInteger(part))

const checkState = (path: string, value: unknown): RunState => {
  const state = value as Partial<RunState> | null
  const sound =
    typeof state === 'object' &&
    state !== null &&
    Number.isInteger(state.step) &&
    typeof state.configHash === 'string' &&
    typeof state.rng === 'object' &&
    state.rng !== null &&
    Object.values(state.rng).every(isRngState)
  if (!sound) {
    throw new CheckpointError(`${path}: expected a step, a configHash and rng states of four integers each`, {
      hint: EARLIER_CHECKPOINT,
    })
  }
  return state as RunState
}

/**
 * Reads the state beside a checkpoint.
 * @throws CheckpointError when it is missing or broken; ConfigError when `expectedConfigHash` is given and differs
 */
export const loadRunState = (checkpointDir: string, expectedConfigHash?: string): RunState => {
  const path = join(checkpointDir, STATE_FILE)
  let value: unknown
  try {
    // Refuses a pipe, at which reading would wait.
    hasFile(path)
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CheckpointError(`${path}: missing or not JSON (${(error as Error).message})`, {
      hint: EARLIER_CHECKPOINT,
      cause: error,
    })
  }
  const state = checkState(path, value)
  if (expectedConfigHash !== undefined) assertSameConfig(checkpointDir, state, expectedConfigHash)
  return state
}

/** What a resume takes and what it does not, for whoever changed too much. */
const RESUME_HINT =
  'on a resume steps, maxMinutes and evaluation.every may change, and policy (but for its kind and sampleBits), checkpoint, monitors, trackers and out; take other changes back, or begin a new run from the weights and the optimiser of this one: --from RUN in place of --resume'

/** @param changes what changed, in words, where the caller knows @throws ConfigError when the state's hash is another one */
export const assertSameConfig = (
  checkpointDir: string,
  state: RunState,
  configHash: string | readonly string[],
  changes?: string,
): void => {
  const accepted = typeof configHash === 'string' ? [configHash] : configHash
  if (accepted.includes(state.configHash)) return
  const path = join(checkpointDir, STATE_FILE)
  throw new ConfigError(
    `${path}: the configuration changed since this checkpoint (${changes ?? `${state.configHash} then, ${accepted[0]} now`})`,
    { hint: RESUME_HINT },
  )
}

/**
 * Name of a checkpoint's folder: `step-000050`.
 * @example
 * checkpointName(40) // 'step-000040'
 */
export const checkpointName = (step: number): string => `step-${String(step).padStart(6, '0')}`

/** The step that a checkpoint's folder is named after; null for another name. */
export const stepOfName = (name: string): number | null => {
  const [, digits] = STEP_FOLDER.exec(name) ?? []
  return digits === undefined ? null : Number(digits)
}

/** Steps of the whole checkpoints under a `checkpoints` folder, ascending. */
export const checkpointSteps = (checkpointsDir: string): number[] => {
  if (!existsSync(checkpointsDir)) return []
  return readdirSync(checkpointsDir)
    .filter(name => STEP_FOLDER.test(name) && existsSync(join(checkpointsDir, name, STATE_FILE)))
    .map(name => Number(STEP_FOLDER.exec(name)![1]))
    .sort((a, b) => a - b)
}

/** Removes a folder so that a kill on the way leaves no half of it under its name; `replacement` takes its place at once. */
export const removeFolder = (dir: string, replacement?: string): void => {
  const doomed = temporaryPath(`${dir}.old`)
  rmSync(doomed, { recursive: true, force: true })
  if (existsSync(dir)) renameSync(dir, doomed)
  if (replacement !== undefined) renameSync(replacement, dir)
  rmSync(doomed, { recursive: true, force: true })
}

export interface PruneOptions {
  /** Keep this many of the newest; at least 2, so that there is one to fall back on. */
  keepLast: number
  /** Keep those whose step is a multiple of this, for ever; 0 or absent keeps none for that reason. */
  keepEvery?: number
  /** The step that `latest` points to: kept, and the newest that counts. Later ones are of a course that was given up. */
  pinned?: number
  /**
   * For a run that may go back: keep the start, the newest two at or before `through`, and some of those after them, which `through` may
   * reach. Only those of every so many steps count, so that what else was saved, at a stop, never changes where the run goes.
   */
  backing?: { through: number; every: number }
  /** Called with each checkpoint's folder before it goes. */
  onRemove?(dir: string): void
}

/** Which steps a pruning keeps. */
export const keptSteps = (steps: readonly number[], options: PruneOptions): number[] => {
  const { keepLast, keepEvery: every = 0, pinned = Number.POSITIVE_INFINITY } = options
  const counted = steps.filter(step => step <= pinned).sort((a, b) => b - a)
  const newest = new Set(counted.slice(0, Math.max(LEAST_KEPT, keepLast)))
  const backing = new Set(options.backing && backingSteps(counted, options.backing))
  return steps.filter(
    step =>
      newest.has(step) ||
      backing.has(step) ||
      step >= pinned ||
      (every > 0 && step > 0 && step % every === 0),
  )
}

const LEAST_KEPT = 2
/** Of those that a run may soon be able to go back to. */
const MOST_BACKING = 8

/** @param steps the newest first */
const backingSteps = (steps: readonly number[], { through, every }: { through: number; every: number }) => {
  const regular = steps.filter(step => step % every === 0)
  const at = regular.findIndex(step => step <= through)
  return at < 0 ? [0] : [0, ...regular.slice(0, Math.min(MOST_BACKING, at)), ...regular.slice(at, at + 2)]
}

/**
 * Removes old checkpoints; returns the steps removed.
 * @param isWhole which ones count as kept; damaged ones are left alone
 */
export const pruneCheckpoints = (
  checkpointsDir: string,
  options: PruneOptions,
  isWhole: (dir: string) => boolean = () => true,
): number[] => {
  const steps = checkpointSteps(checkpointsDir).filter(step =>
    isWhole(join(checkpointsDir, checkpointName(step))),
  )
  const kept = new Set(keptSteps(steps, options))
  const removed = steps.filter(step => !kept.has(step))
  for (const step of removed) {
    const dir = join(checkpointsDir, checkpointName(step))
    options.onRemove?.(dir)
    removeFolder(dir)
  }
  return removed
}
