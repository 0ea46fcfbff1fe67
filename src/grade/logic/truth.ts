/** @file C4 and C5 as evaluation sees them: what the steps really use and establish. */

import type { ProblemContext } from './context.ts'
import { binary, type Formula, formulaKey, negate, not, visitAtoms } from './formula.ts'
import type { LogicSolver } from './solver.ts'
import {
  claimOf,
  entails,
  follows,
  type JudgedStep,
  minimalSupport,
  premisesReferredTo,
  supportedSteps,
} from './support.ts'

/** Premises that the steps restate or refer to. */
const citedPremises = (steps: readonly JudgedStep[], count: number): Set<number> =>
  new Set(
    steps.flatMap(step => [
      ...(step.premise === null ? [] : [step.premise]),
      ...premisesReferredTo(step, count),
    ]),
  )

/** Premises of a minimal proof, worked out once a problem; what the solver failed on is asked again the next time. */
const supportOf = (context: ProblemContext, solver: LogicSolver): Promise<number[] | null> => {
  const known = context.support.get(solver)
  if (known) return known
  const support = minimalSupport(context.problem, solver, context.proofNodes).catch(error => {
    context.support.delete(solver)
    throw error
  })
  context.support.set(solver, support)
  return support
}

/**
 * C4: share of the premises of a minimal proof that the response cites, by restating them or by reference; 1 also when the
 * cited premises entail the answer in another way. Null when the premises do not entail the labelled answer, or the conclusion
 * has no formula.
 * @throws SolverError when the solver failed, like the others here.
 */
export const premiseUse = async (
  context: ProblemContext,
  steps: readonly JudgedStep[],
  solver: LogicSolver,
): Promise<number | null> => {
  const { problem } = context
  const support = await supportOf(context, solver)
  if (support === null) return null
  if (support.length === 0) return 1
  const cited = citedPremises(steps, problem.premisesFol.length)
  const share = support.filter(index => cited.has(index)).length / support.length
  const claim = claimOf(problem)
  if (share === 1 || claim === null || cited.size === 0) return share
  const premises = [...cited].map(index => problem.premisesFol[index])
  return (await entails(premises, claim, solver)) ? 1 : share
}

/** Share of the reference proof's statements that the steps state; null without a reference proof. In [0, 1]. */
const proofReached = (context: ProblemContext, steps: readonly JudgedStep[]): number | null => {
  const nodes = new Set(context.proofNodes.map(formulaKey))
  if (nodes.size === 0) return null
  const stated = new Set(steps.map(step => step.key))
  return [...nodes].filter(key => stated.has(key)).length / nodes.size
}

type Atom = Extract<Formula, { kind: 'atom' }>
type IsAbout = (atom: Atom) => boolean

/** Tells the conclusion's own atoms: its predicates applied to its own names, or to any where a quantifier binds them. */
const aboutConclusion = (conclusion: Formula): IsAbout => {
  const own: { name: string; args: (string | null)[] }[] = []
  visitAtoms(conclusion, (leaf, bound) => {
    if (leaf.kind === 'atom')
      own.push({ name: leaf.name, args: leaf.args.map(arg => (bound.has(arg) ? null : arg)) })
  })
  return ({ name, args }) =>
    own.some(
      each =>
        each.name === name &&
        each.args.length === args.length &&
        each.args.every((arg, i) => arg === null || arg === args[i]),
    )
}

/** Signs (true: as it stands) under which such atoms occur in a formula; both inside xor and iff, none below a quantifier. */
const signsOf = (formula: Formula, isAbout: IsAbout, sign = true): Set<boolean> => {
  switch (formula.kind) {
    case 'atom':
      return new Set(isAbout(formula) ? [sign] : [])
    case 'not':
      return signsOf(formula.body, isAbout, !sign)
    case 'and':
    case 'or':
      return new Set([...signsOf(formula.left, isAbout, sign), ...signsOf(formula.right, isAbout, sign)])
    case 'implies':
      return new Set([...signsOf(formula.left, isAbout, !sign), ...signsOf(formula.right, isAbout, sign)])
    case 'xor':
    case 'iff': {
      const occurs = [formula.left, formula.right].some(side => signsOf(side, isAbout).size > 0)
      return new Set(occurs ? [true, false] : [])
    }
    default:
      return new Set()
  }
}

/** The formula with such atoms outside quantifiers replaced by truth or falsehood. */
const withAtomsAs = (formula: Formula, isAbout: IsAbout, value: 'true' | 'false'): Formula => {
  switch (formula.kind) {
    case 'atom':
      return isAbout(formula) ? { kind: value } : formula
    case 'not':
      return not(withAtomsAs(formula.body, isAbout, value))
    case 'and':
    case 'or':
    case 'implies':
    case 'xor':
    case 'iff':
      return binary(
        formula.kind,
        withAtomsAs(formula.left, isAbout, value),
        withAtomsAs(formula.right, isAbout, value),
      )
    default:
      return formula
  }
}

