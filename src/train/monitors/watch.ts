/** @file The watch over a run: looks at every step with every monitor, and says what turned. */

import type { EvalRow, EventRow, MetricsRow, RolloutRow } from '../../runs/rows.ts'
import { actionOfMonitor, type MonitorAction, type MonitorName, type MonitorSettings } from './config.ts'
import { evaluationFalls, heldOutFalls } from './held-out.ts'
import { Latch, type LatchTurn } from './latch.ts'
import type { Monitor, Sign, WatchedRollout } from './monitor.ts'
import { entropyCollapse, hotSampling, ratioExtremes, samplerMismatch, zeroVariance } from './policy.ts'
import { lengthDrift, repetition, scaffoldLeak, truncation } from './responses.ts'
import { alwaysMet, exploits, neverMet, nullVerdicts, singleCriterion } from './rubric.ts'

/** All monitors, by name; the settings say which of them look. */
export const MONITORS: { readonly [Name in MonitorName]: Monitor<Name> } = {
  heldOutFalls,
  evaluationFalls,
  lengthDrift,
  scaffoldLeak,
  repetition,
  singleCriterion,
  nullVerdicts,
  exploits,
  neverMet,
  alwaysMet,
  hotSampling,
  entropyCollapse,
  zeroVariance,
  samplerMismatch,
  truncation,
  ratioExtremes,
}

/** A monitor whose sign has come or gone. */
export interface Warning {
  step: number
  monitor: MonitorName
  turn: LatchTurn
  sign: Sign
}

/** A sign that has stood for long enough, with what is to be done about it. */
export interface DueAction {
  monitor: MonitorName
  action: MonitorAction
  sign: Sign
  /** The step of the look that saw it, which may have been an evaluation some steps ago. */
  seenAt: number
}

/** A monitor that the settings switched on, and what it has said so far. */
interface ActiveMonitor {
  name: MonitorName
  latch: Latch
  /** Looks that its sign has to stand before something is done. */
  patience: number
  /** What it saw last, and at which step. */
  sign: Sign | null
  seenAt: number
  look(): Sign | null
}

/** One that tells its sign once when it comes and once when it goes. */
const active = (
  monitor: Monitor,
  history: Parameters<Monitor['look']>[0],
  settings: MonitorSettings,
): ActiveMonitor[] => {
  const thresholds = settings[monitor.name]
  if (thresholds === null) return []
  // A monitor that is sure after one look has proved its sign by other means, and averages over none.
  const isSure = monitor.confirm === 1
  const latch = new Latch(monitor.confirm ?? settings.confirm, settings, isSure ? 0 : settings.window)
  const patience = thresholds.patience ?? (isSure ? 0 : settings.confirm)
  const look = () => monitor.look(history, thresholds as never, settings)
  return [{ name: monitor.name, latch, patience, sign: null, seenAt: 0, look }]
}

/** Watches one run. Depends on the rows alone: replaying those of a run's files gives the state that it had. */
export class Watch {
  readonly #rows: MetricsRow[] = []
  readonly #evals: EvalRow[] = []
  readonly #history: Parameters<Monitor['look']>[0]
  #settings: MonitorSettings
  #active: ActiveMonitor[]

  constructor(settings: MonitorSettings, primarySet?: string) {
    this.#settings = settings
    this.#history = { rows: this.#rows, evals: this.#evals, primarySet }
    this.#active = (Object.values(MONITORS) as Monitor[]).flatMap(monitor =>
      active(monitor, this.#history, settings),
    )
  }

  /** Gives a monitor other thresholds from the next step on; null switches it off. Its sign is told anew, its action stays. */
  change(name: MonitorName, thresholds: MonitorSettings[MonitorName]): void {
    const { action } = this.#settings[name] ?? {}
    const kept = action && thresholds && { action }
    this.#settings = { ...this.#settings, [name]: thresholds && { ...kept, ...thresholds } }
    const others = this.#active.filter(own => own.name !== name)
    this.#active = [...others, ...active(MONITORS[name] as Monitor, this.#history, this.#settings)]
  }

