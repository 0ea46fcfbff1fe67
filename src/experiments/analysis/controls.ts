/** @file Negative controls: arms that must not learn, for what they are rewarded for has nothing to do with the task. */

import { type FinishedRun, metricNamed } from '../metrics/index.ts'
import { type MetricChoice, START } from '../plan/registration.ts'
import { comparePairs, LEVEL, MIN_PAIRS, type PairStatistics } from './analysis.ts'
import { evidenceOfPairs, type PairEvidence } from './evidence.ts'
import { type DecisionRule, type DecisionRules, RULE } from './rules.ts'
import { sharedErrorOf } from './start-error.ts'

/**
 * `passed`: the arm that it controls is above it, and it is shown not to gain on its start by more than the margin; `failed`: it
 * gains as if it were rewarded for the task; `open`: neither shows, or there are too few pairs.
 */
type ControlOutcome = 'passed' | 'failed' | 'open'

/** What a control is judged by: pairs of the arm that it belongs to with it, and of it with its start. */
export interface ControlEvidence {
  above: Omit<PairEvidence, 'planned'>
  gain: Omit<PairEvidence, 'planned'>
}

export interface ControlResult {
  kind: string
  arm: string
  outcome: ControlOutcome
  /** By the rule at registration, where that is another one; else null. */
  atRegistration: { rule: number; outcome: ControlOutcome } | null
  /** The arm less the control; and the control less its start, with the test that this does not go beyond the smallest effect. */
  above: PairStatistics | null
  gain: PairStatistics | null
  /** What has to be said beside the outcome; null where there is nothing, absent in results from before it was looked at. */
  note?: string | null
  /** Null in results from before it was kept: their outcome cannot be worked out again. */
  evidence: ControlEvidence | null
}

interface Control {
  of: string
  metric: MetricChoice
  smallestEffect: number
}

const evidenceOf = (runs: readonly FinishedRun[], { of, metric }: Control, arm: string): ControlEvidence => {
  const reading = metricNamed(metric, 'controls.metric')
  const pairs = (a: string, b: string) =>
    evidenceOfPairs(runs, [a, b], metric, reading, { equal: 'steps', reference: 0 })
  return { above: pairs(of, arm), gain: pairs(arm, START) }
}

/**
 * Whether a run had steps and learnt nothing in any: no optimiser step gave a value. Slim runs have the gradient's norm at a few
 * steps, entropy at all. A policy that tells neither is told by its groups.
 */
const madeNoUpdate = ({ metrics }: FinishedRun): boolean =>
  metrics.some(({ gradNorm }) => gradNorm === null) &&
  metrics.every(
    ({ gradNorm, loss, entropy, zeroVarianceGroups }) =>
      [gradNorm, loss, entropy].every(value => typeof value !== 'number') && (zeroVarianceGroups ?? 1) === 1,
  )

/** What never learnt cannot have learnt from a wrong reward either: a control that passes so shows nothing. */
const noteOf = (runs: readonly FinishedRun[], arm: string): string | null => {
  const own = runs.filter(run => run.arm === arm)
  const idle = own.filter(madeNoUpdate).length
  if (idle === 0) return null
  return `made no update in ${idle} of ${own.length} runs${idle === own.length ? ': it says nothing' : ''}`
}

type Gains = Pick<ControlResult, 'above' | 'gain'>

const isEnough = (found: PairStatistics | null): found is PairStatistics =>
  found !== null && found.n >= MIN_PAIRS

/** Rules 1 and 2: what it gains was looked at only where the other arm is not above it. */
const outcomeBefore = ({ above, gain }: Gains, smallestEffect: number): ControlOutcome => {
  const shows = (found: PairStatistics | null) => isEnough(found) && found.pairsAlone.interval[0] > 0
  if (shows(above)) return 'passed'
  return shows(gain) && gain!.difference >= smallestEffect ? 'failed' : 'open'
}

/**
 * A control that gains fails, however much more the other arm gains. It passes where the other arm is above it and its gain is
 * shown to be below the smallest effect: a one-sided test at 5%, and the 90% interval that belongs to it.
 */
const outcomeOf = ({ above, gain }: Gains, smallestEffect: number): ControlOutcome => {
  if (!isEnough(gain)) return 'open'
  if (gain.interval[0] > 0 && gain.difference >= smallestEffect) return 'failed'
  const { notAbove, interval } = gain.margin!
  const isKept = notAbove! < LEVEL && interval[1] < smallestEffect
  return isKept && isEnough(above) && above.interval[0] > 0 ? 'passed' : 'open'
}

/** A control, judged by what its pairs gave; under the rule at registration too, where that is another one. */
export const judgeControl = (
  { kind, arm, note = null }: Pick<ControlResult, 'kind' | 'arm' | 'note'>,
  evidence: ControlEvidence,
  { smallestEffect }: Pick<Control, 'smallestEffect'>,
  { rule = RULE, registeredRule = rule }: DecisionRules = {},
): ControlResult => {
  const { pairs, startErrors } = evidence.gain
  const startError = sharedErrorOf(pairs, startErrors)
  const gains: Gains = {
    above: comparePairs(evidence.above.pairs, { direction: 'greater', smallestEffect }),
    gain: comparePairs(pairs, { direction: 'not-above', smallestEffect, startError }),
  }
  const outcome = (by: DecisionRule) =>
    (by.controlsMustNotGain ? outcomeOf : outcomeBefore)(gains, smallestEffect)
  const { version } = registeredRule
  const atRegistration = version === rule.version ? null : { rule: version, outcome: outcome(registeredRule) }
  return { kind, arm, outcome: outcome(rule), atRegistration, ...gains, note, evidence }
}

/** One negative control against the arm that it belongs to. */
export const analyseControl = (
  runs: readonly FinishedRun[],
  control: Control,
  kind: string,
  arm: string,
  rules: DecisionRules = {},
): ControlResult =>
  judgeControl({ kind, arm, note: noteOf(runs, arm) }, evidenceOf(runs, control, arm), control, rules)
