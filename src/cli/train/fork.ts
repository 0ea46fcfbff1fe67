/** @file `gradus train --from`: the settings of a run that begins with another run's weights and optimiser. */

import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FORK_FOLDER, type ForkSource, findFork, keepFork } from '../../runs/forks.ts'
import { isRun, readRunInfo } from '../../runs/readers.ts'
import { checkRunFolder } from '../../runs/run-folder.ts'
import { UsageError } from '../../util/errors.ts'
import { isRecord } from '../../util/own-value.ts'
import type { BaseSettings, Settings } from './settings.ts'

type Tree = Record<string, unknown>

/** The settings that a run was made with, to begin another one with them or to go on. @throws RunError, DataError */
export const settingsOfRun = (dir: string): BaseSettings => {
  const { recipe, preset, config } = readRunInfo(dir)
  const { out: _out, ...rest } = config as Tree
  return {
    recipe: String(recipe ?? (config as Tree).recipe),
    preset,
    config: rest,
    source: join(dir, 'config.json'),
  }
}

/** Phases before a recipe's own steps, which a fork has behind it. */
const EARLIER_PHASES = ['coldStart', 'sft']

/**
 * Settings with a checkpoint as their model, and without the phases that led to it.
 * @throws UsageError where the model is not in this process, or none can be named
 */
const fromCheckpoint = (settings: Settings, folder: string, parent: Tree): Settings => {
  const { model, policy, ...rest } = settings.config
  const kind = isRecord(policy) ? (policy.kind ?? 'local') : 'local'
  if (kind !== 'local' || (isRecord(parent.policy) && (parent.policy.kind ?? 'local') !== 'local'))
    throw new UsageError('--from: expected runs whose policy is in this process, got one on a server', {
      hint: 'start from a stored checkpoint of the service: docs/howto/training-services.md',
    })
  if (!isRecord(model) || !('folder' in model))
    throw new UsageError(`--from: ${settings.entry.name} takes no model to start from`, {
      hint: 'leave --from out',
    })
  const skipped = EARLIER_PHASES.filter(key => key in rest && (key === 'coldStart' || parent[key] != null))
  const config = {
    ...rest,
    ...Object.fromEntries(skipped.map(key => [key, null])),
    policy,
    model: { ...model, folder },
  }
  return { ...settings, config }
}

/** A fork that is planned or under way. */
export interface Fork {
  settings: Settings
  /** For the run's record; absent where the run is there and has one. */
  forkedFrom?: { run: string; step: number }
  /** Undoes what was put into the folder if no run came of it. */
  release(): void
}

/** The same settings, for a run that is no fork. */
const noFork = (settings: Settings): Fork => ({ settings, release: () => {} })

/**
 * Puts a fork's checkpoint into the folder of the new run; of a run that goes on, takes the one that it has.
 * @param from what `--from` said
 * @param plan nothing is written; the checkpoint is named where it lies
 * @throws UsageError, RunError, CheckpointError
 */
export const beginFork = (
  settings: Settings,
  dir: string,
  { from, resume, plan }: { from?: string; resume: boolean | 'or-start'; plan: boolean },
): Fork => {
  if (resume !== false && isRun(dir)) return goOnForked(settings, dir)
  if (from === undefined) return noFork(settings)
  const source: ForkSource = findFork(from)
  const parent = readRunInfo(source.run).config as Tree
  const forkedFrom = { run: source.run, step: source.step }
  // What cannot be forked is refused before anything is written.
  const planned = fromCheckpoint(settings, source.checkpoint, parent)
  checkRunFolder(dir, false)
  if (plan) return { settings: planned, forkedFrom, release: () => {} }
  const folder = keepFork(dir, source)
  return { settings: fromCheckpoint(settings, folder, parent), forkedFrom, release: () => discard(dir) }
}

const goOnForked = (settings: Settings, dir: string): Fork => {
  const { forkedFrom, config } = readRunInfo(dir)
  if (forkedFrom === undefined) return noFork(settings)
  const { folder } = ((config as Tree).model ?? {}) as { folder?: unknown }
  const kept = typeof folder === 'string' ? folder : join(dir, FORK_FOLDER)
  return noFork(fromCheckpoint(settings, kept, config as Tree))
}

const discard = (dir: string): void => {
  if (isRun(dir) || !existsSync(dir)) return
  rmSync(join(dir, FORK_FOLDER), { recursive: true, force: true })
  if (readdirSync(dir).length === 0) rmdirSync(dir)
}
