/** @file Pairs of criteria that say the same, or the opposite: duplicates, mirrors, contradictions. */

import type { Criterion } from './criterion.ts'
import { type Finding, nameOf } from './lint-finding.ts'
import { compareStatements, type StatementComparison } from './similarity.ts'
import { type CriterionStatement, statementOf } from './statement.ts'

export interface PairOptions {
  /** Share of content that two criteria must have in common to be compared further, 0 to 1. Default 0.7. */
  similarity?: number
}

interface Side {
  criterion: Criterion
  statement: CriterionStatement
}

/** Findings about pairs of criteria. Quadratic in the number of criteria; 1,000 take a second or two. */
export const lintPairs = (
  criteria: readonly Criterion[],
  { similarity = 0.7 }: PairOptions = {},
): Finding[] => {
  const sides = criteria.map(criterion => ({ criterion, statement: statementOf(criterion.text) }))
  return sides.flatMap((first, i) =>
    sides.slice(i + 1).flatMap(second => {
      if (!mayReach(similarity, first.statement, second.statement)) return []
      const finding = judgePair(first, second, similarity)
      return finding ? [finding] : []
    }),
  )
}

/** Jaccard is at most the ratio of the sizes: most pairs need no closer look. */
const mayReach = (least: number, a: CriterionStatement, b: CriterionStatement): boolean =>
  a.normal === b.normal ||
  Math.min(a.stems.length, b.stems.length) >= 0.75 * least * Math.max(a.stems.length, b.stems.length)

const judgePair = (first: Side, second: Side, least: number): Finding | null => {
  const comparison = compareStatements(first.statement, second.statement)
  if (comparison.similarity < least || !(comparison.firstWithin || comparison.secondWithin)) return null
  const sameSign = first.criterion.points > 0 === second.criterion.points > 0
  const samePolarity = first.statement.denied === second.statement.denied
  if (first.statement.calledWrong !== second.statement.calledWrong)
    return sameSign && samePolarity ? duplicate(first, second, comparison) : null
  if (sameSign && samePolarity) return duplicate(first, second, comparison)
  if (!sameSign && !samePolarity) return mirror(first, second)
  const conflicts = samePolarity ? rewardsWhatItPenalises(first, comparison) : asksForBoth(first, comparison)
  return conflicts ? contradiction(first, second, samePolarity) : null
}

/**
 * The same thing earns and costs points. A penalty for a special case of what is rewarded is no contradiction ("lists
 * options", "lists options that need a prescription"); under denial general and special change places.
 */
const rewardsWhatItPenalises = (first: Side, c: StatementComparison): boolean => {
  if (first.statement.denied) return c.firstWithin && c.secondWithin
  return first.criterion.points < 0 ? c.firstWithin : c.secondWithin
}

/**
 * Wanted and unwanted at once. "Recommends X" and "does not recommend X for children" go together; "recommends X for
 * children" and "does not recommend X" do not. For two penalties it is the stated one that must be the more general.
 */
const asksForBoth = (first: Side, c: StatementComparison): boolean => {
  const deniedWithin = first.statement.denied ? c.firstWithin : c.secondWithin
  const statedWithin = first.statement.denied ? c.secondWithin : c.firstWithin
  return first.criterion.points > 0 ? deniedWithin : statedWithin
}

const idsOf = (...sides: Side[]): string[] => sides.map(({ criterion }) => criterion.id)

const duplicate = (first: Side, second: Side, c: StatementComparison): Finding => {
  const exact = first.statement.normal === second.statement.normal
  const [part, whole] = c.firstWithin ? [first, second] : [second, first]
  const total = Math.abs(first.criterion.points + second.criterion.points)
  const claim = exact
    ? `${nameOf(second.criterion)} repeats ${first.criterion.id}`
    : `${nameOf(part.criterion)} says nothing that ${nameOf(whole.criterion)} does not say too`
  return {
    rule: exact ? 'duplicate' : 'near-duplicate',
    severity: 'warning',
    criterionIds: idsOf(first, second),
    message: `${claim}: one thing counts ${total} points`,
    fix: `keep one of ${first.criterion.id} and ${second.criterion.id} with the points that it should have${exact ? '' : ', or make them ask for different things'}`,
  }
}

const mirror = (first: Side, second: Side): Finding => {
  const [reward, penalty] = first.criterion.points > 0 ? [first, second] : [second, first]
  const swing = reward.criterion.points - penalty.criterion.points
  return {
    rule: 'mirrored',
    severity: 'info',
    criterionIds: idsOf(first, second),
    message: `${nameOf(penalty.criterion)} is the denial of ${nameOf(reward.criterion)}: one verdict moves the score by ${swing} points`,
    fix: `if one thing should not count twice, remove ${penalty.criterion.id}`,
  }
}

const contradiction = (first: Side, second: Side, samePolarity: boolean): Finding => {
  const positive = first.criterion.points > 0
  const relation = samePolarity
    ? 'one rewards what the other penalises'
    : `both ${positive ? 'earn' : 'cost'} points, but one denies the other`
  return {
    rule: 'contradictory',
    severity: 'error',
    criterionIds: idsOf(first, second),
    message: `${nameOf(first.criterion)} and ${nameOf(second.criterion)} contradict each other: ${relation}`,
    fix: samePolarity
      ? `decide whether this is wanted; remove ${first.criterion.id} or ${second.criterion.id}, or say in which case each holds`
      : `decide which is wanted; remove the other, or give it points of the other sign`,
  }
}
