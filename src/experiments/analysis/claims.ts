/** @file A registration's claims against its finished runs: values, pairs, statistics, verdicts. Pure. */

import { holm } from '../../util/statistics.ts'
import {
  type FinishedRun,
  type JudgeWork,
  judgeWorkOf,
  type MetricUnit,
  metricNamed,
  tokensUntil,
} from '../metrics/index.ts'
import { plannedFor } from '../plan/reach.ts'
import { comparisonsOf } from '../plan/references.ts'
import { type Claim, type MetricChoice, type Registration, START } from '../plan/registration.ts'
import {
  comparePairs,
  type ItemStatistics,
  LEVEL,
  MIN_PAIRS,
  type Pair,
  type PairStatistics,
  type ShareStatistics,
  shareOf,
} from './analysis.ts'
import { type PairedRuns, pairsOf, type Reading, runsOf } from './pairs.ts'
import { type CorrectedP, combined, pairVerdict, shareVerdict, type Verdict } from './status.ts'

/** A metric's figure of one run, and what the run took; judge calls only where it had a judge. */
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

export interface Comparison extends Verdict {
  a: string
  /** Null: against the claim's reference. */
  b: string | null
  equal: 'steps' | 'tokens'
  pairs: Pair[]
  withoutValue: PairedRuns['withoutValue']
  /** How many pairs were registered. */
  planned: number
  statistics: PairStatistics | null
  items: ItemStatistics | null
  /** p of the test that decides, the sign-flip test or McNemar's; 1 where there is nothing to test. */
  p: number
  /** After Holm's correction over the paper's claims, were this comparison all of its claim. */
  adjustedP: number
  /** p of the contrary, after Holm's correction over all comparisons of all claims. */
  adjustedContraryP: number
}

export interface ClaimResult extends Verdict {
  claim: Claim
  unit: MetricUnit
  runs: RunValue[]
  comparisons: Comparison[]
  /** For a claim about the share of runs. */
  share: ShareStatistics | null
  /** Largest p of the comparisons: all of them have to hold. Null for a share. */
  p: number | null
  /** After Holm's correction over the paper's claims that have a p. */
  adjustedP: number | null
}

/** `ruscarl − rubric-rl`, with what is particular to the comparison. */
export const comparisonName = (
  { a, b, equal }: Pick<Comparison, 'a' | 'b' | 'equal'>,
  reference: number,
): string => `${a} − ${b ?? reference}${equal === 'tokens' ? ', at equal tokens' : ''}`

/** What the comparison would have found; beside what was not reproduced only, and not for McNemar's test, which is not of pairs. */
export const detectableOf = (
  { test }: Pick<Claim, 'test'>,
  { statistics, status }: Pick<Comparison, 'statistics' | 'status'>,
): { effect: number | null } | null =>
  status === 'reproduced' || statistics === null || test === 'mcnemar'
    ? null
    : { effect: statistics.detectable }

const valuesOf = (runs: readonly FinishedRun[], claim: Claim, { metric, options }: Reading): RunValue[] => {
  const comparisons = comparisonsOf(claim)
  const named = [...new Set(comparisons.flatMap(({ a, b }) => (b === null ? [a] : [a, b])))]
  // What an arm started from is shown once, as the first arm that is compared with it found it.
  const against = comparisons.find(({ b }) => b === START)?.a ?? comparisons[0].a
  return named.flatMap(arm =>
    [...runsOf(runs, arm, against).values()].map(run => {
      const details = metric.details?.(run, options)
      return {
        arm,
        start: run.start,
        seed: run.seed,
        value: metric.value(run, options),
        ...(details && { details }),
        steps: run.steps,
        tokens: tokensUntil(run, run.steps),
        seconds: run.seconds,
        ...judgeWorkOf(run),
      }
    }),
  )
}

type Draft = Omit<Comparison, 'status' | 'reason' | 'adjustedP' | 'adjustedContraryP'>

interface Done {
  what: 'pairs' | 'runs'
  /** With a value, and without one. */
  valued: number
  withoutValue: number
  planned: number
}

/** Results before all that was registered is done are a look in between, and say so; so do those that lack values. */
const withCounts = (found: Verdict, { what, valued, withoutValue, planned }: Done): Verdict => {
  const done = valued + withoutValue
  if (done > 0 && valued === 0)
    return { status: 'inconclusive', reason: `none of the ${done} finished ${what} has a value` }
  const notes = [
    ...(withoutValue > 0 ? [`${withoutValue} of ${done} ${what} have no value and are left out`] : []),
    ...(done > 0 && done < planned ? [`so far, with ${done} of the ${planned} that were registered`] : []),
  ]
  return { ...found, reason: [found.reason, ...notes].join('; ') }
}

const deciding = (claim: Claim, statistics: PairStatistics | null, items: ItemStatistics | null): number =>
  (claim.test === 'mcnemar' ? items?.p : statistics?.p) ?? 1

