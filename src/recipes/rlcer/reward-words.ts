/** @file What both roles are paid, in words, for reports. */

import type { RlcerConfig } from './config.ts'

const OUTCOME = '1 for a right answer and −1 for a wrong one'
const THINKING =
  'its thinking’s points by the valid criteria of the question’s rubrics, from 0 for the least to 1 for the most that they can give'

const REASONER: Readonly<Record<RlcerConfig['reasonerReward'], string>> = {
  'outcome+rubric': `${OUTCOME}, plus ${THINKING}`,
  outcome: OUTCOME,
  rubric: THINKING,
  random: 'a random number from 0 to 1, in place of what its thinking is worth',
}

const describeOverlong = ({ overlong }: Pick<RlcerConfig, 'overlong'>): string =>
  overlong === null
    ? ''
    : `, less up to ${overlong.factor} in the last ${overlong.buffer} tokens before the limit`

const describeRubricator = ({
  rubricator: { enabled, evolving },
  validity: { alpha },
}: Pick<RlcerConfig, 'rubricator' | 'validity'>): string => {
  if (!enabled) return 'No rubricators are trained.'
  const format = '1 for a rubric in the format'
  return evolving
    ? `A rubricator gets ${format}, plus the share of its criteria that are valid: met more often where answers are right, with a correlation above ${alpha}.`
    : `A rubricator gets ${format}.`
}

/** How the rewards of a configuration come about. */
export const describeRlcerRewards = (
  config: Pick<RlcerConfig, 'reasonerReward' | 'overlong' | 'rubricator' | 'validity'>,
): string =>
  `A reasoner gets ${REASONER[config.reasonerReward]}${describeOverlong(config)}. ${describeRubricator(config)}`
