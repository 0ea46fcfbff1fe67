/** @file The watch over a run: looks at every step with every monitor, and says what turned. */

import type { EvalRow, EventRow, MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { MonitorName, MonitorSettings } from './config.ts'
import { evaluationFalls, heldOutFalls } from './held-out.ts'
import type { Monitor, Sign, WatchedRollout } from './monitor.ts'
import { entropyCollapse, hotSampling, ratioExtremes, samplerMismatch, zeroVariance } from './policy.ts'
import { lengthDrift, repetition, scaffoldLeak, truncation } from './responses.ts'
import { alwaysMet, exploits, neverMet, nullVerdicts, singleCriterion } from './rubric.ts'

export type LatchTurn = 'on' | 'over'

export class Latch {
  readonly #confirm: number
  readonly #settings: Pick<MonitorSettings, 'calm' | 'release'>
  #active = false
  #looks = 0

  constructor(confirm: number, settings: Pick<MonitorSettings, 'calm' | 'release'>) {
    this.#confirm = confirm
    this.#settings = settings
  }

  /** Takes the level of one look (null: nothing was seen at all, which changes nothing) and says whether the sign turned. */
  look(level: number | null): LatchTurn | null {
    if (level === null) return null
    const towards = this.#active ? level < this.#settings.release : level >= 1
    this.#looks = towards ? this.#looks + 1 : 0
    if (this.#looks < (this.#active ? this.#settings.calm : this.#confirm)) return null
    this.#active = !this.#active
    this.#looks = 0
    return this.#active ? 'on' : 'over'
  }
}

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

/** A monitor that the settings switched on, and what it has said so far. */
interface ActiveMonitor {
  name: MonitorName
  latch: Latch
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
  const latch = new Latch(monitor.confirm ?? settings.confirm, settings)
  return [{ name: monitor.name, latch, look: () => monitor.look(history, thresholds as never, settings) }]
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

  /** Gives a monitor other thresholds from the next step on; null switches it off. Its sign is told anew. */
  change(name: MonitorName, thresholds: MonitorSettings[MonitorName]): void {
    this.#settings = { ...this.#settings, [name]: thresholds }
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
    return this.#active.flatMap(({ name, latch, look }) => {
      const sign = look()
      const turn = latch.look(sign?.level ?? null)
      return sign !== null && turn !== null ? { step: row.step, monitor: name, turn, sign } : []
    })
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
