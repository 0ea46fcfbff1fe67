/** @file The judges of a configuration: language models behind endpoints, learned verifiers, scripts; one of them or several together. */

import { z } from 'zod'
import { fleetSchema } from '../../grade/judge/endpoint/index.ts'
import { judgeSettingsSchema } from '../../grade/judge/judge-options.ts'
import { scriptedJudgeSchema } from './scripted-judge.ts'

const llmJudgeSchema = z.strictObject({
  kind: z.literal('llm'),
  /** Where the model is: endpoints with limits, retries, prices. */
  fleet: fleetSchema,
  /** How it is asked. */
  ask: judgeSettingsSchema.prefault({}),
})

const learnedJudgeSchema = z.strictObject({
  kind: z.literal('learned'),
  /** Checkpoint that `gradus train learned-verifier` made. */
  folder: z.string().min(1),
  threshold: z.number().gt(0).lt(1).default(0.5),
  graded: z.boolean().default(false),
  threads: z.int().positive().default(1),
})

/** A judge. */
export const judgeSchema = z.discriminatedUnion('kind', [
  llmJudgeSchema,
  learnedJudgeSchema,
  scriptedJudgeSchema,
])
export type JudgeConfig = z.output<typeof judgeSchema>
export type LlmJudgeConfig = z.output<typeof llmJudgeSchema>

/** Which judge: one by name. */
export const judgeUseSchema = z.string().min(1)
export type JudgeUse = z.output<typeof judgeUseSchema>
