/** @file How alike two criteria are in what they are about, whatever they say about it. */

import type { CriterionStatement } from './statement.ts'

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
