/** @file How a monitor's sign stands, look by look: when it has come, when it is over, how long it has stood, since when it was not there. */

import type { MonitorSettings } from './config.ts'

export type LatchTurn = 'on' | 'over'

/** Comes after looks in a row above its threshold, and goes after more of them well below it. */
export class Latch {
  readonly #confirm: number
  readonly #settings: Pick<MonitorSettings, 'calm' | 'release'>
  #active = false
  #looks = 0
  #stood = 0
  readonly #lag: number
  /** Steps of the latest looks. */
  readonly #steps: number[] = []
  #calmStep = 0
  /** The first step that the metric was made of when its level rose; null while it is low. */
  #roseFrom: number | null = null

  /** @param lag looks that a metric is the mean over; 0: each look is of the policy as it is */
  constructor(confirm: number, settings: Pick<MonitorSettings, 'calm' | 'release'>, lag = 0) {
    this.#confirm = confirm
    this.#settings = settings
    this.#lag = lag
  }

  /** Takes the level of one look (null: nothing was seen at all, which changes nothing) and says whether the sign turned. */
  look(seen: number | null, step = 0): LatchTurn | null {
    if (seen === null) return null
    // Nothing over a threshold of nothing.
    const level = Number.isNaN(seen) ? 0 : seen
    this.#steps.push(step)
    if (this.#steps.length > this.#lag + 1) this.#steps.shift()
    if (level < this.#settings.release) {
      this.#calmStep = step
      this.#roseFrom = null
    } else this.#roseFrom ??= this.#steps.at(-this.#lag) ?? 0
    this.#stood = this.#active && level >= 1 ? this.#stood + 1 : 0
    const towards = this.#active ? level < this.#settings.release : level >= 1
    this.#looks = towards ? this.#looks + 1 : 0
    if (this.#looks < (this.#active ? this.#settings.calm : this.#confirm)) return null
    this.#active = !this.#active
    this.#looks = 0
    this.#stood = 0
    return this.#active ? 'on' : 'over'
  }

  /** Looks in a row that the sign has stood above its threshold since it came; null where it is not there. */
  get stood(): number | null {
    return this.#active ? this.#stood : null
  }

  /**
   * The last step whose weights were healthy for all that was seen: those of the last calm look, and where a metric is a mean over
   * looks, those from before all that it was made of when it rose, or would be if it rose at the next look.
   */
  get healthyThrough(): number {
    if (this.#lag === 0) return this.#calmStep
    // The rollouts of a step are by the weights of the one before, which are to be older.
    const from = this.#roseFrom ?? this.#steps.at(1 - this.#lag) ?? 0
    return Math.max(0, Math.min(this.#calmStep, from - 2))
  }
}
