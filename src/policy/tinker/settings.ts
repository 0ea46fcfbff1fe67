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
import type { CriticPolicy } from '../critic-policy.ts'
import type { ModelSource } from '../local/model-source.ts'
import type { CriticModel } from '../policy.ts'
import { DIALECTS } from '../served/dialect-names.ts'
import type { AdapterSampler } from './adapter-sampler.ts'
import type { SplitPolicy } from './split-policy.ts'
import type { TinkerPolicy } from './tinker-policy.ts'

const price = z.number().min(0)

/** An inference server that samples in place of the training service. */
const samplerSchema = z.strictObject({
  url: keptAddressSchema.describe(
    'Address of the inference server and name of its base model, the same as that of `policy.model`: `http://gpu:8000/v1#Qwen/Qwen3-8B`.',
  ),
  dialect: z
    .enum(DIALECTS)
    .nullable()
    .default(null)
    .describe('Protocol of the inference server; null: detected.'),
  apiKeyEnv: keyVariableSchema
    .nullable()
    .default(null)
    .describe('Environment variable with the key of the inference server; null: it needs none.'),
  adapters: z
    .string()
    .min(1)
    .describe('Folder that adapters are written to and that the inference server reads.'),
  seenAs: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('Path of `adapters` on the inference server; null: the same path.'),
  correction: z
    .strictObject({
      level: z
        .enum(['token', 'sequence'])
        .default('token')
        .describe(
          'Whether each token has a ratio of its own (`token`), or a response one for all its tokens (`sequence`).',
        ),
      action: z
        .enum(['truncate', 'mask'])
        .default('truncate')
        .describe('What a ratio outside the bounds becomes: the bound (`truncate`), or 0 (`mask`).'),
      max: z.number().positive().default(2).describe('Upper bound of the ratio.'),
      min: z.number().min(0).default(0).describe('Lower bound of the ratio.'),
    })
    .nullable()
    .prefault({})
    .describe(
      "Importance weights: the policy's loss is multiplied by the ratio of the trainer's to the sampler's probability, within bounds. This corrects for differences of the two servers and for samples of earlier weights. The loss's own ratios then start at the trainer's log-probs; null: at the sampler's.",
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
  kind: z.literal('tinker').describe('On a server of the Tinker protocol.'),
  url: z
    .string()
    .refine(isAddress, { message: 'an address such as http://127.0.0.1:8000, without a key' })
    .describe('Address of the server, without user and password.'),
  model: z
    .string()
    .min(1)
    .describe(
      "The server's name for the base model. `gradus serve tinker` names it by the folder's absolute path, or by the name that it was given.",
    ),
  lora: z
    .strictObject({
      rank: natural.default(32).describe('Rank of the adapter on the server.'),
      attention: z
        .boolean()
        .default(true)
        .describe('Adapters in the attention layers. Some servers leave no choice.'),
      mlp: z.boolean().default(true).describe('Adapters in the feed-forward layers.'),
      unembed: z.boolean().default(true).describe('An adapter in the output layer.'),
    })
    .prefault({})
    .describe('The adapter that is trained. The server sets its scale (usually alpha 32).'),
  tokenizer: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Folder with config.json and tokenizer.json of the base model, or its name on the Hugging Face Hub, from which they are fetched without weights; null: `model`, if that is such a folder.',
    ),
  apiKeyEnv: keyVariableSchema
    .nullable()
    .default(null)
    .describe('Environment variable with the key; null: the server needs none.'),
  concurrency: natural.default(32).describe('Most groups that are sampled at a time.'),
  reduction: z
    .literal('sums')
    .optional()
    .describe(
      "How the server reduces the losses of a batch. Absent: measured in a few steps of a model that is then deleted. `sums`: as the protocol says, without measuring, for servers whose optimiser uses the learning rate alone (SkyRL's FSDP backend). An answer that is lost then ends the run.",
    ),
  patienceMinutes: z
    .number()
    .positive()
    .default(15)
    .describe('Longest wait for a server that is busy or cannot be reached.'),
  sampler: samplerSchema
    .nullable()
    .default(null)
    .describe(
      'An inference server that samples in place of the training service; null: the service samples too.',
    ),
  download: z
    .enum(['never', 'last', 'every'])
    .default('last')
    .describe("Which checkpoints also bring the adapter into the run's folder, if the server hands it out."),
  prices: z
    .strictObject({
      prefill: price.default(0).describe('Price of a million prompt tokens.'),
      sample: price.default(0).describe('Price of a million sampled tokens.'),
      train: price.default(0).describe('Price of a million trained tokens.'),
    })
    .nullable()
    .default(null)
    .describe('Prices of a million tokens, in any currency.'),
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
 * @param critic whether a critic is made beside it
 * @throws ConfigError without the key; TinkerError as `TinkerPolicy.start`
 */
export const openTinker = async (
  settings: TinkerSettings,
  { folder, seed }: Pick<ModelSource, 'folder' | 'seed'>,
  critic = false,
  env: NodeJS.ProcessEnv = process.env,
): Promise<TinkerPolicy | SplitPolicy | CriticPolicy> => {
  const { url, model, lora, concurrency, patienceMinutes, download, reduction } = settings
  const { rank, attention, mlp, unembed } = lora
  const apiKey = readKey(settings, env, 'policy.apiKeyEnv')
  // First, because it costs nothing to find out that it is not there.
  const sampler = settings.sampler && (await openSampler(settings.sampler, settings))
  try {
    const { TinkerPolicy } = await import('./tinker-policy.ts')
    const trainer = await TinkerPolicy.start({
      ...{ url, model, folder, concurrency, download, apiKey, reduction },
      patienceMs: patienceMinutes * 60_000,
      lora: { rank, seed: seedNumber(seed), trainAttn: attention, trainMlp: mlp, trainUnembed: unembed },
    })
    const own = critic ? await besides(trainer) : null
    const policy = sampler ? await splitOf(trainer, sampler) : trainer
    if (own === null) return policy
    const { CriticPolicy } = await import('../critic-policy.ts')
    return new CriticPolicy(policy, own)
  } catch (error) {
    await sampler?.close()
    throw error
  }
}

/** @throws TinkerError where the server makes no critic; the policy is closed then */
const besides = (trainer: TinkerPolicy): Promise<CriticModel> =>
  trainer.createCritic().catch(async error => {
    await trainer.close()
    throw error
  })

const splitOf = async (trainer: TinkerPolicy, sampler: AdapterSampler): Promise<SplitPolicy> => {
  const { SplitPolicy } = await import('./split-policy.ts')
  return SplitPolicy.start(trainer, sampler)
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
