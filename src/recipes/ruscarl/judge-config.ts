/** @file Settings of the judges of conversations; defaults are those of RuscaRL's code (spec 4.1, 1.5). */

import { z } from 'zod'
import { fleetSchema } from '../../chat/index.ts'
import { judgeSettingsSchema } from '../../grade/judge/judge-options.ts'

/** Null leaves a sampling setting to the server. */
const askSchema = judgeSettingsSchema.omit({ fresh: true, topLogprobs: true, nullsKeepRaw: true }).extend({
  /** One call a criterion, as in the paper; `rubric` or `{batch: n}` ask about several at once. */
  shape: judgeSettingsSchema.shape.shape,
  repairs: judgeSettingsSchema.shape.repairs.unwrap().default(0),
  retries: judgeSettingsSchema.shape.retries.unwrap().default(10),
  temperature: judgeSettingsSchema.shape.temperature.unwrap().default(0.7),
  topP: z.number().min(0).max(1).nullable().default(0.8),
  topK: z.int().positive().nullable().default(20),
  presencePenalty: z.number().min(-2).max(2).nullable().default(1.5),
  maxTokens: z.int().min(1).nullable().default(4096),
})

const judgeShape = {
  /** Where the model is: endpoints with limits, retries, prices. */
  fleet: fleetSchema,
  /** How it is asked. */
  ask: askSchema.prefault({}),
  /** Folder in which verdicts outlast the run, and its size; null: nothing is remembered. */
  cache: z
    .strictObject({
      folder: z.string().min(1),
      maxBytes: z
        .int()
        .positive()
        .default(2 ** 30),
    })
    .nullable()
    .default(null),
}

/**
 * A judge that training never hears: when the reward rises and its opinion falls, the policy has learnt what the judge of
 * training likes instead of what the rubrics ask for (monitors `heldOutFalls`, `evaluationFalls`).
 */
const heldOutJudgeSchema = z.strictObject({
  ...judgeShape,
  /** What it is asked about while training goes on: so many of a step's rollouts, every so many steps; null for none. */
  rollouts: z
    .strictObject({ share: z.number().gt(0).max(1).default(0.1), every: z.int().positive().default(1) })
    .nullable()
    .prefault({}),
  /** It also grades the responses of evaluations, as a set of its own, which is then the one that counts. */
  evaluations: z.boolean().default(false),
})

export const judgeSchema = z.strictObject({
  ...judgeShape,
  heldOut: heldOutJudgeSchema.nullable().default(null),
})

/** One judge: where it is, how it is asked, what it remembers. */
export type OneJudge = Pick<z.output<typeof judgeSchema>, keyof typeof judgeShape>
export type HeldOutJudge = z.output<typeof heldOutJudgeSchema>
export type JudgeConfig = z.output<typeof judgeSchema>
