/** @file Proofs that look before they go on: of every kind on the way, what is said of it is read before its parent. */

import type { LogicTaskExample } from './example.ts'
import { ruleIn } from './rules.ts'
import { propertyFact } from './sentences.ts'

/** How long demonstrated proofs are: what they need and no more, or with every property on the way. */
export type ProofStyle = 'shortest' | 'looking'

/** Steps of a proof of so many hops, at most: the fact, a rule and its consequence for each, and those of each kind passed. */
export const proofSteps = (hops: number, proofs: ProofStyle): number =>
  1 + 2 * hops + (proofs === 'looking' ? 2 * (hops - 1) : 0)

/**
 * A proof of the same conclusion that also says, of each kind that it passes, what properties that kind gives to the individual.
 * So whether to stop is told by the statement just made, which is the question's but for its sign, or is not: nothing has to be
 * found by two words at once, a kind and the queried property. Every added step is a premise or follows from two steps before.
 * @param problem of the ProntoQA fragment, with its proof
 * @throws SentenceError for a premise or step outside the controlled English
 */
export const lookingProof = ({
  premises,
  proof,
}: Pick<LogicTaskExample, 'premises'> & { proof: readonly string[] }): string[] => {
  const individual = proof[0]?.split(' ')[0] ?? ''
  const looks = new Map<string, string[]>()
  for (const premise of premises) {
    const rule = ruleIn(premise)
    if (rule === null || rule.leadsOn) continue
    const { text } = propertyFact(individual, rule.object, rule.negated)
    looks.set(rule.subject, [...(looks.get(rule.subject) ?? []), premise, text])
  }
  return proof.flatMap(step => {
    const rule = ruleIn(step)
    return rule?.leadsOn ? [...(looks.get(rule.subject) ?? []), step] : [step]
  })
}
