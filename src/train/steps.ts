/** @file The frame of every training: steps, evaluations, checkpoints, time limit, stopping; what a step does is the caller's. */

import type { Policy } from '../policy/policy.ts'
import { readEvals, readMetrics } from '../runs/readers.ts'
import type { EvalRow, EventRow, MetricsRow } from '../runs/rows.ts'
import type { ResumePoint, RunFolder } from '../runs/run-folder.ts'
import { configHash } from '../runs/run-state.ts'
import { PAUSED_LOOK_MS, RunControl } from './control.ts'
import {
  type ActingState,
  actingOf,
  actionEvent,
  type HeldAction,
  MonitorActions,
} from './monitors/acting.ts'
import {
  ACTIONS,
  boundsOf,
  DEFAULT_MONITORS,
  type MonitorName,
  type MonitorSettings,
  monitorsThat,
} from './monitors/config.ts'
import type { WatchedRollout } from './monitors/monitor.ts'
import { eventOf, messageOf, signEvidence, type Warning, Watch } from './monitors/watch.ts'
import type { TurnRequest } from './turn.ts'

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
  /** What monitors did before these steps: of the checkpoint that they go on from. */
  acting?: ActingState
  /** The run goes on from a checkpoint, also of step 0. Default: where steps are behind it. */
  goesOn?: boolean
  /** A scheduler has it go on, not a person: what a monitor held stays held. Default false. */
  unattended?: boolean
  /** Of the steps before these, where the run went back or forth: what people asked for holds on. */
  control?: RunControl
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
  trainStep(step: number, acting: ActingState): Promise<MetricsRow>
  /** Its caller takes the run back to a checkpoint, and its loss heeds the factor of the KL term, when monitors ask for that. */
  turns?: true
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
  /** The monitor that ended it, where one did. */
  stoppedBy?: string
}

/** Where steps ended, or where the run is to go back or forth to, which is the caller's to do. */
export type StepsOutcome = StepsResult & { turn?: TurnRequest; control?: RunControl }

/** What a checkpoint says of the training beside it. */
interface SavedProgress {
  finished: boolean
  /** Milliseconds of training so far, evaluations not counted: a time limit goes on where it was. */
  trainedMs: number
  /** What monitors did; absent where none did anything. */
  acting?: ActingState
}

/** Milliseconds of training that a checkpoint's run state tells of; 0 without one. */
export const trainedMsOf = (recipe: unknown): number =>
  (recipe as Partial<SavedProgress> | undefined)?.trainedMs ?? 0

/** What steps need to know of the checkpoint that they go on from; null: they begin. */
export const progressOf = (
  from: Pick<ResumePoint, 'state' | 'unattended'> | null,
): Pick<StepsSettings, 'trainedMs' | 'acting' | 'goesOn' | 'unattended'> =>
  from === null
    ? {}
    : {
        trainedMs: trainedMsOf(from.state.recipe),
        acting: actingOf(from.state.recipe),
        goesOn: true,
        unattended: from.unattended,
      }

/** Runs steps `from + 1` to `settings.steps`, with an evaluation before the first and after the last. */
export const runSteps = (
  policy: Policy,
  run: RunFolder,
  settings: StepsSettings,
  work: TrainingStep,
  from = 0,
  events: StepEvents = {},
): Promise<StepsOutcome> => new Steps(policy, run, settings, work, events).run(from)

class Steps {
  readonly #policy: Policy
  readonly #run: RunFolder
  readonly #settings: StepsSettings
  readonly #monitors: MonitorSettings | null
  readonly #work: TrainingStep
  readonly #events: StepEvents
  readonly #actions: MonitorActions
  /** Null where nothing is watched for. */
  readonly #watch: Watch | null
  readonly #control: RunControl
  #trainedMs: number

  constructor(
    policy: Policy,
    run: RunFolder,
    settings: StepsSettings,
    work: TrainingStep,
    events: StepEvents,
  ) {
    const { monitors = DEFAULT_MONITORS, acting, trainedMs = 0 } = settings
    this.#policy = policy
    this.#run = run
    this.#settings = settings
    this.#monitors = monitors
    this.#work = work
    this.#events = events
    this.#trainedMs = trainedMs
    this.#actions = new MonitorActions(monitors, acting, work.turns ? ACTIONS : ['stop', 'pause'])
    this.#watch = monitors && new Watch(monitors, run.info.primarySet)
    const change = (name: MonitorName, thresholds: never) => this.#watch?.change(name, thresholds)
    this.#control = new RunControl(run, change, this.#actions, settings.control)
  }

