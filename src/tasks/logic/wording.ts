/** @file One wording for every rule: demonstrations need not repeat which quantifier a premise happened to use. */

import { remembered } from '../../util/remembered.ts'
import { ruleIn } from './rules.ts'

/** `canonical`: rules as "Every x is (not) (a|an) y"; `as-given`: each as its premise words it. */
export type RuleWording = 'canonical' | 'as-given'

const reword = (sentence: string): string => {
  const rule = ruleIn(sentence)
  if (rule === null) return sentence
  const article = /^[aeiou]/.test(rule.object) ? 'an ' : 'a '
  const sign = rule.negated ? 'not ' : ''
  return `Every ${rule.subject} is ${sign}${rule.leadsOn ? article : ''}${rule.object}.`
}

/**
 * A rule as "Every x is (not) (a|an) y", which means the same formula as "Xes are ys" and "Each x is a y"; a fact as it is.
 * @throws SentenceError for a sentence outside the controlled English.
 */
export const canonicalWording: (sentence: string) => string = remembered(reword, 20_000)
