/** @file The reward in words, for reports: what each criterion asks for, what it weighs, and how the reward is made of them. */

import { LOGIC_CRITERIA, LOGIC_RUBRIC } from '../../grade/logic/rubric.ts'
import type { RunInfo } from '../../runs/rows.ts'
import { threeDigits } from '../../util/format.ts'
import type { RubricAsRewardConfig } from './config.ts'
import { conditionWeights } from './rewards.ts'

const ABOUT = Object.fromEntries(LOGIC_RUBRIC.criteria.map(({ id, text }) => [id, text]))

const PROOF = 'The reward is 3 for a right answer whose every step is proved, else 0: condition proof.'
const BASELINE = 'Nothing is rewarded: condition baseline evaluates alone.'

/** What a report tells of the reward of a configuration. */
export const describeRubricRewards = ({
  condition,
  weights: own,
}: Pick<RubricAsRewardConfig, 'condition' | 'weights'>): Pick<
  RunInfo,
  'criterionAbout' | 'criterionWeights' | 'rewardFormula'
> => {
  const criterionAbout = { ...ABOUT }
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
