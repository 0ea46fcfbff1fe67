/** @file Criteria of a grammar, executed on responses whose features are worked out once. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { ThinkingVerifier, ThoughtResponse } from '../thinking.ts'
import { type CriterionGrammar, isMet } from './grammar.ts'

/** What is decided on, of a response to a problem. */
type EvidenceOf<Problem, Evidence> = (problem: Problem, response: ThoughtResponse) => Evidence

/**
 * Executes the sentences of a grammar; what is no sentence of it has no verdict.
 * @param outcomes whether criteria that read the last result are decided as well
 */
export const grammarVerifier = <Problem, Evidence>(
  grammar: CriterionGrammar<Evidence, string>,
  evidenceOf: EvidenceOf<Problem, Evidence>,
  outcomes = true,
): ThinkingVerifier<Problem> => {
  /** Every rubric of a question asks about the same responses, in calls of their own. */
  const known = new WeakMap<ThoughtResponse, { problem: Problem; evidence: Evidence }>()
  const evidenceFor = (problem: Problem, response: ThoughtResponse): Evidence => {
    const seen = known.get(response)
    if (seen?.problem === problem) return seen.evidence
    const evidence = evidenceOf(problem, response)
    known.set(response, { problem, evidence })
    return evidence
  }
  const verdictOn = ({ id, text }: Criterion, evidence: Evidence): Verdict => {
    const reading = grammar.read(text)
    const unknown = (explanation: string): Verdict => ({
      ...{ criterionId: id, met: null, source: 'rule', explanation },
    })
    if (reading === null) return unknown('no sentence of the grammar')
    if (!outcomes && reading.predicate.outcome === true) return unknown('it reads the outcome')
    return { criterionId: id, met: isMet(reading, evidence), source: 'rule' }
  }
  return {
    verify: async items =>
      items.map(({ problem, response, rubric }) => {
        const evidence = evidenceFor(problem, response)
        return rubric.criteria.map(criterion => verdictOn(criterion, evidence))
      }),
  }
}
