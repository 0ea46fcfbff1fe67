/** @file What `generation_config.json` says of a model: tokens that end a response, and how its makers sample it. */

import { join } from 'node:path'
import { z } from 'zod'
import { CheckpointError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { hasModelFile, readModelJson } from './model-files.ts'

const tokenId = z.int().nonnegative()

/** Fields that change which token is drawn, and that no sampler here has; the values with which they change nothing. */
const OTHERS = {
  repetition_penalty: 1,
  encoder_repetition_penalty: 1,
  no_repeat_ngram_size: 0,
  min_p: 0,
  typical_p: 1,
  epsilon_cutoff: 0,
  eta_cutoff: 0,
  num_beams: 1,
} as const

const schema = z.looseObject({
  eos_token_id: z.union([tokenId, z.array(tokenId)]).nullish(),
  do_sample: z.boolean().nullish(),
  temperature: z.number().nonnegative().nullish(),
  top_k: z.int().min(-1).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
})

/** How a model is sampled where nobody says otherwise; absent: the file says nothing of it. */
export interface SamplingDefaults {
  temperature?: number
  topK?: number
  topP?: number
}

export interface GenerationConfig {
  eosTokenIds: number[]
  sampling: SamplingDefaults
  /** Fields that ask for what no sampler here has, with their values. */
  ignored: Record<string, unknown>
}

const NAME = 'generation_config.json'

/**
 * Reads the `generation_config.json` of a model's folder; without one it says nothing.
 * @throws CheckpointError where it is damaged
 */
export const loadGenerationConfig = (dir: string): GenerationConfig => {
  const path = join(dir, NAME)
  const json = hasModelFile(dir, NAME) ? readModelJson(dir, NAME) : {}
  const { eos_token_id: eos, ...rest } = parseWith(schema, json, path, CheckpointError)
  return { eosTokenIds: [eos ?? []].flat(), sampling: samplingOf(rest), ignored: ignoredOf(rest) }
}

/** As vLLM takes them (its `get_diff_sampling_param`); `do_sample: false` is greedy, as in the transformers library. */
const samplingOf = ({ do_sample, temperature, top_k, top_p }: z.output<typeof schema>): SamplingDefaults => {
  if (do_sample === false) return { temperature: 0 }
  return {
    ...(temperature != null && { temperature }),
    ...(top_k != null && { topK: Math.max(0, top_k) }),
    ...(top_p != null && { topP: top_p }),
  }
}

const ignoredOf = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(OTHERS).flatMap(([name, neutral]) => {
      const value = fields[name] ?? neutral
      return value === neutral ? [] : [[name, value]]
    }),
  )

/** A line for a person about what was taken of the file, without those that were given; null where that is nothing. */
export const describeSampling = (
  { sampling, ignored }: GenerationConfig,
  given: SamplingDefaults = {},
): string | null => {
  const names = Object.entries({ temperature: 'temperature', topK: 'top_k', topP: 'top_p' } as const)
  const taken = Object.fromEntries(
    names.flatMap(([key, name]) => {
      const field = key as keyof SamplingDefaults
      return sampling[field] === undefined || given[field] !== undefined ? [] : [[name, sampling[field]]]
    }),
  )
  const list = (fields: Record<string, unknown>) =>
    Object.entries(fields)
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
      .join(', ')
  const words = [
    ...(Object.keys(taken).length > 0 ? [list(taken)] : []),
    ...(Object.keys(ignored).length > 0 ? [`ignored, as the sampler has none: ${list(ignored)}`] : []),
  ]
  return words.length > 0 ? `${NAME}: ${words.join('; ')}` : null
}
