/** @file Settings of a relative judge. */

import { z } from 'zod'
import { natural } from '../../util/setting-shapes.ts'
import { askFields } from '../judge/ask-config.ts'
import { type JudgeConfig, judgeShape } from '../judge/judge-config.ts'

/** How a group is put to a judge; the same in recipes and on the command line. */
export const groupShape = {
  criterion: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("What the judge compares responses by, in words; null: the problem's rubric."),
  looks: natural
    .max(16)
    .default(1)
    .describe(
      "Calls for each group, each with the responses in another order. A response's score is their mean.",
    ),
  maxResponses: natural
    .max(256)
    .default(32)
    .describe(
      'Most different responses in a call. Larger groups are refused, because scores of two calls are not on one scale.',
    ),
  maxCharacters: z
    .int()
    .min(1000)
    .default(120_000)
    .describe(
      'Most characters of all responses in a call. Long responses are cut to one length, and the cut is stated.',
    ),
}

export const groupSettingsSchema = z.strictObject(groupShape)
export type GroupSettings = z.output<typeof groupSettingsSchema>

/**
 * A relative judge: where it is, how it is asked, what it remembers, how a group is put to it. A schema of it ends with
 * `.transform(judgeOf('thinking'))`.
 */
export const groupJudgeShape = {
  ...judgeShape,
  ask: askFields
    .omit({ shape: true, levels: true, calibration: true, showReference: true })
    .prefault({})
    .describe('How the judge is asked. A call is always about the whole group, whatever the preset.'),
  ...groupShape,
}

export interface GroupJudgeConfig extends JudgeConfig, GroupSettings {}
