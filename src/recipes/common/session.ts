/** @file What every recipe's run does around its training: opens the folder, resumes, closes what it opened, writes the report. */

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { RunError } from '../../runs/errors.ts'
import { FORK_FOLDER, forkFolder } from '../../runs/forks.ts'
import { hasCheckpoints, isRun, latestCheckpoint, readMetrics, readRunInfo } from '../../runs/readers.ts'
import { differentSettings } from '../../runs/report/compare.ts'
import { writeReport } from '../../runs/report/report.ts'
import { type NewRunOptions as NewRun, type ResumePoint, RunFolder } from '../../runs/run-folder.ts'
import type { TrackerSettings } from '../../runs/trackers/config.ts'
import type { EndStatus } from '../../runs/trackers/tracker.ts'
import {
  checkTrackers,
  RunTrackers,
  TENSORBOARD_FOLDER,
  TRACKERS_FOLDER,
} from '../../runs/trackers/trackers.ts'
import type { StepsResult } from '../../train/steps.ts'
import { shortJson } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { packageVersion } from '../../util/package.ts'
import {
  acceptableHashes,
  decidingHash,
  decidingSettings,
  EXTENDABLE_KEYS,
  extensionOf,
  isAtItsEnd,
  MADE_ONCE,
} from './deciding.ts'
import type { RunOptions, RunResult } from './recipe.ts'

export interface RunSession {
  run: RunFolder
  /** Where to go on; null for a new run. */
  from: ResumePoint | null
  /** Of a new run that is a fork the checkpoint that it starts from, for the optimiser's state; else null. */
  fork: string | null
  /** Of all that decides what is computed. */
  configHash: string
  /** Tells what is known before the first step, and keeps it among the run's events; nothing where the run goes on. */
  note(messages: readonly string[]): void
  /** Closes a resource when the run ends, whichever way. */
  use<T extends { close(): Promise<unknown> }>(resource: Promise<T>): Promise<T>
}

export interface RunSessionOptions extends RunOptions {
  info: NewRun
  /** Whether the run may go on before it has a checkpoint of its own: an earlier phase has kept one. */
  mayLackCheckpoint?: (dir: string) => boolean
}

/**
 * Opens or makes the run folder, does the work, closes everything, and writes the report, also of a run that failed.
 * A run that is finished already is left as it is.
 * @throws RunError, ConfigError, CheckpointError as RunFolder does; what `work` throws, noted among the run's events.
 */
export const withRun = async (
  options: RunSessionOptions,
  work: (session: RunSession) => Promise<StepsResult>,
): Promise<RunResult> => {
  const { dir, events = {} } = options
  const config = options.info.config as { trackers?: readonly TrackerSettings[] }
  const { trackers: tracked = [] } = config
  const configHash = decidingHash(config)
  checkTrackers(tracked)
  const resume = options.resume === true || (options.resume === 'or-start' && isRun(dir))
  const run = resume ? RunFolder.open(dir) : RunFolder.create(dir, newRun(options))
  const opened: Promise<{ close(): Promise<unknown> }>[] = []
  const use: RunSession['use'] = resource => {
    resource.catch(() => {})
    opened.push(resource)
    return resource
  }
  let opening = resume
  let trackers: RunTrackers | null = null
  let end: EndStatus = 'failed'
  try {
    const from = resume ? resumePoint(run, options) : null
    if (from && isAtItsEnd(from, config, configHash)) {
      events.onMessage?.(
        `${run.dir}: finished already at step ${from.step}; nothing is left to do (--set steps=N takes it further)`,
      )
      return resultOf(run, { step: from.step, finished: true })
    }
    if (from) extend(run, options, from)
    opening = false
    if (tracked.length > 0)
      trackers = new RunTrackers(tracked, run, { tell: events.onWarning ?? events.onMessage })
    const note = (messages: readonly string[]) => {
      for (const message of from === null ? messages : []) {
        run.appendEvent({ level: 'info', message })
        events.onMessage?.(message)
      }
    }
    const fork = from ? null : forkFolder(run.dir)
    const result = await work({ run, from, fork, configHash, note, use })
    end = result.finished ? 'finished' : 'stopped'
    return resultOf(run, result)
  } catch (error) {
    // A resume that is refused says something of the command, and nothing of the run.
    const isRefusal = error instanceof ConfigError || error instanceof RunError
    // The run's own error matters more than a failure to note it (the disk may be full).
    if (!(opening && isRefusal))
      attempt(() =>
        run.appendEvent({ level: 'error', message: error instanceof Error ? error.message : String(error) }),
      )
    throw error
  } finally {
    await closeAll(opened)
    await trackers?.close(end)
    // A folder that cannot be removed, or is another process's by now, stays.
    if (!resume && holdsNothing(run.dir)) attempt(() => run.remove())
    run.close()
    report(run, message => events.onMessage?.(message))
  }
}

/** Notes what a resume changes of how far the run goes. */
const extend = (run: RunFolder, { info, events }: RunSessionOptions, from: ResumePoint): void => {
  const extension = extensionOf(info.config as object, run.info, from)
  if (extension === null) return
  run.extend({ config: info.config, steps: info.steps, step: from.step, before: extension.before })
  const message = `settings changed after step ${from.step}: ${extension.words}`
  run.appendEvent({ level: 'info', step: from.step, message })
  events?.onMessage?.(message)
}

