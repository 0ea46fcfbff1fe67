/** @file The frame of every training: steps, evaluations, checkpoints, time limit, stopping; what a step does is the caller's. */

import type { Policy } from '../policy/policy.ts'
import { readEvals, readMetrics } from '../runs/readers.ts'
import type { EvalRow, MetricsRow } from '../runs/rows.ts'
import type { RunFolder } from '../runs/run-folder.ts'
import { configHash } from '../runs/run-state.ts'
import { PAUSED_LOOK_MS, RunControl } from './control.ts'
import { DEFAULT_MONITORS, type MonitorName, type MonitorSettings } from './monitors/config.ts'
import type { WatchedRollout } from './monitors/monitor.ts'
import { eventOf, messageOf, signEvidence, Watch } from './monitors/watch.ts'

export interface StepsSettings {
  steps: number
  /** Evaluate every this many steps, besides the start and the end; 0, the default, for only those. */
  evalEvery?: number
  /** Save every this many steps, besides the end; 0, the default, for only that. */
  checkpointEvery?: number
  /** Save before the first step too. Default false. */
  savesStart?: boolean
  /** Newest checkpoints that stay. Default 2. */
  keepCheckpoints?: number
  /** Stop after this many minutes of training, evaluations not counted; for comparisons at equal time. Default null: never. */
  maxMinutes?: number | null
  /** Milliseconds trained before these steps: what a resumed run has used of its `maxMinutes`. Default 0. */
  trainedMs?: number
  /** What checkpoints are recognised by. Default: the hash of the run's whole configuration. */
  configHash?: string
  /** What is watched for; null: nothing. Default: every monitor with its defaults. */
  monitors?: MonitorSettings | null
}

export interface StepEvents {
  onStep?(row: MetricsRow): void
  /** An evaluation begins, which may take as long as many steps. */
  onEvaluating?(step: number): void
  onEval?(rows: readonly EvalRow[]): void
  /** Something to tell a person: a monitor's warning. */
  onMessage?(text: string): void
  /** Asked after every step: true finishes here, with a checkpoint to go on from. */
  shouldStop?(): boolean
}

export interface TrainingStep {
  /** One training step, 1-based; its metrics row is appended by the caller of this. */
  trainStep(step: number): Promise<MetricsRow>
  /** Evaluations of the policy as it is; `last` after the final step. */
  evaluate(step: number, last: boolean): Promise<EvalRow[]>
  /** Writes into a checkpoint's folder what it takes to go on, besides the policy. */
  save?(folder: string): Promise<void>
  /** What a person should know of the whole run once its last step is done: events, in a line each. */
  atEnd?(metrics: readonly MetricsRow[]): string[]
  /** All rollouts of the latest step, for a warning to keep those that show it. */
  rollouts?(): readonly WatchedRollout[]
}

/** Where training ended: `finished` unless it was asked to stop before the planned end. */
export interface StepsResult {
  step: number
  finished: boolean
}

/** What a checkpoint says of the training beside it. */
interface SavedProgress {
  finished: boolean
  /** Milliseconds of training so far, evaluations not counted: a time limit goes on where it was. */
  trainedMs: number
}

/** Milliseconds of training that a checkpoint's run state tells of; 0 without one. */
export const trainedMsOf = (recipe: unknown): number =>
  (recipe as Partial<SavedProgress> | undefined)?.trainedMs ?? 0

