/** @file What a recipe is: a method as a reader of its paper knows it, step by step. */

import type { LossSpec } from '../rl/loss.ts'
import type { Credited, GroupedDatum, Groups } from '../rl/rollout.ts'
import type { EvalRow, MetricGroup, MetricsRow, RolloutRow, RubricRow } from '../runs/rows.ts'
import type { StepIo } from './rollout.ts'

export interface Recipe<Rolled> {
  /**
   * The step's rollouts, graded; asks for them as often as it likes: reasoners, then rubricators about them. What it draws
   * depends on seed, step and `state` alone, so that a resumed run sees the same. It reads `state` before it first awaits
   * anything, and never changes it: with `pipeline` the step before, or two, have not been learnt from when it begins.
   */
  rollOut(step: number, io: StepIo): Promise<Rolled>
  /** Rewards, advantages, and what is to be done with them. */
  learn(step: number, rolled: Rolled): Promise<StepUpdate>
  /** Evaluations of the policy as it is; `last` after the final step. */
  evaluate(step: number, last: boolean): Promise<EvalRow[]>
  /** What a person should know of the whole run once its last step is done, in a line each. */
  atEnd?(metrics: readonly MetricsRow[]): string[]
  /** What lives across steps, as JSON: banks, buffers, what was put off. It goes into every checkpoint. */
  state?: RecipeState
}

export interface RecipeState {
  /** Lists, plain objects, texts and finite numbers: what JSON does not keep is refused. It is copied at once. */
  save(): unknown
  load(value: unknown): void
}

/** Datums that are learnt together, with optimiser steps of their own. */
export interface Phase {
  name: string
  datums: readonly GroupedDatum[]
  loss: LossSpec
  /** That logits are divided by, the one of sampling. */
  temperature: number
  /**
   * Its rollouts were sampled by another policy than that of this step, on purpose: batches that were put off. What tells
   * sampler from trainer leaves it out.
   */
  stale?: boolean
  /** Compare the direction of its gradient with those of the phases before it that say so: the row's `gradientCosines`. */
  compared?: boolean
  /** Optimiser steps a pass. Default 1. */
  minibatches?: number
  /** Passes over the datums. Default 1. */
  epochs?: number
}

/** What a step teaches, and what is told of it. */
export interface StepUpdate {
  /** In order. A phase without datums takes no optimiser step. */
  phases: readonly Phase[]
  /** Its `time` is added to the loop's own. */
  metrics: Omit<MetricsRow, 'step'>
  /** What was learnt from. */
  rollouts: readonly LearntRollout[]
  /** What became of rubrics that evolve, for rubrics.jsonl. */
  rubrics?: readonly RubricRow[]
  /** What a grader that training does not hear says of them; waited for while the update goes on. */
  heldOut?: Promise<HeldOut>
}

/** A rollout with what it was taught, and how the run keeps it. */
export type LearntRollout = Pick<Credited<unknown, unknown>, 'rollout' | 'reward' | 'advantages'> & {
  row(): RolloutRow
}

export interface HeldOut {
  /** One a rollout of the update; null where it says nothing. Null for a step that it was not asked about. */
  scores: readonly (number | null)[] | null
  /** What that took, where it costs: for the row's `time`. */
  time?: MetricGroup
}

/**
 * Rollouts as an update lists them.
 * @example
 * const groups = [[{ reward: 1, id: 'sum', prompt: '3 + 4', response: '7' }]]
 * const [learnt] = learntFrom(groups, ({ id, ...item }) => ({ step: 1, problemId: id, ...item }))
 * learnt.reward // 1
 * learnt.row() // { step: 1, problemId: 'sum', reward: 1, prompt: '3 + 4', response: '7' }
 */
export const learntFrom = <Item>(
  groups: Groups<Item>,
  rowOf: (item: Item) => RolloutRow,
): (Item & Pick<LearntRollout, 'row'>)[] => groups.flat().map(item => ({ ...item, row: () => rowOf(item) }))
