/** @file A registration's claims against what their runs gave: statistics, corrections, verdicts under a rule. Pure. */

import { type TrendTest, trendTest } from '../../util/jonckheere.ts'
import { holm } from '../../util/statistics.ts'
import type { FinishedRun } from '../metrics/index.ts'
import { claimLooks, plannedFor } from '../plan/blocks.ts'
import { type Claim, comparisonsOf, type Registration } from '../plan/registration.ts'
import {
  comparePairs,
  LEVEL,
  MIN_PAIRS,
  type PairStatistics,
  type ShareStatistics,
  shareOf,
} from './analysis.ts'
import { type ClaimEvidence, claimEvidence, type PairEvidence } from './evidence.ts'
import type { Ladder } from './pairs.ts'
import { type DecisionRule, type DecisionRules, RULE } from './rules.ts'
import { sharedErrorOf } from './start-error.ts'
import {
  type ClaimStatus,
  type ClaimVerdict,
  type CorrectedP,
  combined,
  type Decisive,
  pairVerdict,
  shareVerdict,
} from './status.ts'
import { untestable } from './untestable.ts'

/** What a rule makes of a comparison. */
interface Judgement extends ClaimVerdict {
  /** p of the test that decides, the sign-flip test or McNemar's; 1 where there is nothing to test. */
  p: number
  /** After Holm's correction over the paper's claims, were this comparison all of its claim, and for the looks. */
  adjustedP: number
  /** p of the contrary, after Holm's correction over all comparisons of all claims, and for the looks. */
  adjustedContraryP: number
}

interface Measured extends PairEvidence {
  statistics: PairStatistics | null
  /** Of a trend: Jonckheere and Terpstra's test over all arms; its p is the comparison's. */
  trend?: TrendTest
}

export interface ArmComparison extends Measured, Judgement {}

/** A status under the rule that was at work when the claim was registered. */
export interface RegisteredVerdict extends ClaimVerdict {
  rule: number
}

export interface ClaimResult extends ClaimVerdict, Omit<ClaimEvidence, 'comparisons'> {
  comparisons: ArmComparison[]
  /** For a claim about the share of runs. */
  share: ShareStatistics | null
  /** Largest p of the comparisons: all of them have to hold. Null for a share. */
  p: number | null
  /** After Holm's correction over the paper's claims that have a p, and for the looks. */
  adjustedP: number | null
  /** What it comes to by the rule at its registration, where that is another one; else null. */
  atRegistration: RegisteredVerdict | null
}

/** `ruscarl − rubric-rl`, with what is particular to the comparison; `oracle … refined … random` for a trend. */
export const comparisonName = (
  { a, b, equal, ladder }: Pick<ArmComparison, 'a' | 'b' | 'equal' | 'ladder'>,
  reference: number,
): string => (ladder ? `trend ${ladder.arms.join(' … ')}` : `${a} − ${b ?? reference}${AT_EQUAL[equal]}`)

const AT_EQUAL = { steps: '', tokens: ', at equal tokens', minutes: ', in equal time' } as const

/** What the comparison would have found; beside what was not reproduced only, and not for McNemar's test, which is not of pairs. */
export const detectableOf = (
  { test }: Pick<Claim, 'test'>,
  { statistics, status }: Pick<ArmComparison, 'statistics' | 'status'>,
): { effect: number | null } | null =>
  status === 'reproduced' || statistics === null || test === 'mcnemar'
    ? null
    : { effect: statistics.detectable }

interface MeasuredClaim extends Omit<ClaimEvidence, 'comparisons'> {
  comparisons: Measured[]
}

interface Done {
  what: 'pairs' | 'runs'
  /** With a value, and without one. */
  valued: number
  withoutValue: number
  planned: number
}

/** Results before all that was registered is done are a look in between, and say so; so do those that lack values. */
const withCounts = (found: ClaimVerdict, { what, valued, withoutValue, planned }: Done): ClaimVerdict => {
  const done = valued + withoutValue
  if (done > 0 && valued === 0)
    return { status: 'inconclusive', reason: `none of the ${done} finished ${what} has a value` }
  const notes = [
    ...(withoutValue > 0 ? [`${withoutValue} of ${done} ${what} have no value and are left out`] : []),
    ...(done > 0 && done < planned ? [`so far, with ${done} of the ${planned} that were registered`] : []),
  ]
  return { ...found, reason: [found.reason, ...notes].join('; ') }
}

const isTested = ({ claim }: Pick<ClaimEvidence, 'claim'>): boolean => claim.test !== 'share'

/** The cold starts are strata: values are compared within them, and change places among the runs of a seed. */
const trendOf = ({ blocks }: Ladder): TrendTest | null =>
  blocks.length === 0 ? null : trendTest(blocks.map(({ start, values }) => ({ stratum: start, values })))

/** Statistics of every comparison; `detectable` is at the level that the first of all tests has to pass. */
const measure = (registration: Registration, evidence: readonly ClaimEvidence[]): MeasuredClaim[] => {
  const tests = Math.max(1, evidence.filter(isTested).length)
  return evidence.map(({ comparisons, ...claimed }) => {
    const { direction, smallestEffect } = claimed.claim
    const level = LEVEL / tests / claimLooks(registration, claimed.claim)
    const measured = comparisons.map(each => {
      const startError = sharedErrorOf(each.pairs, each.startErrors)
      const statistics = comparePairs(each.pairs, { direction, smallestEffect, level, startError })
      const trend = each.ladder && trendOf(each.ladder)
      return { ...each, statistics, ...(trend && { trend }) }
    })
    return { ...claimed, comparisons: measured }
  })
}

