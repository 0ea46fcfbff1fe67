/** @file From verdicts to rewards and advantages: each condition of the paper is a rubric, its points the weights. Pure functions. */

import { LOGIC_CRITERIA, LOGIC_RUBRIC, type LogicCriterion } from '../../grade/logic/rubric.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { withoutCriteria } from '../../rubric/dropout.ts'
import { weightedScore } from '../../rubric/linear.ts'
import type { RunInfo } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { LogicVerdicts } from '../../tasks/logic/task.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import type { Item, Task } from '../../tasks/task.ts'
import { threeDigits } from '../../util/format.ts'
import { asTrained, type OptionSettings } from '../options/options.ts'
import type { Condition, RubricAsRewardConfig } from './config.ts'

export type LogicWeights = Readonly<Partial<Record<LogicCriterion, number>>>

/** Weights of the rubric (paper, Table 1). */
const RUBRIC_WEIGHTS = Object.fromEntries(
  LOGIC_RUBRIC.criteria.map(({ id, points }) => [id, points]),
) as Readonly<Record<LogicCriterion, number>>

/** The composite is scaled to [0, 3] (paper, section 2.2). GRPO does not see the scale; metrics and plots do. */
const REWARD_SCALE = 3

const renormalised = (ids: readonly LogicCriterion[]): LogicWeights => {
  const total = ids.reduce((sum, id) => sum + RUBRIC_WEIGHTS[id], 0)
  return Object.fromEntries(ids.map(id => [id, RUBRIC_WEIGHTS[id] / total]))
}

/** Criterion weights of a condition; none where the reward is not a weighted sum. */
export const conditionWeights = (condition: Condition): LogicWeights => {
  switch (condition) {
    case 'outcome':
      return renormalised(['C1', 'C3'])
    case 'z3':
    case 'flat_equal':
      return { C1: 1 / 3, C2: 1 / 3, C3: 1 / 3 }
    case 'rubric':
    case 'flat_same':
    case 'rubric_norm':
      return renormalised(['C1', 'C2', 'C3'])
    case 'hybrid':
      return RUBRIC_WEIGHTS
    case 'baseline':
    case 'proof':
      return {}
  }
}

/** The part of the logic rubric that a configuration weighs, each criterion worth its weight. */
export const weighedRubric = ({
  condition,
  weights,
}: Pick<RubricAsRewardConfig, 'condition' | 'weights'>): Rubric => {
  const own: Readonly<Record<string, number>> = weights ?? conditionWeights(condition)
  return {
    criteria: LOGIC_RUBRIC.criteria.flatMap(criterion =>
      (own[criterion.id] ?? 0) > 0 ? [{ ...criterion, points: own[criterion.id] }] : [],
    ),
  }
}

const total = ({ criteria }: Rubric): number => criteria.reduce((sum, { points }) => sum + points, 0)

/** What is left of a rubric whose other criteria are left out: it makes up for them, so that the sum of the points stays. */
const madeUp = (left: Rubric, whole: Rubric): Rubric => {
  const factor = total(whole) / total(left)
  return { criteria: left.criteria.map(criterion => ({ ...criterion, points: criterion.points * factor })) }
}

/** The weights that a rubric's criteria have when some of them are left out. */
export const weightsWithout = (
  rubric: Rubric,
  ids: ReadonlySet<string> = new Set(),
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    madeUp(withoutCriteria(rubric, ids), rubric).criteria.map(({ id, points }) => [id, points]),
  )

/** All or nothing; nothing is known where the conclusion has no formula. */
const proofReward = ({ score, proved }: LogicVerdicts): number | null =>
  score === null || proved === null ? null : REWARD_SCALE * Number(proved)

/**
 * The task with the rewards of a condition: R = 3 sum_k w_k s_k (paper, section 2.2) over what of its rubric is counted, or under
 * `proof` 3 or 0; null where nothing can be said of the response.
 */
export const rewardedTask = <Said extends LogicVerdicts>(
  task: Task<LogicTaskExample, Said>,
  config: Pick<RubricAsRewardConfig, 'condition'> & OptionSettings,
  rubric: Rubric,
): ScoredTask<LogicTaskExample, Said> => {
  const byProof = async (items: readonly Item<LogicTaskExample>[]) =>
    (await task.grade(items)).map(own => ({ ...own, score: proofReward(own) }))
  return asTrained(config, config.condition === 'proof' ? { ...task, grade: byProof } : task, {
    rubricOf: () => rubric,
    rule: (counted, verdicts) =>
      weightedScore(madeUp(counted, rubric), verdicts, { scale: REWARD_SCALE }).score,
  }).reward
}

const ABOUT = Object.fromEntries(LOGIC_RUBRIC.criteria.map(({ id, text }) => [id, text]))

const PROOF = 'The reward is 3 for a right answer whose every step is proved, else 0: condition proof.'
const BASELINE = 'Nothing is rewarded: condition baseline evaluates alone.'

/** What a report tells of the reward of a configuration. */
export const describeRubricRewards = ({
  condition,
  weights: own,
  scoringRule,
}: Pick<RubricAsRewardConfig, 'condition' | 'weights' | 'scoringRule'>): Pick<
  RunInfo,
  'criterionAbout' | 'criterionWeights' | 'rewardFormula'
> => {
  const criterionAbout = { ...ABOUT }
  if (scoringRule)
    return { criterionAbout, rewardFormula: `The reward is that of the rule ${scoringRule.name}.` }
  if (condition === 'proof') return { criterionAbout, rewardFormula: PROOF }
  if (condition === 'baseline') return { criterionAbout, rewardFormula: BASELINE }
  const weights = own ?? conditionWeights(condition)
  const sum = LOGIC_CRITERIA.filter(id => (weights[id] ?? 0) > 0)
    .map(id => `${threeDigits(weights[id]!)} ${id}`)
    .join(' + ')
  const norm =
    condition === 'rubric_norm' ? ' Each criterion is normalised in its group before they are added up.' : ''
  return {
    criterionAbout,
    criterionWeights: { ...weights },
    rewardFormula: `The reward of a response is 3 × (${sum}), each criterion from 0 to 1: condition ${condition}.${norm}`,
  }
}
