/** @file What a policy did once, what it was worth, and what it is taught: everything later hangs on these. */

import { mean } from '../util/descriptive.ts'
import { ShapeError } from '../util/errors.ts'
import {
  type Advantages,
  amongKnown,
  type CriterionScores,
  type CriterionWeights,
  grpoAdvantages,
  type RubricNormOptions,
  rubricNormAdvantages,
} from './advantages.ts'
import { type CriticOptions, criticCredit } from './critic.ts'
import { broadcastAdvantage, type Datum, type TokenIds, type TokenSpan } from './datum.ts'

/**
 * How a rollout ended: the policy stopped, or ran out of tokens; the environment had it stop (`over`), or its turns were used
 * up; something outside failed.
 */
export type RolloutEnd = 'stop' | 'length' | 'over' | 'turns' | 'failed'

/** One sampled response, of one turn or of several with what an environment said between them. */
export interface Rollout {
  /** Names it in its run: seed, step, role, problem, sample. Random streams, grades and the journal go by this. */
  key: string
  /** Who acted: `policy`, or one of several roles that a policy plays. */
  role: string
  /** Relative to what its advantage is: the rollouts of one problem. */
  group: string
  /** Which sample of its group, from 0. */
  sample: number
  /** The prompt that it is trained on. */
  prompt: TokenIds
  /** What it was shown in place of that: a scaffold, a memory. */
  sampledFrom?: TokenIds
  /** The response, an environment's words included. */
  tokens: Int32Array
  /** One a token: 1 where the policy wrote, 0 where the environment did. */
  mask: Uint8Array
  /** Of sampling, one a token; 0 where the environment wrote. */
  logprobs: Float32Array
  /** What ratios start from, one a token, where that is not `logprobs`. */
  oldLogprobs?: Float32Array
  /** The policy's turns, in order. */
  turns: readonly TokenSpan[]
  end: RolloutEnd
  /** Optimiser steps that the weights had taken which drew it, the oldest of its turns; where the policy says so. */
  version?: number
  /** Why it failed. */
  failure?: string
}

/** What a rollout is worth. */
export interface Reward {
  /** Null where nothing is known of it: a grader that failed is not a zero. */
  reward: number | null
  /** What the reward was made of, raw, before any weight, by name. */
  parts: Readonly<Record<string, number | null>>
}

/** A rollout with what it answered, what its graders said, and its reward. */
export interface Graded<Problem, Grade> extends Reward {
  problem: Problem
  rollout: Rollout
  grade: Grade
}

/** A graded rollout with what it is taught. */
export interface Credited<Problem, Grade> extends Graded<Problem, Grade> {
  /** One a token; 0 where the environment wrote. */
  advantages: Float32Array
  /** A critic's targets and what it said before the update, one a token. */
  returns?: Float32Array
  oldValues?: Float32Array
}

/** What a datum is made of. */
export interface Taught extends Pick<Credited<unknown, unknown>, 'advantages' | 'returns' | 'oldValues'> {
  rollout: Omit<Rollout, 'role' | 'sample' | 'turns' | 'end'>
}

/** Rollouts by problem and sample. */
export type Groups<Item> = readonly (readonly Item[])[]

/** Rewards by problem and sample; null where nothing is known. */
export const rewardsOf = (groups: Groups<Reward>): (number | null)[][] =>
  groups.map(group => group.map(({ reward }) => reward))

/**
 * Advantages by rewards, relative to the group unless the rule says otherwise (GRPO). Rollouts whose reward is not known have
 * no part in it, and advantage 0.
 * @throws NumericError for a reward that is not finite
 * @example
 * const groups = [[{ reward: 1, parts: {} }, { reward: null, parts: {} }, { reward: 0, parts: {} }]]
 * advantagesOf(groups).advantages_P_G // [ [ 1, 0, -1 ] ]
 * advantagesOf(groups, drGrpoAdvantages).advantages_P_G // [ [ 0.5, 0, -0.5 ] ]
 */
export const advantagesOf = (
  groups: Groups<Reward>,
  rule: (rewards_P_G: number[][]) => Advantages = grpoAdvantages,
): Advantages => amongKnown(rewardsOf(groups), rule)

/**
 * The same with each part of the rewards normalised in its group before they are mixed (`rubricNormAdvantages`).
 * @param partsOf null where nothing is known of a rollout; absent: the parts of its reward
 */
export const partAdvantagesOf = <Item extends Reward>(
  groups: Groups<Item>,
  weights: CriterionWeights,
  options: RubricNormOptions,
  partsOf: (item: Item) => CriterionScores | null = ({ reward, parts }) => (reward === null ? null : parts),
): Advantages =>
  amongKnown(
    groups.map(group => group.map(partsOf)),
    known => rubricNormAdvantages(known, weights, options),
  )

/**
 * The same advantage on every token that the policy wrote, one advantage a rollout.
 * @throws NumericError
 * @example
 * const groups = [[{ reward: 1, parts: {}, rollout: { mask: [1, 0, 1] } }, { reward: 0, parts: {}, rollout: { mask: [1] } }]]
 * const [credited] = creditRollouts(groups, advantagesOf(groups).advantages_P_G)
 * credited.map(({ advantages }) => advantages) // [ [ 1, 0, 1 ], [ -1 ] ]
 */
