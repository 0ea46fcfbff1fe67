/**
 * @file Earlier looks at a claim: what another experiment's results say of it, and what its pairs and these say together. For reading:
 * a further look is decided by its own runs, with p multiplied by all looks.
 */

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { canonicalJson } from '../../util/canonical.ts'
import { readText } from '../../util/text-file.ts'
import { comparePairs } from '../analysis/analysis.ts'
import { type ClaimResult, comparisonName } from '../analysis/claims.ts'
import type { ClaimStatus } from '../analysis/status.ts'
import type { RegistrationContent } from '../plan/registration.ts'

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
  status: ClaimStatus | null
  /** By comparison of the further look, where the earlier claim has the same one: what was found then, and all pairs together. */
  comparisons: { name: string; earlier: Effect | null; together: Effect | null }[]
}

type Arms = RegistrationContent['arms']

/** An arm that has nothing but draws of its own is the one whose settings it has. */
const settledName = (arms: Arms, name: string | null): string | null => {
  const own = name === null ? undefined : arms[name]
  if (own?.draws === undefined) return name
  const content = ({ draws: _draws, summary: _summary, seeds: _seeds, ...rest }: Arms[string]) =>
    canonicalJson(rest)
  const same = Object.entries(arms).find(
    ([, arm]) => arm.draws === undefined && content(arm) === content(own),
  )
  return same?.[0] ?? name
}

/** The effects of a claim's comparisons, then and together with now; nothing where another value was compared. */
const effectsOf = (
  { claim, comparisons }: Pick<ClaimResult, 'claim' | 'comparisons'>,
  before: Before,
  arms: Arms,
): EarlierLook['comparisons'] => {
  const { direction, smallestEffect, reference, metric } = claim
  if (canonicalJson(before.claim?.metric) !== canonicalJson(metric)) return []
  const effect = (pairs: Parameters<typeof comparePairs>[0]): Effect | null => {
    const found = comparePairs(pairs, { direction, smallestEffect })
    return found && { pairs: found.n, difference: found.difference, interval: found.interval }
  }
  return comparisons.flatMap(comparison => {
    const { equal, pairs } = comparison
    const [a, b] = [settledName(arms, comparison.a), settledName(arms, comparison.b)]
    const same = before.comparisons.find(each => each.a === a && each.b === b && each.equal === equal)
    if (same === undefined) return []
    const together = effect([...same.pairs, ...pairs])
    return [{ name: comparisonName(comparison, reference), earlier: effect(same.pairs), together }]
  })
}

/** What this reads of a claim's file. */
type Before = Pick<ClaimResult, 'status' | 'claim' | 'comparisons'>

const readBefore = (path: string): Before | null =>
  existsSync(path) ? (JSON.parse(readText(path)) as Before) : null

/** What was seen before of a claim that names earlier looks. @param folder of this experiment's results */
export const earlierLooks = (
  folder: string,
  result: Pick<ClaimResult, 'claim' | 'comparisons'>,
  arms: Arms,
): EarlierLook[] =>
  (result.claim.earlier ?? []).map(({ results, claim }) => {
    const found = readBefore(join(dirname(resolve(folder)), results, `${claim}.json`))
    return {
      results,
      claim,
      status: found?.status ?? null,
      comparisons: found === null ? [] : effectsOf(result, found, arms),
    }
  })
