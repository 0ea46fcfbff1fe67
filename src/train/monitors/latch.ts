/** @file Hysteresis: a sign is told once when it is there, once when it is gone, however it flickers. */

import type { MonitorSettings } from './config.ts'

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
