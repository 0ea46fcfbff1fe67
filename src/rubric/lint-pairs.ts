/** @file Pairs of criteria that say the same, or the opposite: duplicates, mirrors, contradictions. */

import type { Criterion } from './criterion.ts'
import { type Finding, nameOf } from './lint-finding.ts'
import { type CriterionStatement, statementOf } from './statement.ts'

export interface StatementComparison {
  /** Share of content stems in common (Jaccard over bags), 0 to 1. */
  similarity: number
  /** The first says nothing that the second does not say too. */
  firstWithin: boolean
  secondWithin: boolean
}

/**
 * Compares what two statements are about. Similar words are not enough to make two criteria one: "the loss while
 * training" and "the loss while sampling" share nearly all of theirs. What tells is containment: whether one side has
 * content of its own at all. Words that differ in their ending only count as the same.
 */
export const compareStatements = (a: CriterionStatement, b: CriterionStatement): StatementComparison => {
  if (a.normal === b.normal) return { similarity: 1, firstWithin: true, secondWithin: true }
  const shared = sharedStems(a, b)
  if (Math.min(a.stems.length, b.stems.length) - shared > MAX_VARIANTS)
    return { similarity: shared / (a.stems.length + b.stems.length - shared), ...APART }
  const onlyA = without(a, b)
  const onlyB = without(b, a)
  const common = a.stems.length - onlyA.length + dropAlike(onlyA, onlyB)
  const union = common + onlyA.length + onlyB.length
  // A name or a number that only one side has makes it another case: "with DPO", "6-bit".
  const named = onlyA.some(word => a.specifics.has(word)) || onlyB.some(word => b.specifics.has(word))
  const equal = onlyA.length + onlyB.length === 0
  const comparable = common > 0 && !named && (sameOrder(a, b) || (equal && !(a.ordered && b.ordered)))
  return {
    similarity: union === 0 ? 0 : common / union,
    firstWithin: comparable && onlyA.length === 0,
    secondWithin: comparable && onlyB.length === 0,
  }
}

/** With more words of its own than this, no text is another one spelled differently. */
const MAX_VARIANTS = 5
const APART = { firstWithin: false, secondWithin: false }

const sharedStems = (a: CriterionStatement, b: CriterionStatement): number => {
  const [few, many] = a.counts.size <= b.counts.size ? [a.counts, b.counts] : [b.counts, a.counts]
  let shared = 0
  for (const [word, count] of few) shared += Math.min(count, many.get(word) ?? 0)
  return shared
}

/** Stems of `a` beyond those that `b` has as often. */
const without = (a: CriterionStatement, b: CriterionStatement): string[] =>
  [...a.counts].flatMap(([word, count]) =>
    new Array<string>(Math.max(0, count - (b.counts.get(word) ?? 0))).fill(word),
  )

/** Takes words that are nearly alike out of both lists; returns how many pairs. */
const dropAlike = (onlyA: string[], onlyB: string[]): number => {
  let pairs = 0
  for (let i = onlyA.length - 1; i >= 0; i--) {
    const j = onlyB.findIndex(word => nearlyAlike(onlyA[i], word))
    if (j < 0) continue
    onlyA.splice(i, 1)
    onlyB.splice(j, 1)
    pairs++
  }
  return pairs
}

/** Long words with a common beginning of at least three quarters: "compos" and "composition", never "hypo..." and "hyper...". */
const nearlyAlike = (a: string, b: string): boolean => {
  const longer = Math.max(a.length, b.length)
  if (Math.min(a.length, b.length) < 5 || /[\d-]/.test(a + b)) return false
  let common = 0
  while (common < longer && a[common] === b[common]) common++
  return common >= 0.75 * longer
}

/**
 * Whether the words in common stand in one order. "X before Y" and "Y before X" say the opposite, and so may longer
 * texts that share their words; only plain lists of the same words may be in any order.
 */
const sameOrder = (a: CriterionStatement, b: CriterionStatement): boolean => {
  const order = (from: CriterionStatement, other: CriterionStatement) =>
    [...new Set(from.stems)].filter(word => other.counts.has(word)).join(' ')
  return order(a, b) === order(b, a)
}

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
