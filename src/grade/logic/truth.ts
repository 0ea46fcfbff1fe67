/** @file C4 and C5 as evaluation sees them: what the steps really use and establish (spec 6.2). */

import type { ProblemContext } from './context.ts'
import { type Formula, formulaKey, negate, visitAtoms } from './formula.ts'
import type { LogicSolver } from './solver.ts'
import type { StepReference } from './steps.ts'
import { claimOf, entails, minimalSupport } from './support.ts'

/** What the truth criteria look at of a graded step. */
export interface JudgedStep {
  formula: Formula | null
  key: string
  premise: number | null
  entailed: boolean
  refs: readonly StepReference[]
}

const citedPremises = (steps: readonly JudgedStep[], count: number): Set<number> => {
  const cited = new Set<number>()
  for (const { premise, refs } of steps) {
    if (premise !== null) cited.add(premise)
    for (const { kind, number } of refs) {
      if (kind === 'premise' && number >= 1 && number <= count) cited.add(number - 1)
    }
  }
  return cited
}

/**
 * C4: share of the premises of a minimal proof that the response cites, by restating them or by reference; 1 also when the
 * cited premises entail the answer in another way. Null when the premises do not entail the labelled answer.
 */
export const premiseUse = async (
  context: ProblemContext,
  steps: readonly JudgedStep[],
  solver: LogicSolver,
): Promise<number | null> => {
  const { problem } = context
  context.support ??= minimalSupport(problem, solver, context.proofNodes)
  const support = await context.support
  if (support === null) return null
  if (support.length === 0) return 1
  const cited = citedPremises(steps, problem.premisesFol.length)
  const share = support.filter(index => cited.has(index)).length / support.length
  const claim = claimOf(problem)
  if (share === 1 || claim === null || cited.size === 0) return share
  const premises = [...cited].map(index => problem.premisesFol[index])
  return (await entails(premises, claim, solver)) ? 1 : share
}

/** Share of the reference proof's statements that valid steps state; null without a reference proof. */
export const proofReached = (context: ProblemContext, steps: readonly JudgedStep[]): number | null => {
  const nodes = new Set(context.proofNodes.map(formulaKey))
  if (nodes.size === 0) return null
  const stated = new Set(steps.filter(step => step.entailed).map(step => step.key))
  return [...nodes].filter(key => stated.has(key)).length / nodes.size
}

/** Signs (true: as it stands) under which a predicate occurs in a formula; both inside xor and iff. */
const signsOf = (formula: Formula, predicate: string, sign = true): Set<boolean> => {
  switch (formula.kind) {
    case 'atom':
      return new Set(formula.name === predicate ? [sign] : [])
    case 'not':
      return signsOf(formula.body, predicate, !sign)
    case 'forall':
    case 'exists':
      return signsOf(formula.body, predicate, sign)
    case 'and':
    case 'or':
      return new Set([...signsOf(formula.left, predicate, sign), ...signsOf(formula.right, predicate, sign)])
    case 'implies':
      return new Set([...signsOf(formula.left, predicate, !sign), ...signsOf(formula.right, predicate, sign)])
    case 'xor':
    case 'iff': {
      const both = [formula.left, formula.right].some(side => signsOf(side, predicate).size > 0)
      return new Set(both ? [true, false] : [])
    }
    default:
      return new Set()
  }
}

/** For Unknown: how many of the two directions, the conclusion and its negation, some step speaks to. 0, .5 or 1. */
const directionsAddressed = (context: ProblemContext, steps: readonly JudgedStep[]): number => {
  const names = new Set<string>()
  visitAtoms(context.problem.conclusionFol, leaf => leaf.kind === 'atom' && names.add(leaf.name))
  const found = new Set<boolean>()
  for (const { formula } of steps) {
    if (!formula) continue
    for (const name of names) for (const sign of signsOf(formula, name)) found.add(sign)
  }
  return found.size / 2
}

/**
 * C5: 1 when the valid steps entail the answer by themselves; else the share of the reference proof (or of a minimal proof)
 * that they reach. For Unknown: 1 when both directions were addressed, or when the reference proof, which applies every rule
 * there is, was reached in full; else the larger share.
 */
export const completeness = async (
  context: ProblemContext,
  steps: readonly JudgedStep[],
  solver: LogicSolver,
): Promise<number> => {
  const { problem } = context
  const reached = proofReached(context, steps)
  const claim = claimOf(problem)
  if (claim === null) return Math.max(reached ?? 0, directionsAddressed(context, steps))
  const valid = steps.flatMap(step => (step.entailed && step.formula ? [step.formula] : []))
  if (valid.length > 0 && (await entails(valid, claim, solver))) return 1
  if (reached !== null) return reached
  context.support ??= minimalSupport(problem, solver, context.proofNodes)
  const support = await context.support
  if (!support) return 0
  const cited = citedPremises(steps, problem.premisesFol.length)
  return support.filter(index => cited.has(index)).length / (support.length + 1)
}

/**
 * Whether the steps bring the question to its end. True and False: the last step is the conclusion or its negation.
 * Unknown: every ground statement of the reference proof is stated; without a reference proof, both directions addressed.
 */
export const settles = (context: ProblemContext, steps: readonly JudgedStep[]): boolean => {
  const last = steps.at(-1)
  if (!last) return false
  if (context.problem.label !== 'Unknown')
    return last.key === context.conclusionKey || last.key === context.denialKey
  const derived = context.proofNodes.filter(node => node.kind === 'atom' || negate(node).kind === 'atom')
  if (derived.length === 0) return directionsAddressed(context, steps) === 1
  const stated = new Set(steps.map(step => step.key))
  return derived.every(node => stated.has(formulaKey(node)))
}