  async run(from: number): Promise<StepsOutcome> {
    const { steps, goesOn = from > 0 } = this.#settings
    if (goesOn) {
      // What was seen before is in the files; told already.
      this.#watch?.replay(readMetrics(this.#run.dir), readEvals(this.#run.dir))
      const found = (await this.#takeUpHeld(from)) ?? (await this.#pause(from, true))
      if (found !== null) return found
    } else {
      const evals = await this.#evaluate(0, false)
      this.#watch?.see(evals)
      // There is something to go back to from the first step on.
      const savesStart = this.#settings.savesStart || this.#rollbackers.length > 0
      if (savesStart) await this.#save(0, steps === 0)
    }
    for (let step = from + 1; step <= steps; step++) {
      const ended = await this.#step(step)
      if (ended !== null) return ended
    }
    return { step: steps, finished: true }
  }

  /** Those that may go back, as long as they have not done so about a sign that stands. */
  get #rollbackers() {
    const { acted, held } = this.#actions.state
    const goes = held?.action === 'rollback'
    return this.#work.turns
      ? monitorsThat(this.#monitors, ['rollback']).filter(name => goes || !acted[name]?.done)
      : []
  }

  /** Which checkpoint monitors would go back to. */
  #backing(monitors: readonly MonitorName[]) {
    // Somebody may have changed what a monitor says since.
    const { through = null } = this.#actions.state.held ?? {}
    if (monitors.length === 0 && through === null) return undefined
    const healthy = this.#watch?.healthyThrough(monitors) ?? 0
    return {
      through: through === null ? healthy : Math.min(through, healthy),
      every: this.#settings.checkpointEvery || 1,
    }
  }

