/**
 * @file A verdict in one forward pass: the judge is asked for Yes or No, and what counts is how likely each is as its first word,
 * not which one it says. A model that is poor at saying may be good at this: the likelihood ranks what the word rounds.
 */

import type { TokenLogprob } from '../../../chat/chat-model.ts'
import type { Criterion } from '../../../rubric/criterion.ts'
import type { Quote } from '../untrusted.ts'
import { type ReplyScale, shortValue } from './scale.ts'
import { commonRules, type JudgeTemplate, signWord } from './template.ts'

/** Alternatives that are asked for: as many as servers give. */
const ALTERNATIVES = 20

export const oneWord = (scale: ReplyScale): JudgeTemplate => ({
  name: `word/${scale.name}`,
  version: 1,
  scale,
  sampling: { maxTokens: 1, temperature: 0, topLogprobs: ALTERNATIVES },
  system: [...commonRules('one criterion', scale, false), 'Answer with one word: Yes or No.'].join('\n'),
  question: ([criterion]: readonly Criterion[], quote: Quote) =>
    [
      `The criterion (${signWord(criterion)}):`,
      quote(criterion.text, 'criterion'),
      `${scale.question(criterion, quote)} Answer Yes or No.`,
    ].join('\n'),
  read: () => ({ problem: 'the server gave no log-probs; likelihoods need them', strict: false }),
  readTokens: ([first]) => {
    const logOdds = logOddsOf(first)
    return logOdds === null
      ? { problem: problemOf(first), strict: false }
      : { value: [{ met: logOdds > 0, logOdds, margin: Math.abs(logOdds) }], strict: true }
  },
})

const problemOf = ({ top }: TokenLogprob): string => {
  const shown = top.slice(0, 3).map(({ token }) => shortValue(token))
  return top.length < 2
    ? 'the server gave no alternatives to the first word; likelihoods need them'
    : `neither Yes nor No is among the ${top.length} likeliest first words, the first of which are ${shown.join(', ')}`
}

const WORD = /^[\s"'*]*(yes|no)$/i

/**
 * Log-odds of yes against no: of all spellings together. A word that is not among the alternatives is at most as likely as the
 * least likely of them, which stands for it; null where both are missing.
 */
const logOddsOf = ({ token, logprob, top }: TokenLogprob): number | null => {
  const known = new Map(
    [...top, { token, logprob }].flatMap(each =>
      Number.isFinite(each.logprob) ? [[each.token, each.logprob] as const] : [],
    ),
  )
  const chance = { yes: 0, no: 0 }
  for (const [text, value] of known) {
    const word = WORD.exec(text)?.[1].toLowerCase()
    if (word === 'yes' || word === 'no') chance[word] += Math.exp(value)
  }
  // Of one word alone nothing is known but that it is the likeliest.
  if (known.size < 2 || (chance.yes === 0 && chance.no === 0)) return null
  let floor = 1
  for (const value of known.values()) floor = Math.min(floor, Math.exp(value))
  const odds = Math.log((chance.yes || floor) / (chance.no || floor))
  return Number.isFinite(odds) ? odds : null
}
