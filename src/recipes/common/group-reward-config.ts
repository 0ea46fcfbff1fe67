/** @file Settings of relative judging as a reward. */

import { z } from 'zod'
import { groupJudgeShape } from '../../grade/group/config.ts'
import { judgeOf } from '../../grade/judge/judge-config.ts'

/** A relative judge by script: it sees what another grader says, with errors of its own. */
const scriptedSchema = z.strictObject({
  kind: z.literal('scripted').describe('A script that sees scores, for packing.'),
  sees: z
    .enum(['training', 'truth'])
    .default('training')
    .describe("Whose scores it sees: those of training's judge, faults included, or the truth."),
  noise: z
    .number()
    .min(0)
    .default(0.1)
    .describe('Standard deviation of what it adds at random to every score.'),
  placeBias: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('What the first place gains and the last one loses.'),
})

const chatSchema = z
  .strictObject({
    kind: z.literal('chat').describe('A language model that compares responses.'),
    ...groupJudgeShape,
  })
  .transform(judgeOf('thinking'))

/** A judge of groups in a recipe: `chat` asks a language model, `scripted` is for miniatures. */
export const groupRewardSchema = z.discriminatedUnion('kind', [scriptedSchema, chatSchema])
type GroupReward = z.output<typeof groupRewardSchema>
export type ScriptedGroupJudge = Extract<GroupReward, { kind: 'scripted' }>
