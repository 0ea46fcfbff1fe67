/** @file slime's remote reward (`--rm-type remote_rm --rm-url`): a sample in, a number or an object out. Shape as in its slime/rollout/rm_hub at 624b824a8. */

import { z } from 'zod'
import type { RouteOf } from '../config.ts'
import { referenceAt } from '../fields.ts'
import { asMessages, nullShare } from '../item.ts'
import { numericRewards, numericScores } from './null-reward.ts'
import { promptSchema, type RewardRoute } from './route.ts'

const slimeRequest = z.object({
  prompt: promptSchema,
  response: z.string(),
  label: z.unknown().optional(),
})
export type SlimeRequest = z.output<typeof slimeRequest>

/** For `--reward-key reward`; slime logs nothing of the rest, custom code may. */
const slimeObject = z.object({
  reward: z.number(),
  score: z.number(),
  parts: z.record(z.string(), z.number()),
  null_share: z.number(),
})

const slimeResponse = z.union([z.number(), slimeObject])

export const slimeRoute = (config: RouteOf<'slime'>): RewardRoute<SlimeRequest> => ({
  config,
  summary: 'A reward for slime',
  request: slimeRequest,
  response: slimeResponse,
  count: () => 1,
  items: body => [
    {
      prompt: asMessages(body.prompt),
      response: body.response,
      reference: referenceAt(body, config.reference),
      fields: body,
    },
  ],
  place: () => 'sample',
  answer: (_, results) => {
    const [reward] = numericRewards(results, config.onNull)
    if (config.answer === 'number') return reward
    const [score] = numericScores(results, [reward])
    return { reward, score, parts: results[0].parts, null_share: nullShare(results[0]) }
  },
})
