/** @file What each token of a kept rollout was: where it lies in the text, how likely it was, and what it was taught. */

import type { TokenIds } from '../rl/datum.ts'
import type { Credited } from '../rl/rollout.ts'
import type { RolloutRow, TokenValues } from '../runs/rows.ts'

/** Tokens whose characters may be split among them. */
const LONGEST_SPLIT = 8
/** So many decimals of log-probs and advantages are kept. */
const DECIMALS = 1000

const rounded = (x: number): number => Math.round(x * DECIMALS) / DECIMALS

/**
 * How many characters (UTF-16 units) of a text each token covers; 0 for special tokens that are not shown, and for the first bytes of a
 * character that is split among tokens. Null where the text is not what the tokens say one after the other.
 */
export const tokenWidths = (
  tokens: ArrayLike<number>,
  text: string,
  show: (tokens: TokenIds) => string,
): number[] | null => {
  const widths: number[] = []
  let at = 0
  let pending: number[] = []
  for (let i = 0; i < tokens.length; i++) {
    pending.push(tokens[i])
    const piece = show(pending)
    if (piece.endsWith('\ufffd') && pending.length < LONGEST_SPLIT && i + 1 < tokens.length) {
      widths.push(0)
      continue
    }
    if (!text.startsWith(piece, at)) return null
    at += piece.length
    widths.push(piece.length)
    pending = []
  }
  return at === text.length ? widths : null
}

/**
 * Log-prob and advantage of every token, for a row whose response is `response`; nothing where tokens and text do not match.
 * @param show tokens as the row's response has them
 */
export const tokenFields = (
  { rollout, advantages }: Pick<Credited<unknown, unknown>, 'rollout' | 'advantages'>,
  response: string,
  show: (tokens: TokenIds) => string,
): Pick<RolloutRow, 'perToken'> => {
  const widths = tokenWidths(rollout.tokens, response, show)
  if (widths === null || widths.length === 0) return {}
  const own = Array.from(advantages, rounded)
  const perToken: TokenValues = {
    widths,
    logprobs: Array.from(rollout.logprobs, rounded),
    advantages: own.every(value => value === own[0]) ? own[0] : own,
  }
  return { perToken }
}
