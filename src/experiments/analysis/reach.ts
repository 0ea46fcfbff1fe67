/** @file What a registration's pairs can show at best: the smallest p of a claim, and what Holm's correction leaves of it. */

import { smallestTrendP } from '../../util/jonckheere.ts'
import { claimLooks, plannedFor } from '../plan/blocks.ts'
import { armsOf, type Claim, comparisonsOf, type RegistrationContent } from '../plan/registration.ts'
import { LEVEL, MIN_PAIRS } from './analysis.ts'

type Design = Pick<RegistrationContent, 'arms' | 'seeds' | 'starts' | 'claims' | 'looks' | 'blocks'>

const pairsOf = (design: Design, claim: Claim): number =>
  claim.test === 'trend'
    ? plannedFor(design, armsOf(claim))
    : Math.min(...comparisonsOf(claim).map(({ a, b }) => plannedFor(design, [a, b])))

/** All pairs of one sign: what the sign-flip test gives at best. The exact test of items has no such bound. */
const smallestP = (design: Design, claim: Claim): number => {
  if (claim.test === 'mcnemar') return 0
  if (claim.test === 'trend') return smallestTrendP(pairsOf(design, claim), armsOf(claim).length)
  const sides = claim.direction === 'greater' || claim.direction === 'less' ? 2 : 1
  return sides / 2 ** pairsOf(design, claim)
}

/** Why claims cannot be reproduced, or hardly, whatever comes out. */
export const reachWarnings = (design: Design): string[] => {
  const tested = design.claims.filter(({ test }) => test !== 'share')
  const best = tested.map(claim => ({ claim, p: smallestP(design, claim), looks: claimLooks(design, claim) }))
  const idsOf = (found: readonly Claim[]) => found.map(({ id }) => id).join(', ')
  const few = design.claims.filter(claim => pairsOf(design, claim) < MIN_PAIRS)
  const enough = best.filter(({ claim }) => !few.includes(claim))
  const looks = Math.max(1, ...best.map(each => each.looks))
  // Holm multiplies a p by the number of claims that have no smaller one; looks share the level out.
  const atLeast = (own: (typeof best)[number]) =>
    own.looks * own.p * (best.length - best.filter(other => other.p < own.p).length)
  const never = enough.filter(own => atLeast(own) >= LEVEL)
  const hardly = enough.filter(own => atLeast(own) < LEVEL && own.looks * own.p * best.length >= LEVEL)
  const warning = (found: readonly { claim: Claim }[], what: string) =>
    found.length === 0
      ? []
      : [
          `${idsOf(found.map(({ claim }) => claim))}: ${what} p < ${LEVEL} after Holm's correction over ${best.length} claims${looks > 1 ? ` and ${looks} looks` : ''}; register more seeds, or fewer claims`,
        ]
  return [
    ...(few.length > 0
      ? [`${idsOf(few)}: fewer than ${MIN_PAIRS} pairs, so inconclusive whatever comes out`]
      : []),
    ...warning(never, 'so few pairs that they cannot reach'),
    ...warning(hardly, 'so few pairs that only smaller p of other claims let them reach'),
  ]
}
