/** @file Settings of a judge, checked, with their defaults. */

import type { ChatModel } from '../../chat/chat-model.ts'
import type { Calibration } from '../../eval/calibration.ts'
import { ConfigError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { Quote } from '../../util/untrusted.ts'
import { askOf, askSchema, type CallShape } from './ask-config.ts'
import { type JudgeForm, REPLIES } from './templates/form.ts'
import type { AskedScale } from './templates/scale.ts'
import type { SubjectOptions } from './templates/template.ts'
import type { JudgeSampling } from './verdict-key.ts'

/** Where verdicts are remembered between runs, at once and without waiting; `VerdictCache` is one. Values are plain JSON. */
export interface VerdictStore {
  /** The value, or undefined. */
  get(key: string): unknown
  put(key: string, value: unknown): void
  /** Where processes share the store: says that this one asks; false while another one does. */
  claim?(key: string): boolean | Promise<boolean>
  /** The question that was claimed has been answered, or will not be. */
  release?(key: string): void
  /** Reads what other processes have put. */
  refresh?(): void
}

/** Null leaves a setting to the server, as leaving it out does. */
type OrNull<T> = { [K in keyof T]?: T[K] | null }

/** Defaults are those of preset `plain` (`ASK_PRESETS`). */
export interface JudgeOptions extends OrNull<JudgeSampling>, SubjectOptions {
  model: ChatModel
  /** What is put to it, and in which words. Default: replies in a conversation. */
  form?: JudgeForm
  shape?: CallShape
  /** As settings say it (`askSchema`). Criteria with scores of their own are judged on these. */
  levels?: AskedScale
  /** Of verdicts by likelihood. */
  calibration?: Calibration | null
  /** How often an answer that cannot be read is sent back with the reason. */
  repairs?: number
  /** How often the question is then asked afresh (10 in RuscaRL's code). */
  retries?: number
  /** Keep the raw answer in verdicts that are null. Default true. */
  nullsKeepRaw?: boolean
  cache?: VerdictStore
  /** Each verdict says which call it came from, what that brought and took (`Verdict.call`); so does what is remembered. Default false. */
  tellsCalls?: boolean
  /** Every call is a new one: nothing is remembered and nothing shared. For measuring how much a judge varies. */
  fresh?: boolean
  /** Added to the repeat number of every call. */
  sampleIndex?: number
  /** How untrusted text is quoted; any other way than the default is for experiments, and nothing is remembered then. */
  quote?: Quote
}

export type CheckedOptions = ReturnType<typeof checkedJudgeOptions>

/** @throws ConfigError that lists every setting out of range. */
export const checkedJudgeOptions = ({
  model,
  form = REPLIES,
  cache,
  quote,
  tellsCalls = false,
  ...settings
}: JudgeOptions) => {
  const { temperature, topP, topK, presencePenalty, maxTokens, seed, topLogprobs, ...ask } = askOf(
    parseWith(askSchema, settings, 'judge', ConfigError),
    'plain',
    true,
  )
  const { nullsKeepRaw = true, fresh = false } = ask
  return {
    ...ask,
    nullsKeepRaw,
    model,
    form,
    cache,
    tellsCalls,
    // Verdicts about text that was quoted in another way are not those that the key names.
    fresh: fresh || quote !== undefined,
    sampling: {
      temperature: temperature ?? undefined,
      topP: topP ?? undefined,
      topK: topK ?? undefined,
      presencePenalty: presencePenalty ?? undefined,
      maxTokens: maxTokens ?? undefined,
      seed: seed ?? undefined,
      topLogprobs: topLogprobs ?? undefined,
    },
  }
}
