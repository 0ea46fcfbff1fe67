/** @file What monitors need to know of a step's rollouts and no other metric says; any recipe has it. */

import type { TokenIds } from '../../rl/datum.ts'
import { meanKnown, pearson } from '../../util/statistics.ts'

/** Tokens of a sequence that counts as said before. */
const SEQUENCE = 4

/** Share of a response's four-token sequences that it has said before; 0 for one without any. */
export const repeatedShare = (tokens: TokenIds): number => {
  const count = tokens.length - SEQUENCE + 1
  if (count < 1) return 0
  const seen = new Set<string>()
  for (let i = 0; i < count; i++) {
    let key = ''
    for (let k = i; k < i + SEQUENCE; k++) key += `${tokens[k]},`
    seen.add(key)
  }
  return 1 - seen.size / count
}

/**
 * `repetition`: mean share of repeated sequences. `lengthAdvantage`: correlation of length and mean advantage, what length is
 * paid; null where one of them does not vary.
 * @param responses each with its tokens and mean advantage
 */
export const monitoredMetrics = (
  responses: readonly { tokens: TokenIds; advantage: number }[],
): { repetition: number | null; lengthAdvantage: number | null } => ({
  repetition: meanKnown(responses.map(({ tokens }) => repeatedShare(tokens))),
  lengthAdvantage: pearson(
    responses.map(({ tokens }) => tokens.length),
    responses.map(({ advantage }) => advantage),
  ),
})
