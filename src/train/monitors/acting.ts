/** @file What monitors do about signs that stand: decided after a step, bounded, undone by request, and kept in checkpoints. */

import type { EventRow } from '../../runs/rows.ts'
import {
  ACTIONS,
  type ActionBounds,
  boundsOf,
  DEFAULT_MONITORS,
  type MonitorAction,
  type MonitorName,
  type MonitorSettings,
} from './config.ts'
import { type DueAction, MONITORS } from './watch.ts'

/** What waits for a person, or is still to be done: what a resume finds. */
export interface HeldAction {
  action: 'pause' | 'stop' | 'rollback'
  monitor: MonitorName
  step: number
  /** Of a rollback: the last step that none of its monitors had anything against when it was decided. */
  through?: number
}

/** All that was done so far; plain JSON, a part of every checkpoint of a run in which something was. */
export interface ActingState {
  /** What the coefficient of the KL term is multiplied by. */
  klFactor: number
  /** The factors before each raise that stands, the latest last. */
  raised: number[]
  /** Times that the run went back or forth: each has random streams of its own. */
  turns: number
  /** Rollbacks that were not undone. */
  rollbacks: number
  /** By monitor: when it acted on the sign that stands, and whether it does no more about that one. */
  acted: Partial<Record<MonitorName, { step: number; done: boolean }>>
  held: HeldAction | null
}

export const NO_ACTIONS: ActingState = {
  ...{ klFactor: 1, raised: [], turns: 0, rollbacks: 0, acted: {}, held: null },
}

/** What a checkpoint's run state tells of it. */
export const actingOf = (recipe: unknown): ActingState =>
  (recipe as { acting?: ActingState } | undefined)?.acting ?? NO_ACTIONS

/** The seed of all that is drawn: another one after each turn, so that nothing repeats itself. */
export const seedAfter = (seed: number | string, { turns }: Pick<ActingState, 'turns'>): number | string =>
  turns === 0 ? seed : `${seed}~${turns}`

/** What is to be done after a step, by monitors that all ask for the same. */
export interface Decision {
  action: MonitorAction
  monitors: MonitorName[]
  /** The reason, as a sentence. */
  why: string
}

/** Decides and remembers; what is done to the run is the caller's. */
export class MonitorActions {
  readonly #bounds: ActionBounds
  readonly #window: number
  readonly #possible: readonly MonitorAction[]
  #state: ActingState

  /** @param possible what can be done in this training */
  constructor(
    settings: MonitorSettings | null,
    state: ActingState = NO_ACTIONS,
    possible: readonly MonitorAction[] = ACTIONS,
  ) {
    this.#bounds = boundsOf(settings ?? DEFAULT_MONITORS)
    this.#window = (settings ?? DEFAULT_MONITORS).window
    this.#state = state
    this.#possible = possible
  }

  get state(): ActingState {
    return this.#state
  }

  /** Whether there is anything that a checkpoint has to remember. */
  get isLogged(): boolean {
    return this.#state !== NO_ACTIONS
  }

  #change(changes: Partial<ActingState>): void {
    this.#state = { ...this.#state, ...changes }
  }

  /** A sign that turned, or came anew by other thresholds, is another one, which may be acted on. */
  turned(monitor: MonitorName): void {
    const { [monitor]: known, ...acted } = this.#state.acted
    if (known) this.#change({ acted })
  }

  /** The strongest of what signs ask for, of what may still be done. */
  decide(step: number, due: readonly DueAction[]): Decision | null {
    const open = due.filter(own => this.#mayAct(step, own))
    const action = ACTIONS.find(name => open.some(own => own.action === name))
    if (action === undefined) return null
    const chosen = open.filter(own => own.action === action)
    const done = action !== 'raise-kl'
    const acted = Object.fromEntries(chosen.map(({ monitor }) => [monitor, { step, done }]))
    this.#change({ acted: { ...this.#state.acted, ...acted } })
    return {
      action,
      monitors: chosen.map(({ monitor }) => monitor),
      why: chosen.map(({ monitor, sign }) => `${MONITORS[monitor].title}: ${sign.seen}`).join('; '),
    }
  }

  #mayAct(step: number, { monitor, action, seenAt }: DueAction): boolean {
    if (!this.#possible.includes(action)) return false
    const before = this.#state.acted[monitor]
    if (before?.done) return false
    if (action !== 'raise-kl') return true
    // What a raise does shows when the window that metrics are averaged over has passed, and somebody has looked since.
    const waited = before === undefined || (step >= before.step + this.#window && seenAt > before.step)
    return waited && this.#state.klFactor < this.#bounds.klMost
  }

  /** Raises the KL coefficient. @returns the event */
  raise(step: number, { monitors, why }: Decision): EventRow {
    const { klFactor: before, raised } = this.#state
    const klFactor = Math.min(before * this.#bounds.klFactor, this.#bounds.klMost)
    this.#change({ klFactor, raised: [...raised, before] })
    const most = klFactor >= this.#bounds.klMost ? ', which is the most' : ''
    return actionEvent(step, 'raise-kl', monitors, {
      message: `the coefficient of the KL term is ${klFactor} times what is configured${most}, ${before} times before (${why})`,
      figures: { before, klFactor },
    })
  }

  /** Takes the latest raise back; the monitors do no more about signs that stand. @returns the factor; null: none stands */
  undoRaise(): number | null {
    const { raised } = this.#state
    if (raised.length === 0) return null
    const klFactor = raised[raised.length - 1]
    this.#change({ klFactor, raised: raised.slice(0, -1), acted: this.#allDone() })
    return klFactor
  }

  #allDone(): ActingState['acted'] {
    return Object.fromEntries(
      Object.entries(this.#state.acted).map(([monitor, { step }]) => [monitor, { step, done: true }]),
    )
  }

  /** Notes what waits for a person, or is about to be done. */
  hold(held: HeldAction): void {
    this.#change({ held })
  }

  /** A person said to go on. */
  release(): void {
    this.#change({ held: null })
  }
}

/** The state of a run that has gone back: the signs of what it left are no more. */
export const afterRollback = (state: ActingState, ends: boolean): ActingState => ({
  ...state,
  turns: state.turns + 1,
  rollbacks: state.rollbacks + 1,
  acted: {},
  held: ends && state.held ? { ...state.held, action: 'stop' } : null,
})

/** The state of a run whose rollback was undone. @param left its state when it went back @param now before the undoing */
export const afterUndoing = (left: ActingState, now: ActingState): ActingState => ({
  ...left,
  turns: now.turns + 1,
  rollbacks: Math.max(0, now.rollbacks - 1),
  held: null,
})

/** What a monitor did, as a line of events.jsonl. */
export const actionEvent = (
  step: number,
  action: MonitorAction,
  by: readonly MonitorName[],
  event: Pick<EventRow, 'message' | 'figures'>,
): EventRow => ({
  ...{ step, level: 'warning', action, by: by.join(', ') },
  ...event,
  // A run that waits is paused, whoever asked.
  ...(action === 'pause' && { control: 'pause' as const }),
})
