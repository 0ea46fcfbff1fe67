/** @file Prompts that begin alike: where to cut them, so that what several begin with is computed once. */

import type { TokenIds } from '../../rl/datum.ts'
import { membersWithin, type Sequence } from './batches.ts'

const sharedLength = (a: TokenIds, b: TokenIds): number => {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}

/**
 * Prompts as sequences that share their beginnings, such that the fewest tokens are computed when neighbours in the order of
 * their tokens go together. A token stands at the end of each for the one that is to follow.
 * @param tokenBudget of a micro-batch: a beginning is computed again in each that its prompts fill
 * @param after tokens that follow each prompt there
 */
export const sharedBeginnings = (
  prompts: readonly TokenIds[],
  tokenBudget: number,
  after: (prompt: number) => number = () => 1,
): Sequence[] => {
  const order = prompts
    .map((_, i) => i)
    .sort((i, j) => {
      const at = sharedLength(prompts[i], prompts[j])
      return (prompts[i][at] ?? -1) - (prompts[j][at] ?? -1)
    })
  const shared = order.map((i, at) => (at === 0 ? 0 : sharedLength(prompts[order[at - 1]], prompts[i])))
  // Of the first so many: the fewest tokens, where the last of their groups begins, and how much it shares.
  const best = [{ tokens: 0, from: 0, length: 0 }]
  for (let end = 1; end <= order.length; end++) {
    let least = { tokens: Number.POSITIVE_INFINITY, from: 0, length: 0 }
    let { length } = prompts[order[end - 1]]
    let all = 0
    let longest = 0
    for (let from = end - 1; from >= 0 && length > 0; length = Math.min(length, shared[from--])) {
      const prompt = prompts[order[from]].length
      all += prompt
      longest = Math.max(longest, prompt + after(order[from]))
      const times = Math.ceil((end - from) / membersWithin(tokenBudget, longest - length))
      const tokens = best[from].tokens + all - (end - from - times) * length
      if (tokens < least.tokens) least = { tokens, from, length }
    }
    best.push(least)
  }
  const sequences = new Array<Sequence>(prompts.length)
  for (let end = order.length; end > 0; end = best[end].from)
    for (const i of order.slice(best[end].from, end)) {
      const tokens = Array.from(prompts[i])
      sequences[i] = { promptTokens: tokens.splice(0, best[end].length), tokens: [...tokens, 0] }
    }
  return sequences
}

/** Of more, looking for the best cuts would take long: it compares each with all before it. */
const MOST_SEQUENCES = 4096

/** The sequences with no more in their prompts than others share, the rest of these before their tokens; null where that is not looked for. */
export const cutBeginnings = (
  sequences: readonly Sequence[],
  tokenBudget: number,
): readonly Sequence[] | null => {
  // Empty prompts are refused where batches are made.
  if (sequences.length > MOST_SEQUENCES || sequences.some(({ promptTokens }) => promptTokens.length === 0))
    return null
  const prompts = sequences.map(({ promptTokens }) => promptTokens)
  const cut = sharedBeginnings(prompts, tokenBudget, i => sequences[i].tokens.length)
  return sequences.map(({ tokens, targets = tokens }, i) => {
    const { promptTokens } = cut[i]
    const rest = cut[i].tokens.slice(0, -1)
    const behind = (of: TokenIds) => [...rest, ...of]
    return { promptTokens, tokens: behind(tokens), targets: behind(targets), ofPrompt: rest.length }
  })
}
