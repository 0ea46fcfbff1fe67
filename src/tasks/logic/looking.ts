/** @file Proofs that look before they go on: of every kind on the way, what is said of it is read before its parent. */

import { parseSentence } from '../../grade/logic/english.ts'
import type { LogicTaskExample } from './example.ts'
import { readRule } from './rules.ts'
import { ALL_NOUNS } from './vocabulary.ts'

const KIND_NAMES: ReadonlySet<string> = new Set(ALL_NOUNS.map(noun => noun.toLowerCase()))

/** How long demonstrated proofs are: what they need and no more, or with every property on the way. */
export type ProofStyle = 'shortest' | 'looking'

/** Steps of a proof of so many hops, at most: the fact, a rule and its consequence for each, and a property of each kind passed. */
export const stepsOf = (hops: number, proofs: ProofStyle): number =>
  1 + 2 * hops + (proofs === 'looking' ? hops - 1 : 0)

/** The sentence's rule as subject and whether it leads to a kind; null for facts. */
const ruleOf = (text: string): { subject: string; leadsOn: boolean } | null => {
  const rule = readRule(parseSentence(text))
  return rule === null || rule.fact
    ? null
    : { subject: rule.subject.toLowerCase(), leadsOn: KIND_NAMES.has(rule.object.toLowerCase()) }
}

/**
 * A proof of the same conclusion that also states, before each rule that leads from a kind to its parent, the properties that the
 * premises give to that kind. So whether to stop at a kind is told by the sentence just read, and nothing has to be found by
 * two words at once: its subject and the queried property. Every added step is a premise.
 * @param problem of the ProntoQA fragment, with its proof
 * @throws SentenceError for a premise or step outside the controlled English
 */
export const lookingProof = ({
  premises,
  proof,
}: Pick<LogicTaskExample, 'premises'> & { proof: readonly string[] }): string[] => {
  const properties = new Map<string, string[]>()
  for (const premise of premises) {
    const rule = ruleOf(premise)
    if (rule === null || rule.leadsOn) continue
    properties.set(rule.subject, [...(properties.get(rule.subject) ?? []), premise])
  }
  return proof.flatMap(step => {
    const rule = ruleOf(step)
    return rule?.leadsOn ? [...(properties.get(rule.subject) ?? []), step] : [step]
  })
}
