/** @file What an attempt and its reflections are paid, in words, for reports. */

import { STAGE_NAMES } from '../../grade/evolving/rubrics.ts'
import type { RubricemConfig } from './config.ts'

/** `plan = plan + 0.5 × research`: what a stage hears of itself and of those behind it. */
const heard = (weights: readonly number[], k: number): string => {
  const parts = STAGE_NAMES.flatMap((stage, j) => {
    const weight = weights[j]
    if (j < k || weight === 0) return []
    return [weight === 1 ? stage : `${weight} × ${stage}`]
  })
  return `${STAGE_NAMES[k]} = ${parts.join(' + ')}`
}

/** How the rewards of a configuration come about. */
export const describeRubricemRewards = ({
  credit: { mode, lambda },
  reflection,
}: Pick<RubricemConfig, 'credit' | 'reflection'>): string => {
  const stage =
    'A stage is worth its weighted mean of the levels that the judge gives it by its rubrics, from 0 to 1.'
  const credit =
    mode === 'terminal'
      ? 'Every token of an attempt is paid by the answer’s worth alone.'
      : `Tokens of a stage are paid for it and for what follows: ${lambda.map(heard).join('; ')}.`
  const learns = reflection.enabled && reflection.learn
  return `${stage} ${credit}${learns ? ' A reflection is paid what its judge finds it worth.' : ''}`
}
