/** @file Whether a proof has come to its end: the step that decides the question, or, for Unknown, every rule applied. */

import { type Formula, formulaKey, negate } from '../../grade/logic/formula.ts'
import type { LogicProblem } from '../../grade/logic/problem.ts'
import { type RuleView, readRule, readRules } from './rules.ts'

/** What the individual is by the facts and rules, kinds and properties alike. */
const consequences = ({ rules, facts }: RuleView, individual: string): Set<string> => {
  const known = new Set(
    facts.filter(fact => fact.subject === individual && !fact.negated).map(fact => fact.object),
  )
  for (let before = -1; before !== known.size; ) {
    before = known.size
    for (const rule of rules) if (known.has(rule.subject) && !rule.negated) known.add(rule.object)
  }
  return known
}

/** A kind, told from a property by its noun form (as generated) or by having rules of its own. */
const isKind = ({ rules }: RuleView, name: string) =>
  name.endsWith('pus') || rules.some(rule => rule.subject === name)

/**
 * Whether the steps of a response, taken as entailed, settle the question. True and False: the last step is the conclusion
 * or its negation. Unknown: the steps state every kind of the individual up to the end of the chain, so that no rule is left
 * that could bring in the queried property (ProntoQA fragment only; false outside it, and without a formula of the conclusion).
 *
 * A response is correct and valid when its label is right, all its steps are entailed, and they settle the question.
 */
export const settlesQuestion = (problem: LogicProblem, steps: readonly Formula[]): boolean => {
  if (problem.conclusionFol === null) return false
  if (problem.label !== 'Unknown') {
    const last = steps.at(-1)
    if (last === undefined) return false
    const key = formulaKey(last)
    return key === formulaKey(problem.conclusionFol) || key === formulaKey(negate(problem.conclusionFol))
  }
  const view = readRules(problem)
  if (!view) return false
  const individual = view.query.subject
  const stated = new Set(steps.map(formulaKey))
  const kinds = [...consequences(view, individual)].filter(name => isKind(view, name))
  return kinds.every(kind => stated.has(formulaKey({ kind: 'atom', name: kind, args: [individual] })))
}

/**
 * How many steps are neither a premise nor one rule away from a premise or an earlier step: entailed perhaps, but asserted
 * over the heads of steps between (PrOntoQA's "skip"), or not entailed at all. Rules applied need not be restated. Null
 * outside the ProntoQA fragment.
 */
export const countSkippedSteps = (problem: LogicProblem, steps: readonly Formula[]): number | null => {
  const view = readRules(problem)
  if (!view) return null
  const stated = new Set(problem.premisesFol.map(formulaKey))
  const skips = (step: Formula): boolean => {
    const key = formulaKey(step)
    if (stated.has(key)) return false
    const fact = readRule(step)
    if (!fact?.fact) return true
    const isNow = (kind: string) => stated.has(formulaKey({ kind: 'atom', name: kind, args: [fact.subject] }))
    const follows = view.rules.some(
      rule => rule.object === fact.object && rule.negated === fact.negated && isNow(rule.subject),
    )
    // Counted once: the steps after a skip may build on it.
    stated.add(key)
    return !follows
  }
  return steps.filter(skips).length
}
