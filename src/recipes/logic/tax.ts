/** @file The optimisation tax of a run: what each criterion gained or lost from its start, problem by problem. */

import { optimisationTax } from '../../eval/tax.ts'
import type { CriterionChange, EvalItem, EvalRow } from '../../runs/rows.ts'

/** Judged by proof in evaluation alone; training sees proxies for them at most. */
const UNSEEN: ReadonlySet<string> = new Set(['C4', 'C5'])

const scoresOf = (items: readonly EvalItem[] | undefined, id: string): Map<string, number> =>
  new Map(
    items?.flatMap(item => {
      const score = item.criteria?.[id]
      return typeof score === 'number' ? [[item.id, score] as const] : []
    }),
  )

/**
 * Change of each criterion from one evaluation to a later one on the same set, over the problems that have
 * a score in both, with 95% intervals from a bootstrap over problems. Null when they share no scores.
 */
export const taxBetween = (before: EvalRow, after: EvalRow): Record<string, CriterionChange> | null => {
  const changes = Object.keys(after.criteria ?? {}).flatMap(id => {
    const [start, end] = [scoresOf(before.items, id), scoresOf(after.items, id)]
    const pairs = [...end].flatMap(([item, score]) => (start.has(item) ? [[start.get(item)!, score]] : []))
    if (pairs.length < 2) return []
    const table = (column: 0 | 1) => ({ [id]: [pairs.map(pair => pair[column])] })
    const [tax] = optimisationTax(table(0), table(1), { resamples: 2000, seed: 'tax' })
    const change: CriterionChange = {
      n: pairs.length,
      before: tax.before,
      after: tax.after,
      change: tax.estimate,
      interval: [tax.low, tax.high],
      ...(UNSEEN.has(id) && { unseen: true }),
    }
    return [[id, change] as const]
  })
  return changes.length > 0 ? Object.fromEntries(changes) : null
}

/** The rows with `tax` against the run's own evaluation of step 0 on the same set, where there is one. */
export const withTax = (rows: readonly EvalRow[], earlier: readonly EvalRow[]): EvalRow[] =>
  rows.map(row => {
    const start = earlier.find(({ step, set }) => step === 0 && set === row.set)
    const tax = start && row.step > 0 ? taxBetween(start, row) : null
    return tax ? { ...row, tax } : row
  })
