/** @file The sentences of a problem's context in another order: what it means, and its label, stay. */

import { Rng } from '../../util/rng.ts'
import type { LogicTaskExample } from './example.ts'

/** A sentence that begins so speaks of the one before it. */
const LEANS_BACK =
  /^(?:it|its|they|their|them|he|she|his|her|hers|him|this|that|these|those|such|then|therefore|thus|hence|so|however|both|neither)\b/i

/** Indices of the sentences in groups that must stay together, each in its order. */
const groupsOf = (premises: readonly string[]): number[][] => {
  const groups: number[][] = []
  for (const [i, text] of premises.entries()) {
    const last = groups.at(-1)
    if (last !== undefined && LEANS_BACK.test(text.trim())) last.push(i)
    else groups.push([i])
  }
  return groups
}

/**
 * The same problem with the sentences of its context in an order that seed and id decide. A sentence that speaks of the one
 * before it ("They ...") stays behind that. Id, label, statement and gold proof are as they were.
 */
export const shuffleSentences = <
  T extends Pick<LogicTaskExample, 'id' | 'premises' | 'premisesFol' | 'context'>,
>(
  problem: T,
  seed: number | string,
): T => {
  const order = new Rng(`sentences/${seed}/${problem.id}`).shuffle(groupsOf(problem.premises)).flat()
  const premises = order.map(i => problem.premises[i])
  return {
    ...problem,
    premises,
    premisesFol: order.map(i => problem.premisesFol[i]),
    context: premises.join(' '),
  }
}
