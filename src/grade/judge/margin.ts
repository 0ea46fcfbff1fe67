/** @file How sure a judge was: by how much the verdict's token beat the best one for another verdict. */

import type { TokenLogprob } from '../../chat/chat-model.ts'

/**
 * Margins in nats of the verdicts in an answer, in their order; null where the tokens do not show one. A verdict that has no
 * rival among the alternatives is at least as far ahead as of the least likely alternative: that bound is given.
 * @param key of the verdict in the answer's JSON
 */
export const verdictMargins = (logprobs: readonly TokenLogprob[], key: string): (number | null)[] => {
  const text = logprobs.map(({ token }) => token).join('')
  const starts = [...text.matchAll(new RegExp(`(?<!\\\\)"${key}"\\s*:\\s*`, 'g'))].map(
    match => match.index + match[0].length,
  )
  return starts.map(at => marginAt(logprobs, at))
}

const marginAt = (logprobs: readonly TokenLogprob[], at: number): number | null => {
  let end = 0
  for (const { token, logprob, top } of logprobs) {
    const start = end
    end += token.length
    if (end <= at) continue
    const verdict = verdictOf(token.slice(Math.max(0, at - start)))
    if (verdict === null || top.length === 0) return null
    const rivals = top.filter(other => {
      const said = verdictOf(other.token)
      return said !== null && said !== verdict
    })
    const floor = Math.min(...top.map(other => other.logprob))
    return logprob - (rivals.length > 0 ? Math.max(...rivals.map(other => other.logprob)) : floor)
  }
  return null
}

/** Which verdict a token begins, whatever of `": ` it carries in front. */
const verdictOf = (token: string): string | null => {
  const word = /^[\s":]*(t|f|\d)/i.exec(token)
  return word ? word[1].toLowerCase() : null
}
