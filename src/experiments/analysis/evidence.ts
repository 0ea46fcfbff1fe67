/** @file What claims are judged by, from finished runs: values, pairs, items. Results keep it, so that claims can be judged again. */

import {
  type FinishedRun,
  type JudgeWork,
  judgeWorkOf,
  type MetricUnit,
  metricNamed,
  peersOf,
  tokensUntil,
} from '../metrics/index.ts'
import { plannedFor } from '../plan/blocks.ts'
import {
  armsAgainstStart,
  armsOf,
  type Claim,
  comparisonsOf,
  type Equal,
  equalsOf,
  type MetricChoice,
  type Registration,
} from '../plan/registration.ts'
import type { ItemStatistics, RunPair } from './analysis.ts'
import { type Ladder, ladderOf, type PairedRuns, pairsOf, type Reading, runsOf } from './pairs.ts'
import { type StartErrors, startErrors } from './start-error.ts'

/** A metric's value of one run, and what the run took; judge calls only where it had a judge. */
export interface RunValue extends Partial<JudgeWork> {
  arm: string
  start: string
  seed: string
  value: number | null
  /** What has to be known to read the value; see `Metric.details`. */
  details?: Record<string, number>
  steps: number
  tokens: number
  seconds: number
}

/** The pairs of two arms, or of an arm and a number, with all that belongs to them. */
export interface PairEvidence {
  a: string
  /** Null: against the claim's reference. */
  b: string | null
  equal: Equal
  pairs: RunPair[]
  withoutValue: PairedRuns['withoutValue']
  /** How many pairs were registered. */
  planned: number
  items: ItemStatistics | null
  /** Standard error of each cold start's value; null where the comparison is not with the start. */
  startErrors: StartErrors | null
  /** Of a trend: all its arms. `a` and `b` are then the first and the last of them, and a pair the ends of a block's line. */
  ladder?: Ladder
}

export interface ClaimEvidence {
  claim: Claim
  unit: MetricUnit
  runs: RunValue[]
  /** None for a claim about the share of runs. */
  comparisons: PairEvidence[]
}

const valuesOf = (runs: readonly FinishedRun[], claim: Claim, { metric, options }: Reading): RunValue[] => {
  // What an arm started from is shown once, as the first arm that is compared with it found it.
  const against = armsAgainstStart(claim)[0] ?? armsOf(claim)[0]
  return armsOf(claim).flatMap(arm =>
    [...runsOf(runs, arm, against).values()].map(run => {
      const peers = peersOf(runs, run)
      const details = metric.details?.(run, options, peers)
      return {
        arm,
        start: run.start,
        seed: run.seed,
        value: metric.value(run, options, peers),
        ...(details && { details }),
        steps: run.steps,
        tokens: tokensUntil(run, run.steps),
        seconds: run.seconds,
        ...judgeWorkOf(run),
      }
    }),
  )
}

/** Pairs of two arms as a metric has them, with the errors of the starts' values where they are compared with. */
export const evidenceOfPairs = (
  runs: readonly FinishedRun[],
  [a, b]: readonly [string, string | null],
  choice: MetricChoice,
  reading: Reading,
  { equal, reference }: Pick<Claim, 'reference'> & { equal: Equal },
): Omit<PairEvidence, 'planned'> => ({
  a,
  b,
  equal,
  ...pairsOf(runs, a, b, reading, equal, reference),
  startErrors: startErrors(
    runs.filter(({ arm }) => arm === a),
    b,
    choice,
    reading,
  ),
})

const trendIn = (
  registration: Registration,
  claim: Claim,
  runs: readonly FinishedRun[],
  reading: Reading,
): PairEvidence => {
  const arms = armsOf(claim)
  return {
    a: arms[0],
    b: arms[arms.length - 1],
    equal: 'steps',
    ...ladderOf(runs, arms, reading),
    planned: plannedFor(registration, arms),
    startErrors: null,
  }
}

const comparisonsIn = (
  registration: Registration,
  claim: Claim,
  runs: readonly FinishedRun[],
  reading: Reading,
): PairEvidence[] => {
  if (claim.test === 'share') return []
  if (claim.test === 'trend') return [trendIn(registration, claim, runs, reading)]
  return comparisonsOf(claim).flatMap(({ a, b }) =>
    equalsOf(claim).map(equal => ({
      ...evidenceOfPairs(runs, [a, b], claim.metric, reading, { equal, reference: claim.reference }),
      planned: plannedFor(registration, [a, b]),
    })),
  )
}

/** What every claim of a registration is judged by. */
export const claimEvidence = (registration: Registration, runs: readonly FinishedRun[]): ClaimEvidence[] =>
  registration.claims.map(claim => {
    const reading = metricNamed(claim.metric, `claim ${claim.id}`)
    return {
      claim,
      unit: reading.metric.unit,
      runs: valuesOf(runs, claim, reading),
      comparisons: comparisonsIn(registration, claim, runs, reading),
    }
  })
