/** @file Settings of a judge, checked, with their defaults. */

import { z } from 'zod'
import type { ChatModel } from '../../chat/chat-model.ts'
import { ConfigError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { SubjectOptions } from './templates/subject.ts'
import type { Quote } from './untrusted.ts'
import type { JudgeSampling } from './verdict-key.ts'

/** Where verdicts are remembered between runs, at once and without waiting; `VerdictCache` is one. Values are plain JSON. */
export interface VerdictStore {
  /** The value, or undefined. */
  get(key: string): unknown
  put(key: string, value: unknown): void
}

/** How many criteria a call asks about: one, all, or at most so many. */
export type CallShape = 'criterion' | 'rubric' | { batch: number }

export interface JudgeOptions extends JudgeSampling, SubjectOptions {
  model: ChatModel
  /** Default `criterion`. */
  shape?: CallShape
  /** `yes-no`, or `levels` 0, 1, 2 (spec 5.2). Criteria with scores of their own are judged on these. Default `yes-no`. */
  levels?: 'yes-no' | 'levels'
  /** How often an answer that cannot be read is sent back with the reason. Default 1. */
  repairs?: number
  /** How often the question is then asked afresh (10 in RuscaRL's code; spec 1.5). Default 0. */
  retries?: number
  /** Keep the raw answer in verdicts that are null. Default true. */
  nullsKeepRaw?: boolean
  cache?: VerdictStore
  /** Every call is a new one: nothing is remembered and nothing shared. For measuring how much a judge varies. */
  fresh?: boolean
  /** Added to the repeat number of every call. Default 0. */
  sampleIndex?: number
  /** How untrusted text is quoted; any other way than the default is for experiments, and nothing is remembered then. */
  quote?: Quote
}

const count = z.int().min(0)

/** Shape of a judge's settings in a file: all of `JudgeOptions` but the parts that are code. */
export const judgeSettingsSchema = z.strictObject({
  shape: z
    .union([z.enum(['criterion', 'rubric']), z.strictObject({ batch: z.int().min(1) })])
    .default('criterion'),
  levels: z.enum(['yes-no', 'levels']).default('yes-no'),
  repairs: count.max(5).default(1),
  retries: count.max(20).default(0),
  nullsKeepRaw: z.boolean().default(true),
  fresh: z.boolean().default(false),
  sampleIndex: count.default(0),
  showSystem: z.boolean().default(false),
  showReference: z.boolean().default(false),
  temperature: z.number().min(0).max(2).default(0),
  topP: z.number().min(0).max(1).optional(),
  topK: z.int().min(-1).optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  maxTokens: z.int().min(1).optional(),
  seed: z.int().optional(),
  topLogprobs: z.int().min(0).max(20).optional(),
})

export type JudgeSettings = z.input<typeof judgeSettingsSchema>

export type CheckedOptions = ReturnType<typeof checkedJudgeOptions>

/** @throws ConfigError that lists every setting out of range. */
export const checkedJudgeOptions = ({ model, cache, quote, ...settings }: JudgeOptions) => {
  const checked = parseWith(judgeSettingsSchema, settings, 'judge', ConfigError)
  const { temperature, topP, topK, presencePenalty, maxTokens, seed, topLogprobs } = checked
  return {
    ...checked,
    model,
    cache,
    // Verdicts about text that was quoted in another way are not those that the key names.
    fresh: checked.fresh || quote !== undefined,
    sampling: { temperature, topP, topK, presencePenalty, maxTokens, seed, topLogprobs },
  }
}