/** A run that failed before its first result leaves nothing that would stand in the way of the next try. */
const holdsNothing = (dir: string): boolean =>
  existsSync(join(dir, 'checkpoints')) &&
  readdirSync(dir).every(name =>
    [
      'config.json',
      'events.jsonl',
      'control.jsonl',
      'checkpoints',
      'lock',
      FORK_FOLDER,
      TRACKERS_FOLDER,
      TENSORBOARD_FOLDER,
    ].includes(name),
  ) &&
  readdirSync(join(dir, 'checkpoints')).length === 0

const NAMED_CHANGES = 5

/** `seed 1 then, 2 now`: what differs from the run's own configuration, but for what may. */
const changesSince = (
  run: RunFolder,
  config: object,
  allowed: readonly string[] = [],
): string | undefined => {
  const then = readRunInfo(run.dir).config as object
  const changes = differentSettings(decidingSettings(then), decidingSettings(config))
    .filter(({ name }) => !allowed.includes(name))
    .map(({ name, a, b }) => `${name} ${shortJson(a)} then, ${shortJson(b)} now`)
  if (changes.length === 0) return undefined
  const more = changes.length - NAMED_CHANGES
  return [...changes.slice(0, NAMED_CHANGES), ...(more > 0 ? [`${more} more`] : [])].join('; ')
}

const resumePoint = (run: RunFolder, options: RunSessionOptions): ResumePoint | null => {
  const { info, mayLackCheckpoint, acceptRows, events } = options
  if (!hasCheckpoints(run.dir)) {
    const hasPhase = mayLackCheckpoint?.(run.dir) === true
    if (hasPhase || options.resume === 'or-start') {
      const isTheSame =
        changesSince(run, info.config as object) === undefined && otherFile(run, options) === null
      for (const name of isTheSame ? [] : Object.values(MADE_ONCE))
        rmSync(run.path(name), { recursive: true, force: true })
      if (!hasPhase) startAgain(run, options)
      else if (isTheSame) run.truncateAfter(-1)
      else run.restart(newRun(options))
      return null
    }
  }
  const other = otherFile(run, options)
  // Rows that were held out might be trained on, or rewards of two rubrics be one curve.
  if (other !== null)
    throw new RunError(other, {
      hint: 'put it back as it was, or begin a new run from the weights and the optimiser of this one: --from RUN in place of --resume',
    })
  const point = run.resume(acceptableHashes(info.config as object, run.info), {
    changes: changesSince(run, info.config as object, EXTENDABLE_KEYS),
    acceptRows,
  })
  const tell = events?.onWarning ?? events?.onMessage
  for (const warning of point.warnings) tell?.(warning)
  return { ...point, unattended: options.resume === 'or-start' }
}

/** A file of rows or a rubric that is another one than when the run began, in words; null where there is none. */
const otherFile = ({ dir, info }: RunFolder, { files = [] }: RunSessionOptions): string | null => {
  const began = new Map((info.files ?? []).map(({ path, sha256 }) => [path, sha256]))
  const other = files.find(({ path, sha256 }) => began.has(path) && began.get(path) !== sha256)
  if (other === undefined) return null
  const [then, now] = [began.get(other.path)!, other.sha256].map(sha256 => sha256.slice(0, 12))
  return `${other.path}: changed since ${dir} began (SHA-256 ${then} then, ${now} now)`
}

/** What a run that was killed before its first checkpoint had recorded is made again. */
const startAgain = (run: RunFolder, options: RunSessionOptions): void => {
  const steps = attempt(() => readMetrics(run.dir).length) ?? 0
  run.restart(newRun(options))
  const message = `${run.dir}: it ended before its first checkpoint; begun again from the start${steps > 0 ? `, ${steps} recorded steps dropped` : ''}`
  run.appendEvent({ level: 'info', message })
  options.events?.onMessage?.(message)
}

/** What is done as far as it can be; undefined where it cannot. */
const attempt = <Result>(work: () => Result): Result | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

const newRun = ({ info, preset, forkedFrom, data = [], files = [] }: RunSessionOptions): NewRun => ({
  ...info,
  ...(data.length > 0 && { data: [...data] }),
  ...(files.length > 0 && { files: [...files] }),
  ...(forkedFrom !== undefined && { forkedFrom }),
  ...(preset !== undefined && { preset }),
  version: packageVersion(),
})

const resultOf = ({ dir }: RunFolder, { step, finished, stoppedBy }: StepsResult): RunResult => ({
  dir,
  step,
  finished,
  ...(stoppedBy !== undefined && { stoppedBy }),
  checkpoint: latestCheckpoint(dir),
})

const closeAll = async (opened: readonly Promise<{ close(): Promise<unknown> }>[]): Promise<void> => {
  const settled = await Promise.allSettled(opened)
  await Promise.allSettled(
    settled.flatMap(result => (result.status === 'fulfilled' ? [result.value.close()] : [])),
  )
}

const report = (run: RunFolder, tell: (message: string) => void): void => {
  const hasRows = ['metrics.jsonl', 'evals.jsonl'].some(name => existsSync(join(run.dir, name)))
  if (!hasRows) return
  try {
    writeReport(run.dir)
  } catch (error) {
    tell(`the report could not be written: ${(error as Error).message}`)
  }
}