  async #evaluate(step: number, last: boolean): Promise<EvalRow[]> {
    this.#events.onEvaluating?.(step)
    const rows = await this.#work.evaluate(step, last)
    this.#run.appendEvals(rows)
    this.#events.onEval?.(rows)
    return rows
  }

  async #save(step: number, finished: boolean): Promise<void> {
    const { keepCheckpoints: keepLast = 2, configHash: given } = this.#settings
    const recipe: SavedProgress = {
      ...{ finished, trainedMs: this.#trainedMs },
      ...(this.#actions.isLogged && { acting: this.#actions.state }),
    }
    const remains: (() => Promise<void>)[] = []
    const onRemove = (dir: string) => {
      const remove = this.#policy.forget?.(dir)
      if (remove) remains.push(remove)
    }
    await this.#run.writeCheckpoint(
      { step, configHash: given ?? configHash(this.#run.info.config, []), rng: {}, recipe },
      async folder => {
        await this.#policy.save(folder, { last: finished })
        await this.#work.save?.(folder)
      },
      { keepLast, onRemove, backing: this.#backing(this.#rollbackers) },
    )
    await Promise.all(remains.map(remove => remove()))
  }

  /** A step with what follows from it; null where the next one comes. */
  async #step(step: number): Promise<StepsOutcome | null> {
    const { steps, evalEvery, checkpointEvery = 0, maxMinutes = null } = this.#settings
    const startMs = performance.now()
    const row = await this.#work.trainStep(step, this.#actions.state)
    this.#trainedMs += performance.now() - startMs
    this.#run.appendMetrics(row)
    this.#events.onStep?.(row)
    const outOfTime = maxMinutes !== null && this.#trainedMs >= maxMinutes * 60_000
    const atEnd = step === steps || outOfTime
    const evals = atEnd || isDue(step, evalEvery) ? await this.#evaluate(step, atEnd) : []
    for (const warning of this.#watch?.step(row, evals) ?? []) this.#warn(warning)
    const held = outOfTime ? null : this.#act(step, atEnd)
    const last = atEnd && held === null
    if (last) this.#tellEnd(step)
    const asked = this.#control.look(step)
    const stopping = asked.stop || (this.#events.shouldStop?.() ?? false)
    const turns = held === 'rollback' || asked.undoRollback
    const saved = last || stopping || turns || held !== null || asked.save || isDue(step, checkpointEvery)
    if (saved) await this.#save(step, last)
    if (stopping && !last) return { step, finished: false }
    if (held === 'rollback' && asked.undoRollback)
      this.#tell({ step, level: 'info', control: 'refused', message: GOES_BACK })
    if (turns) return held === 'rollback' ? this.#back(step) : this.#forth(step)
    if (held === 'stop') return { step, finished: false, stoppedBy: this.#actions.state.held?.monitor }
    if (last) return { step, finished: true }
    return this.#pause(step, saved)
  }

  /** What a monitor saw goes to the run's files and to whoever listens. */
  #warn(warning: Warning): void {
    this.#run.appendEvent(eventOf(warning))
    this.#actions.turned(warning.monitor)
    if (warning.turn === 'on')
      this.#run.appendRollouts(signEvidence(warning, this.#work.rollouts?.() ?? [], this.#monitors!.keep))
    this.#events.onMessage?.(messageOf(warning))
  }

  #tell(event: EventRow): void {
    this.#run.appendEvent(event)
    this.#events.onMessage?.(`step ${event.step}: ${event.message}`)
  }

  #tellEnd(step: number): void {
    for (const message of this.#work.atEnd?.(readMetrics(this.#run.dir)) ?? []) {
      this.#run.appendEvent({ step, level: 'warning', message })
      this.#events.onMessage?.(message)
    }
  }

  /** Does what monitors ask for, or notes it. @param atEnd only going back is of use then @returns what is to be done with the run */
  #act(step: number, atEnd: boolean): HeldAction['action'] | null {
    const due = this.#watch?.due() ?? []
    const decision = this.#actions.decide(
      step,
      atEnd ? due.filter(({ action }) => action === 'rollback') : due,
    )
    if (decision === null) return null
    const { action, monitors, why } = decision
    if (action === 'raise-kl') {
      this.#tell(this.#actions.raise(step, decision))
      return null
    }
    const through = action === 'rollback' && { through: this.#watch?.healthyThrough(monitors) ?? 0 }
    this.#actions.hold({ action, monitor: monitors[0], step, ...through })
    if (action === 'pause') this.#control.hold()
    if (action !== 'rollback')
      this.#tell(actionEvent(step, action, monitors, { message: `${SAID[action]} (${why})` }))
    return action
  }

  /** What a monitor held when the process before this one ended. */
  async #takeUpHeld(step: number): Promise<StepsOutcome | null> {
    const { held } = this.#actions.state
    if (held === null) return null
    const { action, monitor } = held
    const goesBack = action === 'rollback' && monitorsThat(this.#monitors, ['rollback']).includes(monitor)
    if (goesBack) return this.#back(step)
    if (action === 'rollback' || !this.#settings.unattended) {
      this.#actions.release()
      const why =
        action === 'rollback' ? 'is not to have it go back any more' : `had it ${action}: resumed by hand`
      this.#tell({ step, level: 'info', control: 'go-on', message: `goes on: ${monitor} ${why}` })
      // Whoever resumes it next is to find that.
      await this.#save(step, false)
      return null
    }
    if (action === 'stop') return { step, finished: false, stoppedBy: monitor }
    this.#control.hold()
    return null
  }

  #back(step: number): StepsOutcome {
    const acting = this.#actions.state
    const monitor = acting.held!.monitor
    const { rollbacks: most } = boundsOf(this.#monitors ?? DEFAULT_MONITORS)
    const ends = acting.rollbacks >= most
    const nth = `${acting.rollbacks + 1} of ${most}`
    const tell = (backTo: number): EventRow =>
      actionEvent(backTo, 'rollback', [monitor], {
        message: `went back from step ${step} to the checkpoint of step ${backTo}, the last that ${monitor} has nothing against; ${ends ? 'stops there, having gone back often enough' : `goes on with other random numbers (${nth})`} (${this.#watch?.reason(monitor) ?? ''})`,
        figures: { from: step, to: backTo },
      })
    const turn = { step, acting, trainedMs: this.#trainedMs, back: this.#backing([monitor]), ends, tell }
    return { step, finished: false, stoppedBy: monitor, turn, control: this.#control }
  }

  #forth(step: number): StepsOutcome {
    // What paused it is undone with the rest.
    if (this.#actions.state.held !== null) this.#control.release()
    const tell = (to: number): EventRow => ({
      ...{ step: to, level: 'info', control: 'undo', undone: 'rollback', figures: { from: step, to } },
      message: `the rollback was undone by request: goes on from step ${to}, and what was trained up to step ${step} since then is gone`,
    })
    const turn = { step, acting: this.#actions.state, trainedMs: this.#trainedMs, tell }
    return { step, finished: false, turn, control: this.#control }
  }

  /** Where it is paused: waits until somebody says to go on or to stop, and does what is asked for meanwhile. @param saved there is a checkpoint of the step */
  async #pause(step: number, saved: boolean): Promise<StepsOutcome | null> {
    if (!this.#control.paused) return null
    const { held } = this.#actions.state
    this.#events.onMessage?.(
      `paused after step ${step}${held === null ? '' : ` by ${held.monitor}${HOW_TO_GO_ON}`}`,
    )
    while (this.#control.paused) {
      await new Promise(resolve => setTimeout(resolve, PAUSED_LOOK_MS))
      const asked = this.#control.look(step)
      const stopping = asked.stop || this.#events.shouldStop?.()
      if (asked.save || ((stopping || asked.undoRollback) && !saved)) await this.#save(step, false)
      if (stopping) return { step, finished: false }
      if (asked.undoRollback) return this.#forth(step)
    }
    if (this.#actions.state.held !== null) {
      this.#actions.release()
      await this.#save(step, false)
    }
    return null
  }
}

const HOW_TO_GO_ON =
  ', saved, and waits for a person: "Go on" in the dashboard, or Ctrl+C here and the same command with --resume; --resume-or-start waits again'

const GOES_BACK = 'no rollback was undone: the run goes back once more at this step'

const SAID = { pause: 'paused by a monitor', stop: 'stopped by a monitor, with a checkpoint' } as const

const isDue = (step: number, every = 0) => every > 0 && step % every === 0

/** Whether an evaluation or the end is planned after a step, so that nothing may be under way beyond it. */
export const pausesAfter = (step: number, { steps, evalEvery }: StepsSettings): boolean =>
  step >= steps || isDue(step, evalEvery)