/**
 * The direction that a statement speaks to: true for the conclusion's atoms, false for their negations. Null when it says
 * nothing of their own, both at once, or what the premises entail without them (a tautology, a disjunct that is no news).
 */
const directionOf = async (
  context: ProblemContext,
  formula: Formula,
  isAbout: IsAbout,
  solver: LogicSolver,
) => {
  const [sign, ...others] = signsOf(formula, isAbout)
  if (sign === undefined || others.length > 0) return null
  const without = withAtomsAs(formula, isAbout, sign ? 'false' : 'true')
  return (await follows(context, context.problem.premisesFol, without, solver)) ? null : sign
}

/** For Unknown: how many of the two directions, the conclusion and its negation, some step speaks to. 0, .5 or 1. */
const directionsAddressed = async (
  context: ProblemContext,
  conclusion: Formula,
  steps: readonly JudgedStep[],
  solver: LogicSolver,
): Promise<number> => {
  const isAbout = aboutConclusion(conclusion)
  const found = new Set<boolean>()
  for (const { formula } of steps) {
    const direction = formula && (await directionOf(context, formula, isAbout, solver))
    if (direction !== null) found.add(direction)
  }
  return found.size / 2
}

/**
 * C5, on supported steps alone: premises, and what follows from supported steps before it and the premises referred to. What
 * is asserted over the heads of others counts for nothing, the answer's own statement too. 1 when they, with these premises,
 * entail the answer; else the share of the reference proof that they state. Without a reference proof: the share of a minimal
 * proof's premises that they cite, the answer that they lack counted with these. For Unknown: 1 when they settle the question
 * or address both directions; else the share of the reference proof, which applies every rule there is, or of the directions.
 * Null where the conclusion has no formula.
 */
export const completeness = async (
  context: ProblemContext,
  steps: readonly JudgedStep[],
  solver: LogicSolver,
): Promise<number | null> => {
  const { problem } = context
  if (problem.conclusionFol === null) return null
  const supported = await supportedSteps(context, steps, solver, 'void')
  const standing = steps.filter((_, index) => supported[index])
  const reached = proofReached(context, standing)
  const claim = claimOf(problem)
  if (claim === null) {
    if (await settles(context, standing, solver)) return 1
    return Math.max(reached ?? 0, await directionsAddressed(context, problem.conclusionFol, standing, solver))
  }
  // A leap's own statement is void, but the premises that it refers to are given.
  const cited = citedPremises(
    steps.filter(step => step.entailed),
    problem.premisesFol.length,
  )
  if (await establish(context, standing, cited, claim, solver)) return 1
  if (reached !== null) return reached
  const support = await supportOf(context, solver)
  if (!support) return 0
  return support.filter(index => cited.has(index)).length / (support.length + 1)
}

/** Whether supported steps and the premises cited bring about the claim: one of them states it, or all together entail it. */
const establish = async (
  context: ProblemContext,
  supported: readonly JudgedStep[],
  cited: ReadonlySet<number>,
  claim: Formula,
  solver: LogicSolver,
): Promise<boolean> => {
  const key = formulaKey(claim)
  if (supported.some(step => step.key === key)) return true
  const premises = [...cited].map(index => context.problem.premisesFol[index])
  const derived = supported.flatMap(({ formula, premise }) => (premise === null && formula ? [formula] : []))
  return (premises.length > 0 || derived.length > 0) && entails([...premises, ...derived], claim, solver)
}

/**
 * Whether the steps bring the question to its end. True and False: the last step is the conclusion or its negation.
 * Unknown: every ground statement of the reference proof is stated; without a reference proof, both directions addressed.
 * Null where the conclusion has no formula: what the last line says of it cannot be told.
 */
export const settles = async (
  context: ProblemContext,
  steps: readonly JudgedStep[],
  solver: LogicSolver,
): Promise<boolean | null> => {
  const { conclusionFol } = context.problem
  if (conclusionFol === null) return null
  const last = steps.at(-1)
  if (!last) return false
  if (context.problem.label !== 'Unknown')
    return last.key === context.conclusionKey || last.key === context.denialKey
  const derived = context.proofNodes.filter(node => node.kind === 'atom' || negate(node).kind === 'atom')
  if (derived.length === 0) return (await directionsAddressed(context, conclusionFol, steps, solver)) === 1
  const stated = new Set(steps.map(step => step.key))
  return derived.every(node => stated.has(formulaKey(node)))
}
