/** @file The policy of kind `tinker` in a configuration: where the server is, what it trains, what it may cost. */

import { resolve } from 'node:path'
import { z } from 'zod'
import { keptAddressSchema, keyVariableSchema, readKey } from '../../chat/credentials.ts'
import { hasModelFile } from '../../model/model-files.ts'
import { modelPath } from '../../model/model-place.ts'
import type { ImportanceOptions } from '../../rl/offpolicy.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { secretInAddress } from '../../util/secret-words.ts'
import { natural } from '../../util/setting-shapes.ts'
import type { ModelSource } from '../local/model-source.ts'
import { DIALECTS } from '../served/dialect-names.ts'
import type { AdapterSampler } from './adapter-sampler.ts'
import type { SplitPolicy } from './split-policy.ts'
import type { TinkerPolicy } from './tinker-policy.ts'

const price = z.number().min(0)

/** An inference server that samples in place of the training service. */
const samplerSchema = z.strictObject({
  url: keptAddressSchema.describe(
    'Address and model: `http://gpu:8000/v1#Qwen/Qwen3-8B`, the base model that `policy.model` names.',
  ),
  dialect: z.enum(DIALECTS).nullable().default(null).describe('Dialect of its requests; null: detected.'),
  apiKeyEnv: keyVariableSchema
    .nullable()
    .default(null)
    .describe('Environment variable with its key; null: it wants none.'),
  adapters: z
    .string()
    .min(1)
    .describe('Folder that adapters are written to, for the inference server to read.'),
  seenAs: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('The same folder as that server names it; null: by the same name.'),
  correction: z
    .strictObject({
      level: z
        .enum(['token', 'sequence'])
        .default('token')
        .describe('Whether each token has a ratio of its own, or a response one for all of its tokens.'),
      action: z
        .enum(['truncate', 'mask'])
        .default('truncate')
        .describe('What becomes of a ratio beyond the bounds: the bound, or nothing.'),
      max: z.number().positive().default(2).describe('Upper bound of the ratio.'),
      min: z.number().min(0).default(0).describe('Lower bound of the ratio.'),
    })
    .nullable()
    .prefault({})
    .describe(
      "Corrects for what the two servers make of the same weights, and for samples of earlier ones: the policy's loss is weighted by the ratio of the trainer's to the sampler's probability, within bounds, and ratios start at the trainer's log-probs. Null: they start at those of sampling.",
    ),
})
type SamplerSettings = z.output<typeof samplerSchema>

const isAddress = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : null
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    secretInAddress(text) === undefined
  )
}

/** On a server of the Tinker protocol: an adapter in training there, tokens and log-probs on the wire. */
export const tinkerSchema = z.strictObject({
  kind: z.literal('tinker').describe('Which kind; each has keys of its own.'),
  url: z
    .string()
    .refine(isAddress, { message: 'an address such as http://127.0.0.1:8000, without a key' })
    .describe('Address of the server, without user and password.'),
  model: z
    .string()
    .min(1)
    .describe(
      "What the server calls the base model; of `gradus serve tinker` the folder's absolute path, or the name that it was given.",
    ),
  lora: z
    .strictObject({
      rank: natural.default(32).describe('Rank of the adapter on the server.'),
      attention: z
        .boolean()
        .default(true)
        .describe('Layers that have adapters, where the server leaves the choice.'),
      mlp: z.boolean().default(true).describe('Adapters in the feed-forward layers.'),
      unembed: z.boolean().default(true).describe('An adapter in the output layer.'),
    })
    .prefault({})
    .describe("What is trained; its scaling is the server's (usually alpha 32)."),
  tokenizer: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Folder with config.json and tokenizer.json of the base model, or its name on the Hugging Face Hub, from where they are fetched without weights; null: `model`, where that is such a folder.',
    ),
  apiKeyEnv: keyVariableSchema
    .nullable()
    .default(null)
    .describe('Environment variable with the key; null: the server wants none.'),
  concurrency: natural.default(32).describe('Groups that are sampled at a time.'),
  patienceMinutes: z
    .number()
    .positive()
    .default(15)
    .describe('How long a server that cannot be reached, or is busy, is waited for.'),
  sampler: samplerSchema.nullable().default(null).describe('Null: the training service samples, too.'),
  download: z
    .enum(['never', 'last', 'every'])
    .default('last')
    .describe("Which checkpoints bring the adapter into the run's folder, where the server hands it out."),
  prices: z
    .strictObject({
      prefill: price.default(0).describe('Price of a million tokens that are read.'),
      sample: price.default(0).describe('Price of a million tokens that are sampled.'),
      train: price.default(0).describe('Price of a million tokens that are learnt from.'),
    })
    .nullable()
    .default(null)
    .describe('Of a million tokens, in whatever currency: read of prompts, sampled, trained.'),
})
export type TinkerSettings = z.output<typeof tinkerSchema>

