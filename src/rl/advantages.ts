/** @file Advantages: what each rollout of a group was worth compared with the others. Pure functions over rewards. */

import { mean, std } from '../util/descriptive.ts'
import { NumericError } from '../util/errors.ts'

/** Rewards or advantages by problem and sample; groups may differ in size. */
export type ByGroup = readonly (readonly number[])[]

export interface Advantages {
  /** [problem][sample] */
  advantages_P_G: number[][]
  groups: number
  /** Groups of one: nothing to compare with, advantage 0. */
  singletonGroups: number
  /** Groups of two or more with equal rewards: no gradient. */
  zeroVarianceGroups: number
  /** Groups of which nothing is known: neither equal nor different. */
  emptyGroups: number
  /** Share of groups that carry a gradient (`real_batch_ratio`). */
  realBatchRatio: number
}

export interface GrpoOptions {
  /** Convention of the standard deviation: 0 population (default), 1 sample (verl, TRL). */
  ddof?: 0 | 1
  /** Added to the standard deviation. Default 1e-6 (verl); TRL uses 1e-4, DR Tulu 1e-8. */
  epsilon?: number
  /** What the centred reward is divided by: the group's std (default), the whole batch's (TRL `batch`), or nothing. */
  scale?: 'group' | 'batch' | 'none'
}

/** Below this range a group counts as having no variance. */
export const MIN_RANGE = 1e-12

/**
 * Throws on the first reward that is NaN or infinite: training on it would be silent nonsense.
 * @throws NumericError naming group and index.
 */
export const checkRewards = (rewards_P_G: ByGroup): void => {
  for (const [group, rewards] of rewards_P_G.entries())
    for (const [index, reward] of rewards.entries())
      if (!Number.isFinite(reward))
        throw new NumericError(
          `rewards: group ${group}, index ${index}: expected a finite number, got ${reward}; check the grader that made it`,
        )
}

/** Whether values count as equal: no two of them lie `MIN_RANGE` apart. */
export const hasNoRange = (values: readonly number[]): boolean => {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return !(high - low >= MIN_RANGE)
}

/** Applies `rule` to each group that has something to compare; the others get zeros and are counted. */
const perGroup = (rewards_P_G: ByGroup, rule: (rewards: readonly number[]) => number[]): Advantages => {
  checkRewards(rewards_P_G)
  let singletonGroups = 0
  let zeroVarianceGroups = 0
  let emptyGroups = 0
  const advantages_P_G = rewards_P_G.map(rewards => {
    if (rewards.length > 1 && !hasNoRange(rewards)) return rule(rewards)
    if (rewards.length === 0) emptyGroups++
    else if (rewards.length === 1) singletonGroups++
    else zeroVarianceGroups++
    return rewards.map(() => 0)
  })
  const groups = rewards_P_G.length
  const real = groups - singletonGroups - zeroVarianceGroups - emptyGroups
  return {
    advantages_P_G,
    groups,
    singletonGroups,
    zeroVarianceGroups,
    emptyGroups,
    realBatchRatio: groups > 0 ? real / groups : 0,
  }
}

const centre = (values: readonly number[]): number[] => {
  const average = mean(values)
  return values.map(value => value - average)
}

const standardise = (values: readonly number[], ddof: 0 | 1, epsilon: number): number[] => {
  const scale = std(values, ddof) + epsilon
  return centre(values).map(value => value / scale)
}

/**
 * Group-relative advantages: (r - mean) / (std + epsilon) within each group (GRPO, DeepSeekMath arXiv 2402.03300 Eq. 3).
 * Equal rewards and groups of one give zeros and are counted.
 * @throws NumericError for a reward that is not finite.
 * @example
 * grpoAdvantages([[1, 0, 0, 1]]).advantages_P_G // [ [ 1, -1, -1, 1 ] ]
 */
export const grpoAdvantages = (
  rewards_P_G: ByGroup,
  { ddof = 0, epsilon = 1e-6, scale = 'group' }: GrpoOptions = {},
): Advantages => {
  if (scale === 'group') return perGroup(rewards_P_G, rewards => standardise(rewards, ddof, epsilon))
  const divisor = scale === 'none' ? 1 : std(rewards_P_G.flat(), ddof) + epsilon
  return perGroup(rewards_P_G, rewards => centre(rewards).map(value => value / divisor))
}

