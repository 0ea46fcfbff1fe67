/** @file What the claims of a paper come to in numbers: those that count by status, and those that are shown apart. */

import type { ClaimResult } from '../analysis/claims.ts'
import { type ClaimStatus, STATUSES } from '../analysis/status.ts'
import { apartOf } from '../plan/registration.ts'
import type { PaperResult } from './paper.ts'

/** A claim whose status is not counted, and why. */
interface ApartClaim extends NonNullable<ReturnType<typeof apartOf>> {
  claim: ClaimResult
}

export interface Counts {
  /** Claims that count, in the order of the registration. */
  counted: ClaimResult[]
  apart: ApartClaim[]
  /** How many of those that count; statuses that none has are left out, but for the first two. */
  statuses: { status: ClaimStatus; count: number }[]
}

interface CountedResult extends Pick<PaperResult, 'claims'> {
  registration: Parameters<typeof apartOf>[0]
}

export const countsOf = ({ claims, registration }: CountedResult): Counts => {
  const apart = claims.flatMap(claim => {
    const found = apartOf(registration, claim.claim.id)
    return found === null ? [] : [{ claim, ...found }]
  })
  const counted = claims.filter(claim => apart.every(own => own.claim !== claim))
  const statuses = STATUSES.map(status => ({
    status,
    count: counted.filter(claim => claim.status === status).length,
  }))
  return { counted, apart, statuses: statuses.filter(({ count }, i) => count > 0 || i < 2) }
}

/** `of 14 claims 0 reproduced, 7 not reproduced, 4 inconclusive; 3 apart, which are not counted`. */
export const countsText = (result: CountedResult): string => {
  const { apart, statuses } = countsOf(result)
  const counted = statuses.map(({ status, count }) => `${count} ${status}`).join(', ')
  const rest =
    apart.length === 0
      ? ''
      : `; ${apart.length} apart, which ${apart.length === 1 ? 'is' : 'are'} not counted`
  return `of ${result.claims.length} claims ${counted}${rest}`
}
