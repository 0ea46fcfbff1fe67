/**
 * @file Earlier looks at a claim: what another experiment's results say of it, and what its pairs and these say together. For reading:
 * a further look is decided by its own runs, with p multiplied by all looks.
 */

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readText } from '../../util/text-file.ts'
import { comparePairs } from '../analysis/analysis.ts'
import { type ClaimResult, comparisonName } from '../analysis/claims.ts'
import type { Status } from '../analysis/status.ts'

interface Effect {
  pairs: number
  difference: number
  interval: readonly [number, number]
}

export interface EarlierLook {
  /** Folder of the results, beside those of the further look, and the claim there. */
  results: string
  claim: string
  /** Null where the file is not there. */
  status: Status | null
  /** By comparison of the further look, where the earlier claim has as many: what was found then, and all pairs together. */
  comparisons: { name: string; earlier: Effect | null; together: Effect | null }[]
}

/** The effects of a claim's comparisons, then and together with now. */
const effectsOf = (
  { claim, comparisons }: Pick<ClaimResult, 'claim' | 'comparisons'>,
  before: Pick<ClaimResult, 'comparisons'>,
): EarlierLook['comparisons'] => {
  if (before.comparisons.length !== comparisons.length) return []
  const { direction, smallestEffect, reference } = claim
  const effect = (pairs: Parameters<typeof comparePairs>[0]): Effect | null => {
    const found = comparePairs(pairs, { direction, smallestEffect })
    return found && { pairs: found.n, difference: found.difference, interval: found.interval }
  }
  return comparisons.map((comparison, i) => {
    const { pairs } = before.comparisons[i]
    const all = [...pairs, ...comparison.pairs]
    return { name: comparisonName(comparison, reference), earlier: effect(pairs), together: effect(all) }
  })
}

/** What this reads of a claim's file. */
type Before = Pick<ClaimResult, 'status' | 'comparisons'>

const readBefore = (path: string): Before | null =>
  existsSync(path) ? (JSON.parse(readText(path)) as Before) : null

/** What was seen before of a claim that names earlier looks. @param folder of this experiment's results */
export const earlierLooks = (
  folder: string,
  result: Pick<ClaimResult, 'claim' | 'comparisons'>,
): EarlierLook[] =>
  (result.claim.earlier ?? []).map(({ results, claim }) => {
    const found = readBefore(join(dirname(resolve(folder)), results, `${claim}.json`))
    return {
      results,
      claim,
      status: found?.status ?? null,
      comparisons: found === null ? [] : effectsOf(result, found),
    }
  })
