/** @file Bodies of the service's requests, apart from data and results (`tinker/`): fields that it does not know are let through. */

import { z } from 'zod'
import { modelInputSchema } from '../../tinker/index.ts'
import { shortList } from '../../util/untrusted-lists.ts'

const id = z.string().min(1).max(256)
const count = z.int().min(0)
const seqId = count.nullish().transform(value => value ?? 0)
/** Tags of a session, what a sample ends with. */
const MOST_TEXTS = 1024
/** A hundred years: what is far beyond is no date any more. */
const LONGEST_TTL_S = 100 * 365 * 24 * 3600
const ttl = z.number().positive().max(LONGEST_TTL_S).nullish()
/** It is written down with the model, and read at every start. */
const LONGEST_METADATA = 64 * 1024
const metadata = z
  .record(z.string(), z.unknown())
  .nullish()
  .refine(
    value => JSON.stringify(value ?? {}).length <= LONGEST_METADATA,
    `at most ${LONGEST_METADATA} characters of JSON; keep the rest elsewhere`,
  )
/** A name of a checkpoint becomes that of a folder. */
const checkpointName = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, 'letters, digits, and . _ - after the first, at most 128')
  .nullish()

export const createSessionSchema = z.looseObject({
  tags: shortList(z.string(), MOST_TEXTS, 'tags').nullish(),
  user_metadata: metadata,
  sdk_version: z.string().nullish(),
})

export const sessionSchema = z.looseObject({ session_id: id })

/** What would change the result and is not there is refused rather than ignored. */
const adamOnly = z
  .looseObject({ type: z.string().refine(type => type === 'adamw', 'adamw, the only optimiser here') })
  .nullish()
const none = (what: string) =>
  z
    .unknown()
    .refine(value => !value, `none; this server gives no ${what}`)
    .optional()

const loraSchema = z.looseObject({
  rank: count,
  seed: z.int().nullish(),
  train_unembed: z.boolean().nullish(),
  train_mlp: z.boolean().nullish(),
  train_attn: z.boolean().nullish(),
})
export type LoraRequest = z.output<typeof loraSchema>

export const createModelSchema = z.looseObject({
  session_id: id,
  model_seq_id: count,
  base_model: z.string(),
  lora_config: loraSchema.nullish(),
  optimizer_config: adamOnly,
  user_metadata: metadata,
  model_role: z.literal('policy', { error: 'policy; this server offers no critic' }).nullish(),
})
export type CreateModelRequest = z.output<typeof createModelSchema>

export const modelIdSchema = z.looseObject({ model_id: id })

export const optimStepSchema = z.looseObject({
  model_id: id,
  seq_id: seqId,
  adam_params: z.looseObject({
    learning_rate: z.number().min(0).default(1e-4),
    beta1: z.number().min(0).lt(1).default(0.9),
    beta2: z.number().min(0).lt(1).default(0.95),
    eps: z.number().min(0).default(1e-12),
    weight_decay: z.number().min(0).default(0),
    grad_clip_norm: z.number().min(0).default(0),
  }),
})
export type OptimStepRequest = z.output<typeof optimStepSchema>

export const saveWeightsSchema = z.looseObject({
  model_id: id,
  seq_id: seqId,
  path: checkpointName,
  ttl_seconds: ttl,
  overwrite: z.boolean().nullish(),
})
export type SaveWeightsRequest = z.output<typeof saveWeightsSchema>

export const saveForSamplerSchema = z.looseObject({
  model_id: id,
  seq_id: seqId,
  path: checkpointName,
  sampling_session_seq_id: count.nullish(),
  kind: z
    .string()
    .refine(kind => kind === 'snapshot', 'snapshot; weights that change under a sampler are not served')
    .nullish(),
  ttl_seconds: ttl,
})
export type SaveForSamplerRequest = z.output<typeof saveForSamplerSchema>

export const loadWeightsSchema = z.looseObject({
  model_id: id.nullish(),
  seq_id: seqId,
  /** In place of `model_id`: a new model, as the checkpoint's was. */
  session_id: id.nullish(),
  model_seq_id: count.nullish(),
  base_model: z.string().nullish(),
  optimizer_config: adamOnly,
  user_metadata: metadata,
  path: z.string(),
  optimizer: z.boolean().nullish(),
})
export type LoadWeightsRequest = z.output<typeof loadWeightsSchema>

export const createSamplerSchema = z.looseObject({
  session_id: id,
  sampling_session_seq_id: count,
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
})
export type CreateSamplerRequest = z.output<typeof createSamplerSchema>

const stops = <S extends z.ZodType>(one: S) => shortList(one, MOST_TEXTS, 'stops')

/** An empty one would end every sample at once. */
const text = z.string().min(1)
/** Of the sampler; below it log-probs leave the range of 32-bit numbers. */
const LEAST_TEMPERATURE = 0.000_001

const samplingParamsSchema = z.looseObject({
  max_tokens: z.int().positive().nullish(),
  seed: z.int().nullish(),
  stop: z.union([text, stops(text), stops(z.int())]).nullish(),
  temperature: z
    .number()
    .min(0)
    .refine(
      value => value === 0 || value >= LEAST_TEMPERATURE,
      `0, or at least ${LEAST_TEMPERATURE}; 0 takes the likeliest token`,
    )
    .nullish(),
  top_k: z.int().min(-1).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
})
export type WireSamplingParams = z.output<typeof samplingParamsSchema>

/** Alternatives at a place of a prompt. */
const MOST_ALTERNATIVES = 100

export const sampleSchema = z.looseObject({
  num_samples: z.int().min(1).max(1024).default(1),
  prompt: modelInputSchema,
  sampling_params: samplingParamsSchema.prefault({}),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
  sampling_session_id: id.nullish(),
  seq_id: count.nullish(),
  prompt_logprobs: z.boolean().nullish(),
  /** Only the last so many; the others are not known. */
  prompt_logprobs_last_n: z.int().positive().nullish(),
  topk_prompt_logprobs: z.int().min(0).max(MOST_ALTERNATIVES).nullish(),
  topk_sample_logprobs: none('alternatives of sampled tokens'),
  target_prompt_logprobs: none('log-probs of other tokens in a prompt'),
  prompt_alt_tokens_k: none('other tokens of a prompt'),
})
export type SampleBody = z.output<typeof sampleSchema>

export const retrieveSchema = z.looseObject({
  request_id: z.union([z.string(), z.number()]).transform(String),
})

export const weightsInfoSchema = z.looseObject({ tinker_path: z.string() })

export const ttlSchema = z.looseObject({ ttl_seconds: ttl })