/**
 * Advantages among what is known: items that are null (nobody could judge them) have no part in their group's statistics, and
 * advantage 0.
 */
export const amongKnown = <Item>(
  items_P_G: readonly (readonly (Item | null)[])[],
  rule: (known_P_G: Item[][]) => Advantages,
): Advantages => {
  const known_P_G = items_P_G.map(group => group.filter(item => item !== null))
  const { advantages_P_G, ...counts } = rule(known_P_G)
  const spread = (group: readonly (Item | null)[], p: number) => {
    const own = advantages_P_G[p].values()
    return group.map(item => (item === null ? 0 : own.next().value!))
  }
  return { ...counts, advantages_P_G: items_P_G.map(spread) }
}

/**
 * Dr. GRPO: r - mean, without division (arXiv 2503.20783; verl `norm_adv_by_std_in_grpo=False`).
 * @example
 * drGrpoAdvantages([[1, 0, 0, 1]]).advantages_P_G // [ [ 0.5, -0.5, -0.5, 0.5 ] ]
 */
export const drGrpoAdvantages = (rewards_P_G: ByGroup): Advantages =>
  grpoAdvantages(rewards_P_G, { scale: 'none' })

/**
 * RLOO: r minus the mean of the others in the group (arXiv 2402.14740).
 * @example
 * rlooAdvantages([[1, 0, 0]]).advantages_P_G // [ [ 1, -0.5, -0.5 ] ]
 */
export const rlooAdvantages = (rewards_P_G: ByGroup): Advantages =>
  perGroup(rewards_P_G, rewards =>
    centre(rewards).map(value => (value * rewards.length) / (rewards.length - 1)),
  )

/**
 * MaxRL: (r - mean) / (mean + epsilon), which weights hard problems up (SkyRL `maxrl`). Meant for rewards >= 0.
 * @example
 * maxRlAdvantages([[1, 0, 0, 0]]).advantages_P_G // [ [ 3, -1, -1, -1 ] ]
 */
export const maxRlAdvantages = (rewards_P_G: ByGroup, epsilon = 1e-6): Advantages =>
  perGroup(rewards_P_G, rewards => {
    const scale = mean(rewards) + epsilon
    return centre(rewards).map(value => value / scale)
  })

/**
 * Standardises over all rollouts of the batch and ignores groups: (r - mean_B) / (std_B + epsilon). For rewards or for
 * advantages that were already centred (REINFORCE++, arXiv 2501.03262). A batch without variance gives zeros.
 */
export const batchNormalised = (
  values_P_G: ByGroup,
  { ddof = 0, epsilon = 1e-6 }: Pick<GrpoOptions, 'ddof' | 'epsilon'> = {},
): number[][] => {
  checkRewards(values_P_G)
  const all = values_P_G.flat()
  if (hasNoRange(all)) return values_P_G.map(values => values.map(() => 0))
  const average = mean(all)
  const scale = std(all, ddof) + epsilon
  return values_P_G.map(values => values.map(value => (value - average) / scale))
}

/** Raw criterion scores of one rollout, before weights; null where the grader gave none. */
export type CriterionScores = Readonly<Record<string, number | null>>

/** Weight by criterion, of all groups or of each by its place; criteria that are not named do not count. */
export type CriterionWeights =
  | Readonly<Record<string, number>>
  | ((group: number) => Readonly<Record<string, number>>)

export interface RubricNormOptions {
  ddof?: 0 | 1
  epsilon?: number
  /** Give the weight of criteria without variance in a group to the others. Default false (Rubric as Reward section 2.4). */
  redistribute?: boolean
}

/**
 * Per-criterion normalisation before mixing, `rubric_norm`: sum over criteria of w_k (s_k - mean s_k) / (std s_k + e)
 * within the group, then standardised over the batch (Rubric as Reward section 2.4; GDPO, arXiv 2601.05242). A criterion without variance
 * contributes 0, as does a missing score; the other scores of the group carry that criterion's statistics.
 * @param scores_P_G raw scores by criterion [problem][sample]
 * @throws NumericError for a score that is not finite.
 */
