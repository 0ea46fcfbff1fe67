/** @file One logic problem: premises as shown and as formulas, a conclusion, and what the answer is. */

import type { Formula } from './formula.ts'

/** True: the premises entail the conclusion. False: they entail its negation. Unknown: neither. */
export type LogicLabel = 'True' | 'False' | 'Unknown'

export const LOGIC_LABELS: readonly LogicLabel[] = ['True', 'False', 'Unknown']

export interface LogicProblem {
  id: string
  /** The premises as shown to the model. */
  premises: string[]
  /** The premises as formulas, in the same order. */
  premisesFol: Formula[]
  conclusion: string
  /** Null where the source has no formula for it (FOLIO's training rows), or none that gives the label: proofs are not known then. */
  conclusionFol: Formula | null
  label: LogicLabel
  /** Reasoning hops from the fact to the conclusion, where the source says so. */
  hops?: number
  /** A gold proof: one step a line, as text. */
  proof?: string[]
  /** Where the problem comes from: a generator's or a file's name. */
  source: string
}