export const creditRollouts = <Item extends { rollout: { mask: ArrayLike<number> } }>(
  groups: Groups<Item>,
  advantages_P_G: readonly (readonly number[])[],
): (Item & { advantages: Float32Array })[][] =>
  groups.map((group, p) =>
    group.map((item, g) => ({
      ...item,
      advantages: broadcastAdvantage(advantages_P_G[p][g], item.rollout.mask),
    })),
  )

/**
 * Credit by a critic's estimates: GAE over the tokens that the policy wrote, whitened role by role. Rollouts that nothing is
 * known of are left out: they have nothing to teach the policy, and no target for the critic.
 * @param values_P_G the critic's estimate before each token: [problem][sample]
 * @throws what `criticCredit` throws
 */
export const creditByCritic = <Problem, Grade>(
  groups: Groups<Graded<Problem, Grade>>,
  values_P_G: readonly (readonly ArrayLike<number>[])[],
  options: CriticOptions = {},
): Credited<Problem, Grade>[][] => {
  const known = groups.map((group, p) =>
    group.flatMap((item, g) => (item.reward === null ? [] : [{ item, values: values_P_G[p][g] }])),
  )
  const credits = criticCredit(
    known.flat().map(({ item: { rollout, reward }, values }) => {
      const { role, mask } = rollout
      return { role, mask, values, reward: reward! }
    }),
    options,
  ).values()
  return known.map(group => group.map(({ item }) => ({ ...item, ...credits.next().value! })))
}

/** Tokens of a rollout that the policy wrote. */
export const writtenTokens = ({ mask }: Pick<Rollout, 'mask'>): number => mask.reduce((sum, m) => sum + m, 0)

/** Mean advantage of the tokens that the policy wrote; 0 where it wrote none. */
export const meanAdvantage = (item: Pick<Credited<unknown, unknown>, 'rollout' | 'advantages'>): number => {
  const { advantages } = item
  const { mask } = item.rollout
  const own = mask.every(m => m === 1) ? advantages : advantages.filter((_, t) => mask[t] === 1)
  return own.length > 0 ? mean(own) : 0
}

/**
 * What the ratio of a rollout compares when it was sampled from another prompt (a scaffold) than the plain one (RuscaRL
 * appendix C.5):
 * - `plain`: pi(o | plain) / pi_old(o | plain), the published choice; no true importance correction
 * - `true-is`: pi(o | plain) / pi_old(o | sampled)
 * - `sampled`: pi(o | sampled) / pi_old(o | sampled): the policy is trained on the prompt that it saw
 */
export type RatioMode = 'plain' | 'true-is' | 'sampled'

/** The prompt that a rollout is trained on. */
export const trainingPrompt = (rollout: Taught['rollout'], ratio: RatioMode = 'plain'): TokenIds =>
  ratio === 'sampled' ? (rollout.sampledFrom ?? rollout.prompt) : rollout.prompt

/** A rollout's datum with the group that it belongs to. */
export interface GroupedDatum {
  datum: Datum
  group: string
}

export interface DatumOptions {
  /**
   * Leave out rollouts whose advantages are all zero: they have no policy gradient, but they would have a part in KL and
   * entropy terms, and in means over tokens.
   */
  dropZero?: boolean
  /** Which prompt rollouts are trained on that were sampled from a scaffold. Default `plain`. */
  ratio?: RatioMode
}

/**
 * One datum a rollout, in their order.
 * @throws ShapeError for advantages of another length than the tokens
 * @example
 * const drawn = { tokens: Int32Array.of(5, 6), mask: Uint8Array.of(1, 0), logprobs: Float32Array.of(-0.5, 0) }
 * const rollout = { key: 'q/0', group: 'q', prompt: [1, 2], ...drawn }
 * const [{ datum }] = datumsOf([[{ rollout, advantages: Float32Array.of(1, 0) }]])
 * datum.oldLogprobs // [ -0.5, 0 ]
 * datumsOf([[{ rollout, advantages: Float32Array.of(0, 0) }]], { dropZero: true }) // []
 */
export const datumsOf = (
  groups: Groups<Taught>,
  { dropZero = false, ratio = 'plain' }: DatumOptions = {},
): GroupedDatum[] =>
  groups.flat().flatMap(({ rollout, advantages, returns, oldValues }) => {
    const { key, group, tokens, mask, logprobs, oldLogprobs = logprobs } = rollout
    const { length } = tokens
    if (advantages.length !== length)
      throw new ShapeError(`${key}: expected ${length} advantages, one a token, got ${advantages.length}`)
    if (dropZero && advantages.every(a => a === 0)) return []
    const datum: Datum = {
      promptTokens: trainingPrompt(rollout, ratio),
      ...{ tokens, mask: Float32Array.from(mask), oldLogprobs, advantages },
      ...(returns && { returns }),
      ...(oldValues && { oldValues }),
    }
    return [{ datum, group }]
  })
