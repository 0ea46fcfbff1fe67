/** @file Does what a person asks of a training between two steps: pauses, goes on, saves, stops, changes a monitor's threshold, undoes what one did. */

import { ControlReader, type ControlRequest } from '../runs/control.ts'
import { hasGivenUp } from '../runs/given-up.ts'
import type { EventRow } from '../runs/rows.ts'
import { ConfigError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import type { MonitorActions } from './monitors/acting.ts'
import { type MonitorName, type MonitorSettings, monitorsSchema } from './monitors/config.ts'
import { MONITORS } from './monitors/watch.ts'

/** A training that waits looks for requests so often. */
export const PAUSED_LOOK_MS = 300

/** What was asked since the last look. */
export interface Requested {
  save: boolean
  stop: boolean
  /** Take up again what the run went back from. */
  undoRollback: boolean
}

export interface ControlledRun {
  dir: string
  appendEvent(event: EventRow): void
}

type Change = (monitor: MonitorName, thresholds: never) => void

/** Thresholds of one monitor, checked as the configuration's are. @throws ConfigError */
export const checkThresholds = (
  monitor: string,
  thresholds: Record<string, number> | null,
): { name: MonitorName; thresholds: MonitorSettings[MonitorName] } => {
  const settings = parseWith(monitorsSchema, { [monitor]: thresholds }, 'monitors')
  if (!Object.hasOwn(MONITORS, monitor))
    throw new ConfigError(`monitors: expected the name of a monitor, got ${monitor}`)
  return { name: monitor as MonitorName, thresholds: settings[monitor as MonitorName] }
}

/** The requests of a run, taken between its steps. */
export class RunControl {
  readonly #run: ControlledRun
  readonly #reader: ControlReader
  readonly #change: Change
  readonly #actions: Pick<MonitorActions, 'undoRaise'>
  /** Thresholds that were asked for. */
  readonly #changed: Map<MonitorName, MonitorSettings[MonitorName]>
  #paused: boolean

  /**
   * @param change gives a monitor other thresholds
   * @param actions what monitors did
   * @param before of this process's steps before these: what was asked then still holds, and nothing asked since is lost
   */
  constructor(
    run: ControlledRun,
    change: Change,
    actions: Pick<MonitorActions, 'undoRaise'>,
    before: RunControl | null = null,
  ) {
    this.#run = run
    this.#reader = before === null ? new ControlReader(run.dir) : before.#reader
    this.#change = change
    this.#actions = actions
    this.#paused = before?.paused ?? false
    this.#changed = before === null ? new Map() : before.#changed
    for (const [name, thresholds] of this.#changed) change(name, thresholds as never)
  }

  /** A monitor has the training wait, as a person may. */
  hold(): void {
    this.#paused = true
  }

  release(): void {
    this.#paused = false
  }

  get paused(): boolean {
    return this.#paused
  }

  /** Takes what was asked; each request becomes an event of the run. @param step the last one that is done */
  look(step: number): Requested {
    const asked: Requested = { save: false, stop: false, undoRollback: false }
    for (const request of this.#reader.next()) {
      if ('refused' in request) {
        this.#tell(step, 'refused', `a request that is none was passed over: ${request.refused}`)
        continue
      }
      this.#take(step, request, asked)
    }
    return asked
  }

  #take(step: number, request: ControlRequest, asked: Requested): void {
    const { action, id } = request
    if (action === 'threshold') {
      this.#changeThreshold(step, request)
      return
    }
    if (action === 'undo') {
      this.#undo(step, request, asked)
      return
    }
    if (action === 'pause') this.#paused = true
    else if (action === 'go-on') this.#paused = false
    else asked[action] = true
    this.#tell(step, action, SAID[action], id)
  }

  #undo(step: number, { id, of }: Extract<ControlRequest, { action: 'undo' }>, asked: Requested): void {
    if (of === 'rollback') {
      if (hasGivenUp(this.#run.dir)) asked.undoRollback = true
      else this.#tell(step, 'refused', 'no rollback was undone: what was given up is not there any more', id)
      return
    }
    // A kill is not to bring it back.
    asked.save = true
    const factor = this.#actions.undoRaise()
    if (factor === null) {
      this.#tell(step, 'refused', 'no raise of the KL coefficient was undone: none stands', id)
      return
    }
    this.#run.appendEvent({
      ...{ step, level: 'info', control: 'undo', undone: of, request: id, figures: { klFactor: factor } },
      message: `a raise was undone by request: the coefficient of the KL term is ${factor === 1 ? 'what is configured' : `${factor} times what is configured`}`,
    })
  }

  #changeThreshold(step: number, request: Extract<ControlRequest, { action: 'threshold' }>): void {
    const { id, monitor } = request
    try {
      const { name, thresholds } = checkThresholds(monitor, request.thresholds)
      this.#change(name, thresholds as never)
      this.#changed.set(name, thresholds)
      const text = thresholds === null ? 'off' : JSON.stringify(thresholds)
      this.#run.appendEvent({
        // Its name is no `monitor` of the event: that would be a monitor's own word.
        ...{ step, level: 'info', control: 'threshold', request: id, title: name },
        message: `${monitor} was set to ${text} by request; it holds until this process ends`,
        ...(thresholds !== null && { figures: numbersOf(thresholds) }),
      })
    } catch (error) {
      this.#tell(step, 'refused', `a request was refused: ${(error as Error).message}`, id)
    }
  }

  #tell(step: number, control: NonNullable<EventRow['control']>, message: string, request?: string): void {
    this.#run.appendEvent({
      step,
      level: 'info',
      control,
      message,
      ...(request !== undefined && { request }),
    })
  }
}

const numbersOf = (thresholds: object): Record<string, number> =>
  Object.fromEntries(Object.entries(thresholds).filter(([, value]) => typeof value === 'number'))

const SAID = {
  pause: 'paused by request',
  'go-on': 'goes on by request',
  save: 'a checkpoint was asked for',
  stop: 'stopped by request, with a checkpoint to go on from',
} as const