/** The values of a comparison that a rule decides by. */
const decisive = (statistics: PairStatistics, { evidence }: DecisionRule): Decisive => {
  const { n, difference, sd, margin } = statistics
  const { interval, p, pContrary } = evidence === 'pairs' ? statistics.pairsAlone : statistics
  // Two one-sided tests at 5% have a 90% interval; earlier rules asked for that of 95% to lie within the margin.
  const within = evidence === 'pairs' || margin === null ? interval : margin.interval
  return { n, difference, sd, interval, within, p, pContrary }
}

/** p of the test that decides; 1 where there is nothing to test. */
const deciding = ({ test }: Claim, effect: Decisive | null, { items, trend }: Measured): number => {
  if (test === 'mcnemar') return items?.p ?? 1
  return (test === 'trend' ? trend?.p : effect?.p) ?? 1
}

/** Holm's correction of one p in a family with others. */
const correctedAmong = (p: number, others: readonly number[]): number => holm([p, ...others])[0]

const judged = (
  { test, metric, direction, smallestEffect }: Claim,
  { statistics, items, pairs, withoutValue, planned }: Measured,
  effect: Decisive | null,
  corrected: CorrectedP,
  { hasUntestable }: DecisionRule,
): ClaimVerdict => {
  const hasRoom = effect === null || statistics === null || !hasUntestable || effect.n < MIN_PAIRS
  const bound = hasRoom ? null : untestable({ metric, direction, smallestEffect }, statistics.meanB)
  const found =
    test === 'mcnemar' && effect !== null && items === null
      ? ({ status: 'inconclusive', reason: 'no items that are right or wrong in both arms' } as const)
      : pairVerdict(effect, direction, smallestEffect, corrected, bound)
  return withCounts(found, {
    what: 'pairs',
    valued: pairs.length,
    withoutValue: withoutValue.length,
    planned,
  })
}

const shareResult = (
  registration: Registration,
  { claim, runs }: MeasuredClaim,
): Omit<ClaimResult, keyof ClaimEvidence | 'atRegistration'> & { comparisons: [] } => {
  const hits = runs.flatMap(({ value }) => (value === null ? [] : [value]))
  const share = shareOf(hits)
  const planned = plannedFor(registration, [comparisonsOf(claim)[0].a])
  const found = withCounts(shareVerdict(share, claim.atLeast!), {
    what: 'runs',
    valued: hits.length,
    withoutValue: runs.length - hits.length,
    planned,
  })
  return { p: null, adjustedP: null, comparisons: [], share, ...found }
}

/** Every claim under a rule, with Holm's correction over all of them. */
const judge = (
  registration: Registration,
  measured: readonly MeasuredClaim[],
  rule: DecisionRule,
): Omit<ClaimResult, 'atRegistration'>[] => {
  const drafts = measured.map(({ claim, comparisons }) =>
    comparisons.map(each => {
      const effect = each.statistics && decisive(each.statistics, rule)
      return { each, effect, p: deciding(claim, effect, each) }
    }),
  )
  // An order holds only if every link does, so the largest p is the claim's (intersection-union test, Berger 1982).
  const largest = drafts.map(own => Math.max(...own.map(({ p }) => p)))
  const contrary = holm(drafts.flat().map(({ effect }) => effect?.pContrary ?? 1)).values()
  return measured.map((claimed, i) => {
    const { claim, comparisons: _all, ...common } = claimed
    const looks = rule.countsLooks ? claimLooks(registration, claim) : 1
    const overLooks = (p: number) => Math.min(1, looks * p)
    if (!isTested(claimed)) return { claim, ...common, ...shareResult(registration, claimed) }
    const others = largest.filter((_, j) => j !== i && drafts[j].length > 0)
    const adjustedP = overLooks(correctedAmong(largest[i], others))
    const comparisons = drafts[i].map(({ each, effect, p }) => {
      const own = overLooks(correctedAmong(p, others))
      const adjustedContraryP = overLooks(contrary.next().value!)
      const corrected = {
        p: rule.comparisonP === 'own' ? own : adjustedP,
        contrary: rule.contrary === 'corrected' ? adjustedContraryP : 0,
      }
      const found = judged(claim, each, effect, corrected, rule)
      return { ...each, p, adjustedP: own, adjustedContraryP, ...found }
    })
    const named = comparisons.map(each => ({ ...each, name: comparisonName(each, claim.reference) }))
    return { claim, ...common, comparisons, share: null, p: largest[i], adjustedP, ...combined(named) }
  })
}

/** Every claim, judged by what its runs gave. Under the rule at registration too, where that is another one. */
export const judgeClaims = (
  registration: Registration,
  evidence: readonly ClaimEvidence[],
  { rule = RULE, registeredRule = rule }: DecisionRules = {},
): ClaimResult[] => {
  const measured = measure(registration, evidence)
  const former =
    registeredRule.version === rule.version ? null : judge(registration, measured, registeredRule)
  return judge(registration, measured, rule).map((result, i) => {
    if (former === null) return { ...result, atRegistration: null }
    const { status, reason } = former[i]
    return { ...result, atRegistration: { rule: registeredRule.version, status, reason } }
  })
}

/** Every claim of a registration against its finished runs. */
export const analyseClaims = (
  registration: Registration,
  runs: readonly FinishedRun[],
  judging: DecisionRules = {},
): ClaimResult[] => judgeClaims(registration, claimEvidence(registration, runs), judging)

/** A claim's status alone, as a block of seeds or a look has it. */
export interface BriefStatus {
  id: string
  status: ClaimStatus
  reason: string
}

export const briefly = (claims: readonly ClaimResult[]): BriefStatus[] =>
  claims.map(({ claim, status, reason }) => ({ id: claim.id, status, reason }))
