/** @file What is known of formulas under premises, from one call to the next. */

import { RecentMap } from '../../util/recent-map.ts'
import { type Formula, formulaKey } from './formula.ts'

/**
 * - entailed: premises and not(formula) have no model.
 * - contradicted: premises and formula have no model.
 * - consistent: both have one.
 * - unknown: Z3 ran out of time, and the question is outside the ground solver's fragment or takes more work than it may do.
 * - failed: the solver crashed, or could not be started again; nothing is known of the formula.
 * - unparsed: there is no formula.
 * - inconsistent-premises: the premises alone have no model; the item is a data error and must be left out.
 */
export type StepStatus =
  | 'entailed'
  | 'contradicted'
  | 'consistent'
  | 'unknown'
  | 'failed'
  | 'unparsed'
  | 'inconsistent-premises'

/** What one call asks about one set of premises. It holds what is known for itself: the memory may forget it any time. */
export interface AskedPremises {
  premises: readonly Formula[]
  premisesId: number
  /** By the formula's key; `CONSISTENCY` tells of the premises. */
  verdicts: Map<string, StepStatus>
  /** Formulas for the solver. */
  queries: Map<string, Formula>
  /** Something is for the solver, if only whether the premises are consistent. */
  open: boolean
}

/** Verdicts of the last questions, and the numbers that sets of premises go by in it. */
export class VerdictMemory {
  readonly #verdicts: RecentMap<string, StepStatus>
  readonly #premiseIds: RecentMap<string, number>
  readonly #idOfArray = new WeakMap<readonly Formula[], number>()
  readonly #keysOfArray = new WeakMap<readonly Formula[], ReadonlySet<string>>()
  #nextPremisesId = 0

  /** @param verdicts that are kept */
  constructor(verdicts: number) {
    this.#verdicts = new RecentMap(verdicts)
    this.#premiseIds = new RecentMap(Math.ceil(verdicts / 10))
  }

  /** Equal premises have one number. */
  premisesId(premises: readonly Formula[]): number {
    let id = this.#idOfArray.get(premises)
    if (id === undefined) {
      const key = premises.map(formulaKey).join('\n')
      id = this.#premiseIds.get(key)
      if (id === undefined) {
        id = this.#nextPremisesId++
        this.#premiseIds.set(key, id)
      }
      this.#idOfArray.set(premises, id)
    }
    return id
  }

  /** Keys of the premises themselves. */
  premiseKeys(premises: readonly Formula[]): ReadonlySet<string> {
    let keys = this.#keysOfArray.get(premises)
    if (!keys) {
      keys = new Set(premises.map(formulaKey))
      this.#keysOfArray.set(premises, keys)
    }
    return keys
  }

  /** A verdict that the batch holds, or one from memory, which the batch then holds on to. */
  known({ premisesId, verdicts }: AskedPremises, name: string): StepStatus | undefined {
    let known = verdicts.get(name)
    if (known === undefined) {
      known = this.#verdicts.get(`${premisesId}|${name}`)
      if (known !== undefined) verdicts.set(name, known)
    }
    return known
  }

  /** For this call, and in memory for later ones. */
  keep({ premisesId, verdicts }: AskedPremises, key: string, status: StepStatus): void {
    verdicts.set(key, status)
    this.#verdicts.set(`${premisesId}|${key}`, status)
  }
}
