/** @file Which premises a minimal proof of the answer needs. */

import { type Formula, formulaKey, freeVariables, negate, predicates } from './formula.ts'
import { groundStatus, shortestDerivation } from './ground.ts'
import type { LogicProblem } from './problem.ts'
import type { LogicSolver } from './solver.ts'

/** What the answer claims: the conclusion for True, its negation for False, nothing for Unknown. */
export const claimOf = (problem: LogicProblem): Formula | null => {
  if (problem.label === 'Unknown') return null
  return problem.label === 'True' ? problem.conclusionFol : negate(problem.conclusionFol)
}

/** Whether premises entail a formula: by the ground solver where it can tell, else by Z3. */
export const entails = async (
  premises: readonly Formula[],
  formula: Formula,
  solver: LogicSolver,
): Promise<boolean> => {
  const status = groundStatus(premises, formula)
  if (status !== null) return status === 'entailed'
  const [checked] = await solver.checkSteps([{ premises: [...premises], formula }])
  return checked === 'entailed'
}

/** Leaves out one premise after the other as long as the rest still entails the claim: no premise of the result can go. */
const byDeletion = async (premises: readonly Formula[], claim: Formula, solver: LogicSolver) => {
  let kept = premises.map((_, index) => index)
  for (const index of premises.keys()) {
    const rest = kept.filter(other => other !== index)
    if (
      await entails(
        rest.map(other => premises[other]),
        claim,
        solver,
      )
    )
      kept = rest
  }
  return kept
}

/** Without a claim there is no proof to make minimal: the premises that speak of the conclusion's predicates or constants. */
const nearby = ({ premisesFol, conclusionFol }: LogicProblem): number[] => {
  const names = new Set([...predicates([conclusionFol]).keys(), ...freeVariables(conclusionFol)])
  return premisesFol.flatMap((premise, index) => {
    const own = [...predicates([premise]).keys(), ...freeVariables(premise)]
    return own.some(name => names.has(name)) ? [index] : []
  })
}

/**
 * Premises (by index) that a minimal proof of the answer uses: a shortest chain of rules where there is one, else an
 * irreducible set found by deletion. For Unknown the premises that the reference proof states, or without one those about the
 * conclusion's own names. Null when the premises do not entail the labelled answer.
 */
export const minimalSupport = async (
  problem: LogicProblem,
  solver: LogicSolver,
  proofNodes: readonly Formula[] = [],
): Promise<number[] | null> => {
  const { premisesFol } = problem
  const claim = claimOf(problem)
  if (!claim) {
    const stated = new Set(proofNodes.map(formulaKey))
    const used = [...premisesFol.keys()].filter(index => stated.has(formulaKey(premisesFol[index])))
    return used.length > 0 ? used : nearby(problem)
  }
  const chain = shortestDerivation(premisesFol, claim)
  if (chain) return chain
  if (!(await entails(premisesFol, claim, solver))) return null
  return byDeletion(premisesFol, claim, solver)
}