/** Runs steps `from + 1` to `settings.steps`, with an evaluation before the first and after the last. */
export const runSteps = async (
  policy: Policy,
  run: RunFolder,
  settings: StepsSettings,
  work: TrainingStep,
  from = 0,
  events: StepEvents = {},
): Promise<StepsResult> => {
  const evaluate = async (step: number, last: boolean) => {
    events.onEvaluating?.(step)
    const rows = await work.evaluate(step, last)
    run.appendEvals(rows)
    events.onEval?.(rows)
    return rows
  }
  const watch = watchOver(run, settings.monitors, work, events)
  const { evalEvery, checkpointEvery = 0, maxMinutes = null, keepCheckpoints: keepLast = 2 } = settings
  const hash = settings.configHash ?? configHash(run.info.config, [])
  let { trainedMs = 0 } = settings
  const save = async (step: number, finished: boolean) => {
    const recipe: SavedProgress = { finished, trainedMs }
    const remains: (() => Promise<void>)[] = []
    const onRemove = (dir: string) => {
      const remove = policy.forget?.(dir)
      if (remove) remains.push(remove)
    }
    await run.writeCheckpoint(
      { step, configHash: hash, rng: {}, recipe },
      async folder => {
        await policy.save(folder, { last: finished })
        await work.save?.(folder)
      },
      { keepLast, onRemove },
    )
    await Promise.all(remains.map(remove => remove()))
  }

  const control = new RunControl(run, watch.change)
  if (from === 0) watch.start(await evaluate(0, false))
  else watch.resume()
  if (from === 0 && settings.savesStart) await save(0, settings.steps === 0)
  for (let step = from + 1; step <= settings.steps; step++) {
    const startMs = performance.now()
    const row = await work.trainStep(step)
    trainedMs += performance.now() - startMs
    run.appendMetrics(row)
    events.onStep?.(row)
    const outOfTime = maxMinutes !== null && trainedMs >= maxMinutes * 60_000
    const last = step === settings.steps || outOfTime
    watch.step(row, last || isDue(step, evalEvery) ? await evaluate(step, last) : [])
    if (last)
      for (const message of work.atEnd?.(readMetrics(run.dir)) ?? []) {
        run.appendEvent({ step, level: 'warning', message })
        events.onMessage?.(message)
      }
    const asked = control.look(step)
    let stopping = asked.stop || (events.shouldStop?.() ?? false)
    const saved = last || stopping || asked.save || isDue(step, checkpointEvery)
    if (saved) await save(step, last)
    if (control.paused && !last && !stopping) {
      events.onMessage?.(`paused after step ${step}`)
      stopping = await whilePaused(control, step, events, () => save(step, false))
      if (stopping && !saved) await save(step, false)
    }
    if (last || stopping) return { step, finished: last }
  }
  return { step: settings.steps, finished: true }
}

/**
 * Waits until somebody says to go on or to stop, and saves when that is asked for meanwhile.
 * @returns whether to stop
 */
const whilePaused = async (
  control: RunControl,
  step: number,
  events: StepEvents,
  save: () => Promise<void>,
): Promise<boolean> => {
  while (control.paused) {
    await new Promise(resolve => setTimeout(resolve, PAUSED_LOOK_MS))
    const asked = control.look(step)
    if (asked.stop || events.shouldStop?.()) return true
    if (asked.save) await save()
  }
  return false
}

/** The monitors' place in a run: what they see goes to its files and to whoever listens. */
const watchOver = (
  run: RunFolder,
  settings: MonitorSettings | null = DEFAULT_MONITORS,
  { rollouts }: TrainingStep,
  events: StepEvents,
) => {
  if (settings === null) return { start: () => {}, resume: () => {}, step: () => {}, change: () => {} }
  const watch = new Watch(settings, run.info.primarySet)
  return {
    start: (evals: readonly EvalRow[]) => watch.see(evals),
    /** What was seen before is in the files; told already. */
    change: (name: MonitorName, thresholds: never) => watch.change(name, thresholds),
    resume: () => watch.replay(readMetrics(run.dir), readEvals(run.dir)),
    step: (row: MetricsRow, evals: readonly EvalRow[]) => {
      for (const warning of watch.step(row, evals)) {
        run.appendEvent(eventOf(warning))
        if (warning.turn === 'on')
          run.appendRollouts(signEvidence(warning, rollouts?.() ?? [], settings.keep))
        events.onMessage?.(messageOf(warning))
      }
    },
  }
}

const isDue = (step: number, every = 0) => every > 0 && step % every === 0

/** Whether an evaluation or the end is planned after a step, so that nothing may be under way beyond it. */
export const pausesAfter = (step: number, { steps, evalEvery }: StepsSettings): boolean =>
  step >= steps || isDue(step, evalEvery)