  /** Takes in evaluations that belong to no step of training: those before the first. */
  see(evals: readonly EvalRow[]): void {
    this.#evals.push(...evals)
  }

  /** Takes in a step with its evaluations, and returns what turned. */
  step(row: MetricsRow, evals: readonly EvalRow[]): Warning[] {
    this.#rows.push(row)
    this.see(evals)
    return this.#active.flatMap(own => {
      const sign = own.look()
      if (sign !== null) Object.assign(own, { sign, seenAt: row.step })
      const turn = own.latch.look(sign?.level ?? null, row.step)
      return sign !== null && turn !== null ? { step: row.step, monitor: own.name, turn, sign } : []
    })
  }

  /** The signs that have stood for their monitors' patience, of monitors that do something about them. */
  due(): DueAction[] {
    return this.#active.flatMap(({ name: monitor, latch, patience, sign, seenAt }) => {
      const action = actionOfMonitor(this.#settings, monitor)
      const stands = sign !== null && sign.level >= 1 && latch.stood !== null && latch.stood >= patience
      return action !== null && stands ? { monitor, action, sign, seenAt } : []
    })
  }

  /** What a monitor saw last, in words. */
  reason(name: MonitorName): string {
    const sign = this.#active.find(own => own.name === name)?.sign
    return sign ? `${MONITORS[name].title}: ${sign.seen}` : MONITORS[name].title
  }

  /** The last step that none of these monitors has anything against. */
  healthyThrough(monitors: readonly MonitorName[]): number {
    const asked = this.#active.filter(({ name }) => monitors.includes(name))
    const steps = asked.map(({ latch }) => latch.healthyThrough)
    return Math.min(this.#rows.at(-1)?.step ?? 0, ...steps)
  }

  /** Takes in what a run's files hold, silently. */
  replay(rows: readonly MetricsRow[], evals: readonly EvalRow[]): void {
    const first = rows[0]?.step ?? Number.POSITIVE_INFINITY
    this.see(evals.filter(({ step }) => step < first))
    for (const row of rows)
      this.step(
        row,
        evals.filter(({ step }) => step === row.step),
      )
  }
}

/** A warning as a line of events.jsonl. */
export const eventOf = ({ step, monitor, turn, sign }: Warning): EventRow => {
  const { title, why, advice } = MONITORS[monitor]
  const event = { step, monitor, turn, figures: sign.figures, title }
  return turn === 'on'
    ? { level: 'warning', message: `${title}: ${sign.seen}`, ...event, why, advice }
    : { level: 'info', message: `${title}: over; ${sign.over ?? sign.seen}`, ...event }
}

/** A warning for the progress lines. */
export const messageOf = (warning: Warning): string => {
  const { level, message, why, advice } = eventOf(warning)
  if (level === 'info') return `step ${warning.step}: ${message}`
  return `warning at step ${warning.step}, ${message}\n  why it matters: ${why}\n  what to try:    ${advice}`
}

/** The rollouts that show a sign best, as rows to keep. */
export const signEvidence = (
  { monitor, sign }: Warning,
  rollouts: readonly WatchedRollout[],
  keep: number,
): RolloutRow[] => {
  const { evidence, together } = MONITORS[monitor]
  const scores = evidence(rollouts, sign)
  const best = rollouts
    .map((rollout, i) => ({ ...rollout, score: scores[i] }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  const seen = new Set<number>()
  const [first, more] = [[] as typeof best, [] as typeof best]
  for (const rollout of best) {
    const again = !together && seen.has(rollout.group)
    seen.add(rollout.group)
    ;(again ? more : first).push(rollout)
  }
  return [...first, ...more].slice(0, keep).map(({ row }) => ({ ...row, monitor }))
}
