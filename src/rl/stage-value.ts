/** @file What it is worth to know the stage (RubricEM, Theorems 1 and 2): values of policies on tables, exactly. */

import { ShapeError } from '../util/errors.ts'

/** A context that several stages share: how often it comes, how likely each stage is there, what each action is worth in each. */
export interface AliasedContext {
  /** P(c). */
  weight: number
  /** P(z | c) by stage. */
  p_Z: readonly number[]
  /** Value of each action, by stage: [stage][action]. */
  q_Z_A: readonly (readonly number[])[]
}

const checkContext = ({ p_Z, q_Z_A }: AliasedContext): number => {
  const actions = q_Z_A[0]?.length ?? 0
  if (p_Z.length !== q_Z_A.length || actions === 0 || q_Z_A.some(row => row.length !== actions))
    throw new ShapeError(
      `aliased context: expected values of the same actions for each of ${p_Z.length} stages, got rows of ${q_Z_A.map(row => row.length).join(', ') || 'none'}`,
    )
  return actions
}

const sumOver = <Item>(items: readonly Item[], value: (item: Item, index: number) => number): number =>
  items.reduce((sum, item, index) => sum + value(item, index), 0)

/** Value of the best policy that sees the stage: E[sum over z of p(z | c) max over a of q(c, z, a)]. @throws ShapeError */
export const stageValue = (contexts: readonly AliasedContext[]): number =>
  sumOver(contexts, context => {
    checkContext(context)
    return context.weight * sumOver(context.p_Z, (p, z) => p * Math.max(...context.q_Z_A[z]))
  })

/** Value of the best policy that does not: E[max over a of sum over z of p(z | c) q(c, z, a)]. @throws ShapeError */
export const flatValue = (contexts: readonly AliasedContext[]): number =>
  sumOver(contexts, context => {
    const actions = Array.from({ length: checkContext(context) }, (_, a) => a)
    return (
      context.weight * Math.max(...actions.map(a => sumOver(context.p_Z, (p, z) => p * context.q_Z_A[z][a])))
    )
  })

/** What a single action loses in a context against the best one of each stage; nothing where it is best in all of them. */
const regret = ({ p_Z, q_Z_A }: AliasedContext, a: number): number =>
  sumOver(p_Z, (p, z) => p * (Math.max(...q_Z_A[z]) - q_Z_A[z][a]))

/**
 * What not seeing the stage costs: `stageValue - flatValue`, as the least regret of a single action in each context. Written as
 * a sum of losses none of which is below zero, so that it is exactly zero just where a common maximiser exists.
 * @throws ShapeError
 */
export const aliasingGap = (contexts: readonly AliasedContext[]): number =>
  sumOver(contexts, context => {
    const actions = Array.from({ length: checkContext(context) }, (_, a) => a)
    return context.weight * Math.min(...actions.map(a => regret(context, a)))
  })

/** Whether one action is best in every stage that can be met in the context (Theorem 2). @throws ShapeError */
export const hasCommonMaximiser = (context: AliasedContext): boolean => {
  const actions = Array.from({ length: checkContext(context) }, (_, a) => a)
  return actions.some(a =>
    context.q_Z_A.every((row, z) => context.p_Z[z] === 0 || row[a] === Math.max(...row)),
  )
}
