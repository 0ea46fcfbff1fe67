/** @file Criteria of a grammar, executed on responses whose features are worked out once. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { ThinkingVerifier, ThoughtResponse, VerifierItem } from '../../tasks/thinking.ts'
import { type CriterionGrammar, isMet } from '../../tasks/thinking-grammar/grammar.ts'

/** What is decided on, of a response to a problem. */
type EvidenceOf<Problem, Evidence> = (problem: Problem, response: ThoughtResponse) => Evidence

/** Executes the sentences of a grammar; what is no sentence of it has no verdict. */
export class GrammarVerifier<Problem, Evidence> implements ThinkingVerifier<Problem> {
  readonly #grammar: CriterionGrammar<Evidence, string>
  readonly #evidenceOf: EvidenceOf<Problem, Evidence>
  /** Every rubric of a question asks about the same responses, in calls of their own. */
  readonly #known = new WeakMap<ThoughtResponse, { problem: Problem; evidence: Evidence }>()

  constructor(grammar: CriterionGrammar<Evidence, string>, evidenceOf: EvidenceOf<Problem, Evidence>) {
    this.#grammar = grammar
    this.#evidenceOf = evidenceOf
  }

  async verify(items: readonly VerifierItem<Problem>[]): Promise<Verdict[][]> {
    return items.map(({ problem, response, rubric }) => {
      const evidence = this.#evidence(problem, response)
      return rubric.criteria.map(criterion => this.#verdict(criterion, evidence))
    })
  }

  #evidence(problem: Problem, response: ThoughtResponse): Evidence {
    const known = this.#known.get(response)
    if (known?.problem === problem) return known.evidence
    const evidence = this.#evidenceOf(problem, response)
    this.#known.set(response, { problem, evidence })
    return evidence
  }

  #verdict({ id, text }: Criterion, evidence: Evidence): Verdict {
    const reading = this.#grammar.read(text)
    return reading === null
      ? { criterionId: id, met: null, source: 'rule', explanation: 'no sentence of the grammar' }
      : { criterionId: id, met: isMet(reading, evidence), source: 'rule' }
  }
}
