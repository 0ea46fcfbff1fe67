/** @file What a scripted judge holds for true: a function of two tags in the text that is judged, known to both sides. */

import { hashLabel } from '../../../util/rng.ts'

/** A response carries `case-12`, a criterion `rule-3`. */
export const caseTag = (index: number): string => `case-${index}`
export const ruleTag = (index: number): string => `rule-${index}`

/** Half of all pairs hold, without a pattern. */
export const scriptedTruth = (caseIndex: number, ruleIndex: number): boolean =>
  spread(hashLabel(`${caseIndex}/${ruleIndex}`)) % 2 === 0

/** Uniform in [0, 1): the same for the same label. */
export const chanceOf = (label: string): number => spread(hashLabel(label)) / 2 ** 32

/** Finalizer of MurmurHash3: FNV alone leaves neighbouring labels with neighbouring values. */
const spread = (hash: number): number => {
  let x = hash
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}

const lastIndex = (text: string, tag: string): number | null => {
  const at = text.lastIndexOf(tag)
  return at < 0 ? null : Number.parseInt(text.slice(at + tag.length, at + tag.length + 9), 10)
}

const CRITERION = /<criterion-(\w+)>.*?<\/criterion-\1>/gs

/** The rules of a request's quoted criteria, in order; null where one of them carries no tag. */
export const rulesIn = (text: string): number[] | null => {
  const rules = [...text.matchAll(CRITERION)].map(([criterion]) => lastIndex(criterion, 'rule-'))
  return rules.every(rule => rule !== null) ? rules : null
}

/** The pair that a request is about; null where a tag is missing. */
export const pairIn = (text: string): { caseIndex: number; ruleIndex: number } | null => {
  const caseIndex = lastIndex(text, 'case-')
  const ruleIndex = lastIndex(text, 'rule-')
  return caseIndex === null || ruleIndex === null ? null : { caseIndex, ruleIndex }
}
