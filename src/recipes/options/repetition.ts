/** @file A penalty for repetition, which fills a response with what a rubric does not look at (Yeo et al., arXiv 2502.03373 B.2). */

import { z } from 'zod'
import { repetitionPenalty } from '../../rl/penalties.ts'
import { orAbsent } from '../../train/config.ts'
import { natural, positive } from '../../util/setting-shapes.ts'
import { mean } from '../../util/statistics.ts'
import { refuse } from '../common/refuse.ts'
import type { RewardOption } from './option.ts'

const shape = {
  repetition: orAbsent(
    z.strictObject({
      n: natural.default(4).describe('Length of the sequences of tokens that are compared.'),
      factor: positive.default(1).describe('Largest penalty, for a response that only repeats.'),
    }),
    'Penalty for repetition: `factor` times the share of sequences of `n` tokens that occurred before in the response; absent: none.',
  ),
}

export const repetitionCharge: RewardOption<typeof shape> = {
  shape,
  refuse({ repetition: own, rollout }, { unscored }) {
    if (own && unscored)
      refuse(
        `repetition: expected nothing with ${unscored}, beside which nothing else is paid`,
        'leave it out',
      )
    if (own && rollout && rollout.maxTokens <= own.n)
      refuse(
        `repetition.n: expected less than the ${rollout.maxTokens} tokens of rollout.maxTokens, got ${own.n}: nothing could repeat`,
        'lower it',
      )
  },
  plan: ({ repetition: own }) =>
    own
      ? [`repetition   up to ${own.factor} less for sequences of ${own.n} tokens that occurred before`]
      : [],
  charges: ({ repetition: own }, tokens) =>
    own ? { repetition: repetitionPenalty(tokens, { n: own.n, maxPenalty: -own.factor }) } : null,
  metrics(groups) {
    const charged = groups.flat().flatMap(({ grade: { charges } }) => charges?.repetition ?? [])
    return charged.length > 0 ? { repetitionPenalty: mean(charged) } : {}
  },
  spoils: ({ repetition: own }) => own !== undefined,
}