/** @param level of the first test of the family */
const draftsOf = (
  registration: Registration,
  claim: Claim,
  runs: readonly FinishedRun[],
  reading: Reading,
  level: number,
): Draft[] => {
  const { direction, smallestEffect, reference } = claim
  const budgets = claim.equal === 'both' ? (['steps', 'tokens'] as const) : [claim.equal]
  return comparisonsOf(claim).flatMap(({ a, b }) =>
    budgets.map(equal => {
      const { items, ...paired } = pairsOf(runs, a, b, reading, equal, reference)
      const statistics = comparePairs(paired.pairs, direction, smallestEffect, level)
      const planned = plannedFor(registration, [a, b])
      const p = deciding(claim, statistics, items)
      return { a, b, equal, ...paired, planned, statistics, items, p }
    }),
  )
}

/** An order holds only if every link does, so the largest p is the claim's (intersection-union test, Berger 1982). */
const largestP = (drafts: readonly Draft[]): number => Math.max(...drafts.map(({ p }) => p))

/** Holm's correction of one p in a family with others. */
const correctedAmong = (p: number, others: readonly number[]): number => holm([p, ...others])[0]

const judged = (claim: Claim, draft: Draft, corrected: CorrectedP): Comparison => {
  const { statistics, items, pairs, withoutValue, planned } = draft
  const found =
    claim.test === 'mcnemar' && statistics !== null && items === null
      ? ({ status: 'inconclusive', reason: 'no items that are right or wrong in both arms' } as const)
      : pairVerdict(statistics, claim.direction, claim.smallestEffect, corrected)
  const done = { what: 'pairs', valued: pairs.length, withoutValue: withoutValue.length, planned } as const
  return {
    ...draft,
    adjustedP: corrected.p,
    adjustedContraryP: corrected.contrary,
    ...withCounts(found, done),
  }
}

const shareResult = (registration: Registration, claim: Claim, values: readonly RunValue[]) => {
  const hits = values.flatMap(({ value }) => (value === null ? [] : [value]))
  const share = shareOf(hits)
  const planned = plannedFor(registration, [comparisonsOf(claim)[0].a])
  const found = withCounts(shareVerdict(share, claim.atLeast!), {
    what: 'runs',
    valued: hits.length,
    withoutValue: values.length - hits.length,
    planned,
  })
  return { p: null, adjustedP: null, comparisons: [], share, ...found }
}

/** Every claim of a registration, with Holm's correction over all of them. */
export const analyseClaims = (registration: Registration, runs: readonly FinishedRun[]): ClaimResult[] => {
  const readings = registration.claims.map(claim => metricNamed(claim.metric, `claim ${claim.id}`))
  const isTested = ({ test }: Claim) => test !== 'share'
  const level = LEVEL / Math.max(1, registration.claims.filter(isTested).length)
  const drafts = registration.claims.map((claim, i) =>
    isTested(claim) ? draftsOf(registration, claim, runs, readings[i], level) : [],
  )
  const contrary = holm(drafts.flat().map(({ statistics }) => statistics?.pContrary ?? 1)).values()
  return registration.claims.map((claim, i) => {
    const values = valuesOf(runs, claim, readings[i])
    const common = { claim, unit: readings[i].metric.unit, runs: values }
    if (!isTested(claim)) return { ...common, ...shareResult(registration, claim, values) }
    const others = drafts.flatMap((own, j) => (j === i || own.length === 0 ? [] : [largestP(own)]))
    const comparisons = drafts[i].map(draft =>
      judged(claim, draft, { p: correctedAmong(draft.p, others), contrary: contrary.next().value! }),
    )
    const named = comparisons.map(each => ({ ...each, name: comparisonName(each, claim.reference) }))
    const p = largestP(drafts[i])
    const adjustedP = correctedAmong(p, others)
    return { ...common, comparisons, share: null, p, adjustedP, ...combined(named) }
  })
}

export interface ControlResult {
  kind: string
  arm: string
  /**
   * `passed`: the arm that it controls is above it; `failed`: it gains as if it were rewarded for the task, and the arm is not
   * above it; `open`: neither shows, or there are too few pairs.
   */
  outcome: 'passed' | 'failed' | 'open'
  /** The arm less the control; and the control less its start. */
  above: PairStatistics | null
  gain: PairStatistics | null
}

/** One negative control against the arm that it belongs to. */
export const analyseControl = (
  runs: readonly FinishedRun[],
  { of, metric, smallestEffect }: { of: string; metric: MetricChoice; smallestEffect: number },
  kind: string,
  arm: string,
): ControlResult => {
  const reading = metricNamed(metric, 'controls.metric')
  const statistics = (a: string, b: string) =>
    comparePairs(pairsOf(runs, a, b, reading, 'steps', 0).pairs, 'greater', smallestEffect)
  const [above, gain] = [statistics(of, arm), statistics(arm, START)]
  const shows = (found: PairStatistics | null): found is PairStatistics =>
    found !== null && found.n >= MIN_PAIRS && found.interval[0] > 0
  const isAbove = shows(above)
  const gains = shows(gain) && gain.difference >= smallestEffect
  return { kind, arm, outcome: isAbove ? 'passed' : gains ? 'failed' : 'open', above, gain }
}
