/** @file One wording for every rule: demonstrations need not repeat which quantifier a premise happened to use. */

import { parseSentence } from '../../grade/logic/english.ts'
import { readRule } from './rules.ts'
import { ALL_NOUNS } from './vocabulary.ts'

/** `canonical`: rules as "Every x is (not) (a|an) y"; `as-given`: each as its premise words it. */
export type RuleWording = 'canonical' | 'as-given'

const kinds: ReadonlySet<string> = new Set(ALL_NOUNS)
const known = new Map<string, string>()

const reword = (sentence: string): string => {
  const rule = readRule(parseSentence(sentence))
  if (rule === null || rule.fact) return sentence
  const article = /^[aeiou]/.test(rule.object) ? 'an ' : 'a '
  const sign = rule.negated ? 'not ' : ''
  return `Every ${rule.subject} is ${sign}${kinds.has(rule.object) ? article : ''}${rule.object}.`
}

/**
 * A rule as "Every x is (not) (a|an) y", which means the same formula as "Xes are ys" and "Each x is a y"; a fact as it is.
 * @throws SentenceError for a sentence outside the controlled English.
 */
export const canonicalWording = (sentence: string): string => {
  let text = known.get(sentence)
  if (text === undefined) {
    text = reword(sentence)
    if (known.size < 20_000) known.set(sentence, text)
  }
  return text
}
