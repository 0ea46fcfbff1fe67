/** @file How sure a judge was: by how much the verdict's token beat the best one for another verdict. */

import type { TokenLogprob } from '../../chat/chat-model.ts'

/**
 * Margins in nats of the verdicts in an answer, in their order; null where the tokens do not show one. A verdict that has no
 * rival among the alternatives is at least as far ahead as of the least likely alternative: that bound is given.
 * @param key of the verdict in the answer's JSON
 */
export const verdictMargins = (logprobs: readonly TokenLogprob[], key: string): (number | null)[] => {
  const text = logprobs.map(({ token }) => token).join('')
  const margins: (number | null)[] = []
  // Both go on in one direction: a server may repeat the key in a hundred thousand tokens.
  let index = 0
  let end = 0
  for (const match of text.matchAll(new RegExp(`(?<!\\\\)"${key}"\\s*:\\s*`, 'g'))) {
    const at = match.index + match[0].length
    while (index < logprobs.length && end + logprobs[index].token.length <= at)
      end += logprobs[index++].token.length
    margins.push(index < logprobs.length ? marginAt(logprobs[index], at - end) : null)
  }
  return margins
}

/** @param skipped characters of the token that stand before the verdict */
const marginAt = ({ token, logprob, top }: TokenLogprob, skipped: number): number | null => {
  const verdict = verdictOf(token.slice(skipped))
  if (verdict === null || top.length === 0) return null
  let rival = Number.NEGATIVE_INFINITY
  let floor = Number.POSITIVE_INFINITY
  for (const other of top) {
    const said = verdictOf(other.token)
    if (said !== null && said !== verdict) rival = Math.max(rival, other.logprob)
    floor = Math.min(floor, other.logprob)
  }
  const margin = logprob - (rival === Number.NEGATIVE_INFINITY ? floor : rival)
  return Number.isFinite(margin) ? margin : null
}

/** Which verdict a token begins, whatever of `": ` it carries in front. */
const verdictOf = (token: string): string | null => {
  const word = /^[\s":]*(t|f|\d)/i.exec(token)
  return word ? word[1].toLowerCase() : null
}
