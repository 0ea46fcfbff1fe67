/** @file What follows from what: the support of each step, and the premises that a minimal proof of the answer needs. */

import { eventLoopYield } from '../../util/yield-to-event-loop.ts'
import type { ProblemContext } from './context.ts'
import { type Formula, formulaKey, freeVariables, negate, predicates } from './formula.ts'
import { groundStatus, shortestDerivation } from './ground.ts'
import type { LogicProblem } from './problem.ts'
import type { LogicSolver } from './solver.ts'
import { SolverError } from './solver-process.ts'
import type { StepReference } from './steps.ts'

/** A step of a response, with what the premises say of it. */
export interface JudgedStep {
  formula: Formula | null
  key: string
  /** Index of the premise that it restates, or null. */
  premise: number | null
  entailed: boolean
  refs: readonly StepReference[]
}

/** What the answer claims: the conclusion for True, its negation for False, nothing for Unknown, or where it has no formula. */
export const claimOf = ({ label, conclusionFol }: LogicProblem): Formula | null => {
  if (label === 'Unknown' || conclusionFol === null) return null
  return label === 'True' ? conclusionFol : negate(conclusionFol)
}

const proves = async (
  premises: readonly Formula[],
  formula: Formula,
  solver: LogicSolver,
): Promise<boolean> => {
  const [status] = await solver.checkSteps([{ premises: [...premises], formula }])
  if (status === 'failed')
    throw new SolverError('the solver failed on a question about a proof', { hint: 'ask again' })
  return status === 'entailed'
}

/**
 * Whether premises entail a formula: by the ground solver where it can tell, else by Z3.
 * @throws SolverError when the solver failed, which says nothing about the formula.
 */
export const entails = async (
  premises: readonly Formula[],
  formula: Formula,
  solver: LogicSolver,
): Promise<boolean> => {
  const status = groundStatus(premises, formula)
  return status === null ? proves(premises, formula, solver) : status === 'entailed'
}

/** `entails` for statements about a problem, which remembers what the ground solver says. @throws SolverError as there. */
export const follows = async (
  context: ProblemContext,
  statements: readonly Formula[],
  formula: Formula,
  solver: LogicSolver,
): Promise<boolean> => context.followsFrom(statements, formula) ?? (await proves(statements, formula, solver))

/** Premises that a step refers to, by index; numbers beyond the last premise refer to nothing. */
export const premisesReferredTo = ({ refs }: JudgedStep, count: number): number[] =>
  refs.flatMap(({ kind, number }) =>
    kind === 'premise' && number >= 1 && number <= count ? [number - 1] : [],
  )

/**
 * Whether each step is valid and a premise, or follows from what stands before it: the premises that valid steps referred
 * to so far, and the valid steps; with `leaps` set to `void` only those of them that are supported themselves, so that a
 * step asserted over the heads of others supports nothing.
 * @throws SolverError when the solver failed on one of them.
 */
export const supportedSteps = async (
  context: ProblemContext,
  steps: readonly JudgedStep[],
  solver: LogicSolver,
  leaps: 'count' | 'void',
): Promise<boolean[]> => {
  const { premisesFol } = context.problem
  const earlier: Formula[] = []
  const supported: boolean[] = []
  const yieldToEventLoop = eventLoopYield()
  for (const step of steps) {
    await yieldToEventLoop()
    if (step.formula === null || !step.entailed) {
      supported.push(false)
      continue
    }
    earlier.push(...premisesReferredTo(step, premisesFol.length).map(index => premisesFol[index]))
    const stands = step.premise !== null || (await follows(context, earlier, step.formula, solver))
    supported.push(stands)
    if (stands || leaps === 'count') earlier.push(step.formula)
  }
  return supported
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
const nearby = ({ premisesFol }: LogicProblem, conclusionFol: Formula): number[] => {
  const names = new Set([...predicates([conclusionFol]).keys(), ...freeVariables(conclusionFol)])
  return premisesFol.flatMap((premise, index) => {
    const own = [...predicates([premise]).keys(), ...freeVariables(premise)]
    return own.some(name => names.has(name)) ? [index] : []
  })
}

/**
 * Premises (by index) that a minimal proof of the answer uses: a shortest chain of rules where there is one, else an
 * irreducible set found by deletion. For Unknown the premises that the reference proof states, or without one those about the
 * conclusion's own names. Null when the premises do not entail the labelled answer, or the conclusion has no formula.
 * @throws SolverError when the solver failed on the way.
 */
export const minimalSupport = async (
  problem: LogicProblem,
  solver: LogicSolver,
  proofNodes: readonly Formula[] = [],
): Promise<number[] | null> => {
  const { premisesFol, conclusionFol } = problem
  if (conclusionFol === null) return null
  const claim = claimOf(problem)
  if (!claim) {
    const stated = new Set(proofNodes.map(formulaKey))
    const used = [...premisesFol.keys()].filter(index => stated.has(formulaKey(premisesFol[index])))
    return used.length > 0 ? used : nearby(problem, conclusionFol)
  }
  const chain = shortestDerivation(premisesFol, claim)
  if (chain) return chain
  if (!(await entails(premisesFol, claim, solver))) return null
  return byDeletion(premisesFol, claim, solver)
}