export const rubricNormAdvantages = (
  scores_P_G: readonly (readonly CriterionScores[])[],
  weights: CriterionWeights,
  { ddof = 0, epsilon = 1e-6, redistribute = false }: RubricNormOptions = {},
): Advantages => {
  const weightsOf = typeof weights === 'function' ? weights : () => weights
  const mixed_P_G = scores_P_G.map((scores, group) =>
    mixGroup(scores, group, Object.entries(weightsOf(group)), { ddof, epsilon, redistribute }),
  )
  const counts = perGroup(mixed_P_G, mixed => [...mixed])
  const normalised_P_G = batchNormalised(mixed_P_G, { ddof, epsilon })
  // The batch mean is zero up to rounding: groups without a signal stay exactly zero.
  const advantages_P_G = normalised_P_G.map((values, p) =>
    hasNoRange(mixed_P_G[p]) ? values.map(() => 0) : values,
  )
  return { ...counts, advantages_P_G }
}

const mixGroup = (
  scores: readonly CriterionScores[],
  group: number,
  weights: readonly (readonly [string, number])[],
  { ddof, epsilon, redistribute }: Required<RubricNormOptions>,
): number[] => {
  const mixed = scores.map(() => 0)
  let liveWeight = 0
  let allWeight = 0
  for (const [criterion, weight] of weights) {
    allWeight += weight
    const present = scores.flatMap((parts, index) => {
      const score = parts[criterion]
      if (score === undefined || score === null) return []
      if (!Number.isFinite(score))
        throw new NumericError(
          `rewards: group ${group}, index ${index}, criterion ${criterion}: expected a finite number, got ${score}; check the grader that made it`,
        )
      return [{ index, score }]
    })
    const values = present.map(({ score }) => score)
    if (values.length < 2 || hasNoRange(values)) continue
    liveWeight += weight
    for (const [i, z] of standardise(values, ddof, epsilon).entries()) mixed[present[i].index] += weight * z
  }
  const factor = redistribute && liveWeight > 0 ? allWeight / liveWeight : 1
  return mixed.map(value => value * factor)
}

/**
 * Advantages of single steps: the values of all steps of all rollouts of a group are standardised together, so that a
 * step is compared with its rival steps, and a rollout with more steps does not count for more in the centre than its
 * steps do. Pair with `stepwiseCredit`.
 * @param values_P_G_S value of each step, for example its verdict's credit [problem][sample][step]
 * @returns [problem][sample][step]; zeros where a group's steps do not differ
 */
export const stepAdvantages = (
  values_P_G_S: readonly (readonly (readonly number[])[])[],
  options: GrpoOptions = {},
): number[][][] => {
  const pooled = grpoAdvantages(
    values_P_G_S.map(rollouts => rollouts.flat()),
    options,
  ).advantages_P_G
  return values_P_G_S.map((rollouts, problem) => {
    let next = 0
    return rollouts.map(steps => steps.map(() => pooled[problem][next++]))
  })
}

/**
 * REINFORCE++ returns: discounted sums from the right that start afresh after a masked token (arXiv 2501.03262; SkyRL
 * a9564572e `reinforce++`). Token arrays of one sequence.
 */
export const reinforcePlusPlusReturns = (
  rewards: ArrayLike<number>,
  mask: ArrayLike<number>,
  gamma = 1,
): Float64Array => {
  const returns = new Float64Array(rewards.length)
  let running = 0
  for (let t = rewards.length - 1; t >= 0; t--) {
    running = rewards[t] + gamma * running
    returns[t] = running
    running *= mask[t]
  }
  return returns
}

/** Named conventions, so that a run says whose advantage it used. */
export const ADVANTAGE_PRESETS = {
  gradus: { ddof: 0, epsilon: 1e-6, scale: 'group' },
  'trl:grpo': { ddof: 1, epsilon: 1e-4, scale: 'group' },
  'trl:batch': { ddof: 1, epsilon: 1e-4, scale: 'batch' },
  'verl:grpo': { ddof: 1, epsilon: 1e-6, scale: 'group' },
  'dr-tulu': { ddof: 0, epsilon: 1e-8, scale: 'group' },
  dr_grpo: { ddof: 0, epsilon: 0, scale: 'none' },
} as const satisfies Record<string, Required<GrpoOptions>>

export type AdvantagePreset = keyof typeof ADVANTAGE_PRESETS
