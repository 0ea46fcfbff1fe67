/** @file Whether two evaluations of one set say the same, problem by problem: to tell one model from another that should be it. */

import type { EvalItem, EvalRow } from '../../runs/rows.ts'
import { scoreValue } from '../../runs/scores.ts'
import { number } from '../../util/format.ts'
import { meanKnown } from '../../util/statistics.ts'

/** A score that a file left out of one of several columns is null in another. */
const isSame = (a: number | null | undefined, b: number | null | undefined): boolean =>
  (a ?? null) === (b ?? null)

const scoreOf = ({ scores }: EvalItem, name: string): number | null => scores[name] ?? null

/** By the problems that both have, which are never corrected for others. */
const byItems = (before: EvalRow, now: EvalRow): string | null => {
  const others = new Map(before.items!.map(item => [item.id, item]))
  const shared = now.items!.flatMap(item => {
    const other = others.get(item.id)
    return other ? [[other, item] as const] : []
  })
  const names = (item: EvalItem) => Object.keys(item.scores)
  const changed = shared.filter(([was, is]) =>
    [...names(was), ...names(is)].some(name => !isSame(scoreOf(was, name), scoreOf(is, name))),
  )
  if (changed.length === 0) return null
  const average = (side: 0 | 1) => meanKnown(shared.map(pair => scoreOf(pair[side], now.primary)))
  const means = `${now.primary} on ${now.set} was ${number(average(0))} and is ${number(average(1))}`
  return `${means}, with ${changed.length} of ${shared.length} problems scored otherwise`
}

/** Without problems by name: by the scores of evaluations of one size. */
const byScores = (before: EvalRow, now: EvalRow): string | null => {
  const isOther = (each: string) => !isSame(scoreValue(before, each), scoreValue(now, each))
  const name = before.n !== now.n ? undefined : Object.keys(now.scores).find(isOther)
  return name === undefined
    ? null
    : `${name} on ${now.set} was ${number(scoreValue(before, name))} and is ${number(scoreValue(now, name))}`
}

const byLength = (before: EvalRow, now: EvalRow): string | null =>
  before.n !== now.n || isSame(before.responseTokens, now.responseTokens)
    ? null
    : `responses on ${now.set} had ${number(before.responseTokens)} tokens and have ${number(now.responseTokens)}`

/**
 * The first difference between evaluations of the same sets, in words; null where there is none. Exact: the same model on the same
 * problems with the same draws gives the same values. Criteria and what else is kept follow from the same responses.
 */
export const evaluationDifference = (before: readonly EvalRow[], now: readonly EvalRow[]): string | null => {
  for (const row of now) {
    const other = before.find(({ set }) => set === row.set)
    if (other === undefined) continue
    const scores = row.items && other.items ? byItems(other, row) : byScores(other, row)
    const difference = scores ?? byLength(other, row)
    if (difference !== null) return difference
  }
  return null
}