const NEEDED = ['config.json', 'tokenizer.json']

/** Where the words of the server's model are looked for, whether or not they are there. */
export const wordsPlace = ({ model, tokenizer }: Pick<TinkerSettings, 'model' | 'tokenizer'>): string =>
  modelPath(tokenizer ?? model)

/**
 * Folder with the words and the shape of the server's model.
 * @throws ConfigError where there is none: with other words the model would read and write something else
 */
export const wordsFolder = (settings: Pick<TinkerSettings, 'model' | 'tokenizer'>): string => {
  const folder = wordsPlace(settings)
  const missing = NEEDED.filter(file => !hasModelFile(folder, file))
  if (missing.length === 0) return folder
  const { model, tokenizer } = settings
  const got = tokenizer === null ? 'nothing, and policy.model is no such folder here' : folder
  const lacks =
    tokenizer !== null && missing.length < NEEDED.length ? `, which lacks ${missing.join(' and ')}` : ''
  throw new ConfigError(
    `policy.tokenizer: expected a folder with ${NEEDED.join(' and ')} of ${model}, got ${got}${lacks}`,
    {
      hint: `set policy.tokenizer to a folder that has them, or to the model's name on the Hugging Face Hub (OWNER/NAME), from where they are fetched without the weights`,
    },
  )
}

/** Adapters are drawn by whole numbers there; our seeds may be names. */
const seedNumber = (seed: number | string = 0): number =>
  typeof seed === 'number' && Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31
    ? seed
    : new Rng(`adapter/${seed}`).int(2 ** 31)

/**
 * Has an adapter made on the server that the settings name.
 * @param source the folder with the model's words, and the run's seed; what else it says is the server's matter
 * @throws ConfigError without the key; TinkerError as `TinkerPolicy.start`
 */
export const openTinker = async (
  settings: TinkerSettings,
  { folder, seed }: Pick<ModelSource, 'folder' | 'seed'>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<TinkerPolicy | SplitPolicy> => {
  const { url, model, lora, concurrency, patienceMinutes, download, sampler: samplerSettings } = settings
  const { rank, attention, mlp, unembed } = lora
  const apiKey = readKey(settings, env, 'policy.apiKeyEnv')
  // First, because it costs nothing to find out that it is not there.
  const sampler = samplerSettings && (await openSampler(samplerSettings, settings))
  try {
    const { TinkerPolicy } = await import('./tinker-policy.ts')
    const trainer = await TinkerPolicy.start({
      ...{ url, model, folder, concurrency, download, apiKey },
      patienceMs: patienceMinutes * 60_000,
      lora: { rank, seed: seedNumber(seed), trainAttn: attention, trainMlp: mlp, trainUnembed: unembed },
    })
    if (!sampler) return trainer
    const { SplitPolicy } = await import('./split-policy.ts')
    return await SplitPolicy.start(trainer, sampler)
  } catch (error) {
    await sampler?.close()
    throw error
  }
}

const openSampler = async (
  { url, dialect, apiKeyEnv, adapters, seenAs }: SamplerSettings,
  { concurrency, patienceMinutes }: Pick<TinkerSettings, 'concurrency' | 'patienceMinutes'>,
): Promise<AdapterSampler> => {
  const { AdapterSampler } = await import('./adapter-sampler.ts')
  const folder = resolve(adapters)
  return AdapterSampler.open({
    served: {
      ...{ url, dialect, concurrency, ...(apiKeyEnv !== null && { apiKeyEnv }) },
      patienceMs: patienceMinutes * 60_000,
    },
    folder,
    seenAs: seenAs ?? folder,
  })
}

/** How the samples of a policy on a server are corrected for; null where its log-probs are the trainer's own. */
export const correctionOf = ({ sampler }: TinkerSettings): ImportanceOptions | null =>
  sampler?.correction ?? null

/** Refuses a run whose key is not there, before anything is done. @throws ConfigError */
export const checkKey = (settings: TinkerSettings, env: NodeJS.ProcessEnv = process.env): void => {
  readKey(settings, env, 'policy.apiKeyEnv')
  readKey(settings.sampler ?? {}, env, 'policy.sampler.apiKeyEnv')
}
