/**
 * @file A verdict in one forward pass: the judge is asked for Yes or No, and what counts is how likely each is as its first word,
 * not which one it says. A model that is poor at saying may be good at this: the likelihood ranks what the word rounds.
 */

import type { TokenLogprob } from '../../../chat/chat-model.ts'
import type { Criterion } from '../../../rubric/criterion.ts'
import type { Quote } from '../../../util/untrusted.ts'
import { type ReplyScale, shortValue } from './scale.ts'
import { commonRules, type JudgeTemplate, signWord } from './template.ts'

/** Alternatives that are asked for: as many as servers give. */
const ALTERNATIVES = 20

export const oneWord = (scale: ReplyScale): JudgeTemplate => ({
  name: `word/${scale.name}`,
  version: 1,
  scale,
  // Filters of sampling would take alternatives away.
  sampling: {
    ...{ maxTokens: 1, temperature: 0, topLogprobs: ALTERNATIVES },
    ...{ topP: undefined, topK: undefined, presencePenalty: undefined },
  },
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
    : `Yes and No together are less likely than 1% as the first word, which begins rather with ${shown.join(', ')}`
}

const WORD = /^[\s"'*]*(yes|no)$/i

/** Where Yes and No are less likely together the model says something else first, as one that thinks does. */
const LEAST_SHARE = Math.log(0.01)

/** Log of a sum of probabilities, which may be too small for numbers themselves. */
const logSum = (values: readonly number[]): number => {
  let most = Number.NEGATIVE_INFINITY
  for (const value of values) most = Math.max(most, value)
  return most === Number.NEGATIVE_INFINITY
    ? most
    : most + Math.log(values.reduce((sum, value) => sum + Math.exp(value - most), 0))
}

/**
 * Log-odds of yes against no: of all spellings together. A word that is not among the alternatives is at most as likely as the
 * least likely of them, which stands for it; null where both words together are unlikely, and where nothing is told but one word.
 */
const logOddsOf = ({ token, logprob, top }: TokenLogprob): number | null => {
  const known = new Map(
    [...top, { token, logprob }].flatMap(each =>
      Number.isFinite(each.logprob) ? [[each.token, each.logprob] as const] : [],
    ),
  )
  const of = (word: string) =>
    logSum(
      [...known].flatMap(([text, value]) => (WORD.exec(text)?.[1].toLowerCase() === word ? [value] : [])),
    )
  const [yes, no] = [of('yes'), of('no')]
  if (known.size < 2 || logSum([yes, no]) < LEAST_SHARE) return null
  let floor = 0
  for (const value of known.values()) floor = Math.min(floor, value)
  return Math.max(yes, floor) - Math.max(no, floor)
}
