/** @file How a judge is asked, as configuration files write it; the defaults of every judge stand here, by the name of a preset. */

import { z } from 'zod'
import type { Calibration } from '../../eval/calibration.ts'
import type { AskedScale } from './templates/scale.ts'

/** How many criteria a call asks about: one, all, or at most so many. */
export type CallShape = 'criterion' | 'rubric' | { batch: number }

/** All settings of asking; null leaves a sampling setting to the server. */
export interface AskConfig {
  shape: CallShape
  levels: AskedScale
  calibration?: Calibration | null
  repairs: number
  retries: number
  showSystem: boolean
  showReference: boolean
  sampleIndex: number
  temperature: number | null
  topP: number | null
  topK: number | null
  presencePenalty: number | null
  maxTokens: number | null
  seed?: number | null
  topLogprobs?: number | null
  nullsKeepRaw?: boolean
  fresh?: boolean
}

const COMMON = {
  shape: 'criterion',
  levels: 'yes-no',
  showSystem: false,
  showReference: false,
  sampleIndex: 0,
} as const

/**
 * Defaults by name.
 * - `plain`: the likeliest verdict, everything else as the server has it; an answer that cannot be read is sent back once.
 *   Servers, commands and `llmJudge` have it.
 * - `ruscarl`: the numbers of RuscaRL's code, which asks afresh instead. The recipe has it. Its topK holds
 *   only where every endpoint is sent it (`sendTopK`); any server but vLLM and its like would refuse it.
 * - `thinking`: judges of thinking are asked about the whole rubric in one call; up to three further attempts, every
 *   other one with the unusable answer sent back.
 * - `stages`: judges of staged rollouts, a call a rollout; up to five further attempts (RubricEM).
 * - `proposals`: the same for those that write new rubrics, which are longer and not the same every time.
 */
export const ASK_PRESETS = {
  plain: {
    ...COMMON,
    repairs: 1,
    retries: 0,
    temperature: 0,
    topP: null,
    topK: null,
    presencePenalty: null,
    maxTokens: null,
  },
  ruscarl: {
    ...COMMON,
    repairs: 0,
    retries: 10,
    temperature: 0.7,
    topP: 0.8,
    topK: 20,
    presencePenalty: 1.5,
    maxTokens: 4096,
  },
  thinking: {
    ...COMMON,
    shape: 'rubric',
    repairs: 1,
    retries: 1,
    temperature: 0,
    topP: null,
    topK: null,
    presencePenalty: null,
    maxTokens: null,
  },
  stages: {
    ...COMMON,
    shape: 'rubric',
    repairs: 1,
    retries: 2,
    temperature: 0,
    topP: null,
    topK: null,
    presencePenalty: null,
    maxTokens: null,
  },
  proposals: {
    ...COMMON,
    shape: 'rubric',
    repairs: 1,
    retries: 2,
    temperature: 0.7,
    topP: null,
    topK: null,
    presencePenalty: null,
    maxTokens: 8192,
  },
} as const satisfies Record<string, AskConfig>
export type AskPreset = keyof typeof ASK_PRESETS

const count = z.int().min(0)

/** All that may be said of asking. */
export const askFields = z
  .strictObject({
    preset: z
      .enum(Object.keys(ASK_PRESETS) as AskPreset[])
      .describe('Named defaults for the other settings here.'),
    shape: z
      .union([
        z.enum(['criterion', 'rubric']),
        z.strictObject({ batch: z.int().min(1).describe('Most criteria in one call.') }),
      ])
      .describe('Criteria in one call: one (`criterion`), all (`rubric`), or at most n (`{batch: n}`).'),
    levels: z
      .enum(['yes-no', 'likelihood', 'levels'])
      .describe(
        'How a criterion is judged. `yes-no`: met or not. `likelihood`: the probability of the single word Yes, without reasons, one call a criterion; the server must return log-probs. `levels`: 0, 1 or 2 (RubricEM). Criteria with scores of their own are judged on those.',
      ),
    calibration: z
      .strictObject({
        temperature: z.number().positive().describe('Divisor of the log-odds.'),
        bias: z.number().describe('Added to the divided log-odds, in nats.'),
      })
      .nullable()
      .describe(
        'Calibration of likelihoods, as `gradus judge check --levels likelihood` fits it to labels; null: none.',
      ),
    repairs: count
      .max(5)
      .describe('How often an unreadable answer is sent back to the judge with the reason.'),
    retries: count
      .max(20)
      .describe('How often the question is asked again from the start when repairs did not help.'),
    showSystem: z
      .boolean()
      .describe('Show the judge system messages, which usually tell the policy how to answer.'),
    showReference: z.boolean().describe('Show the judge the reference answer.'),
    sampleIndex: count.describe(
      'Added to the repeat number of every call, and so to its seed and its key in the cache.',
    ),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullable()
      .describe("Sampling temperature; null: the server's default."),
    topP: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe(
        "Sample only from the most likely tokens whose probabilities add up to this; null: the server's default.",
      ),
    topK: z
      .int()
      .min(-1)
      .nullable()
      .describe('Sample only from this many most likely tokens; null: no value is sent.'),
    presencePenalty: z
      .number()
      .min(-2)
      .max(2)
      .nullable()
      .describe("Penalty on tokens that have occurred already; null: the server's default."),
    maxTokens: z
      .int()
      .min(1)
      .nullable()
      .describe('Most tokens of an answer; null: 2048, and 256 more for each further criterion of the call.'),
    seed: z
      .int()
      .nullable()
      .describe("Seed sent to the judge's server, after the repeat number is added; null: none is sent."),
    topLogprobs: z
      .int()
      .min(0)
      .max(20)
      .nullable()
      .describe('Number of alternatives requested at each token, for the margin of a verdict; null: none.'),
    nullsKeepRaw: z.boolean().describe('Keep the raw answer in null verdicts. Default: true.'),
    fresh: z
      .boolean()
      .describe('Never reuse verdicts, from the cache or from identical calls under way. Default: false.'),
  })
  .partial()

/** What a file may say of asking; what it leaves out is the preset's. */
export const askSchema = askFields.refine(
  ({ levels, calibration }) => !calibration || levels === 'likelihood',
  {
    path: ['calibration'],
    error: 'levels: likelihood beside it; nothing else is calibrated',
  },
)
export type AskInput = z.input<typeof askSchema>

/**
 * All settings of asking: what is given, the preset's for the rest.
 * @param preset where the settings name none
 * @param topKSent whether the endpoints are sent it; a preset's does not hold where they are not
 */
export const askOf = (
  { preset: named, ...given }: z.output<typeof askSchema>,
  preset: AskPreset,
  topKSent: boolean,
): AskConfig => {
  const defaults: AskConfig = ASK_PRESETS[named ?? preset]
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { ...defaults, ...(!topKSent && { topK: null }), ...said }
}
