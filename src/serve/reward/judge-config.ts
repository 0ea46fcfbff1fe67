/** @file The judges of a configuration: language models behind endpoints, learned verifiers, scripts; one of them or several together. */

import { z } from 'zod'
import { judgeOf, judgeShape } from '../../grade/judge/judge-config.ts'
import { scriptedJudgeSchema } from './scripted-judge.ts'

/** Its verdicts are remembered where the configuration's `cache` says, together with those of other judges. */
const llmJudgeSchema = z
  .strictObject({ kind: z.literal('llm'), fleet: judgeShape.fleet, ask: judgeShape.ask })
  .transform(judgeOf('plain'))

const learnedJudgeSchema = z.strictObject({
  kind: z.literal('learned'),
  folder: z
    .string()
    .min(1)
    .describe(
      'Checkpoint that `gradus train learned-verifier` made: a folder, or its name on the Hugging Face Hub.',
    ),
  threshold: z.number().gt(0).lt(1).default(0.5),
  graded: z.boolean().default(false),
  threads: z.int().positive().default(1),
})

/** A judge. */
export const rewardJudgeSchema = z.discriminatedUnion('kind', [
  llmJudgeSchema,
  learnedJudgeSchema,
  scriptedJudgeSchema,
])
export type RewardJudgeConfig = z.output<typeof rewardJudgeSchema>
export type LlmJudgeConfig = z.output<typeof llmJudgeSchema>

const judgeName = z.string().min(1)

const panelSchema = z.strictObject({
  panel: z.array(judgeName).min(2),
  rule: z.enum(['majority', 'mean', 'unanimous']).default('majority'),
  minVotes: z
    .int()
    .positive()
    .optional()
    .describe('Fewest votes for a verdict; absent: more than half of the panel.'),
})

const escalationSchema = z.strictObject({
  light: judgeName,
  strong: judgeName.describe(
    'Name of the judge that is asked only about criteria on which the light judge is unsure.',
  ),
  repeats: z.int().positive().default(1),
  minMargin: z
    .number()
    .min(0)
    .optional()
    .describe('Margin, in nats, below which the light judge counts as unsure; it needs `topLogprobs`.'),
})

/** Which judge: one by name, several that vote, or a light one with a strong one behind it. */
export const judgeUseSchema = z.union([judgeName, panelSchema, escalationSchema], {
  error: 'the name of a judge, {panel: [NAME, ...]} or {light: NAME, strong: NAME}',
})
export type JudgeUse = z.output<typeof judgeUseSchema>

/** Names of the judges that are used. */
export const judgesUsed = (use: JudgeUse | undefined): string[] => {
  if (use === undefined) return []
  if (typeof use === 'string') return [use]
  return 'panel' in use ? use.panel : [use.light, use.strong]
}
