/** @file A training on a server of the Tinker protocol from its address to its adapter: connection, session, probe, model. */

import {
  type AdamParams,
  Connection,
  type ConnectionOptions,
  type LoraSettings,
  type TinkerDialect,
  TinkerError,
  TinkerSession,
  TrainingClient,
} from '../../tinker/index.ts'
import type { OptimizerSettings } from '../policy.ts'
import { type Normalisation, PLAIN_SUMS } from './losses.ts'
import { type Found, probeServer } from './probe.ts'

export interface TinkerOptions
  extends Pick<ConnectionOptions, 'url' | 'apiKey' | 'patienceMs' | 'attemptTimeoutMs' | 'backoffMs'> {
  /** What the server calls the base model. */
  model: string
  lora: LoraSettings
  dialect?: TinkerDialect
  /** Folder with the model's config.json and tokenizer: what ends a sample, and stop strings. */
  folder?: string
  /** Groups that are sampled at a time. Default 32. */
  concurrency?: number
  heartbeatMs?: number
  /** `sums`: losses are sums, as the protocol says, and that is not found out. */
  reduction?: 'sums'
  /** Which checkpoints bring the adapter here. Default `last`. */
  download?: Download
}

type Download = 'never' | 'last' | 'every'

/** What is open at the server. */
export interface OpenTraining {
  session: TinkerSession
  client: TrainingClient
  normalisation: Normalisation
}

/** What is taken for granted of a server that is not tried out. */
const UNPROBED: Found = { normalisation: PLAIN_SUMS, isIdempotent: false }

/** How long a server that is left is waited for. */
const FAREWELL_MS = 5000

/** Waits for what a server is told at the end, but not long; whether it heard is nobody's matter any more. */
export const inGoodTime = async (farewells: readonly (Promise<unknown> | undefined)[]): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise(resolve => {
    timer = setTimeout(resolve, FAREWELL_MS)
  })
  await Promise.race([Promise.allSettled(farewells), enough])
  clearTimeout(timer)
}

/** Settings of an optimiser step as the protocol has them. */
export const adamOf = ({
  learningRate,
  beta1 = 0.9,
  beta2 = 0.999,
  epsilon = 1e-8,
  weightDecay = 0,
  maxGradNorm = 1,
}: OptimizerSettings): AdamParams => ({
  ...{ learningRate, beta1, beta2, epsilon, weightDecay },
  gradClipNorm: maxGradNorm,
})

/** @throws TinkerError for a model that the server says it does not have */
const assertModel = async (session: TinkerSession, model: string): Promise<void> => {
  const models = await session.models().catch(error => {
    if (error instanceof TinkerError && error.kind === 'missing') return []
    throw error
  })
  if (models.length === 0 || models.some(({ name }) => name === model)) return
  const names = models.map(({ name }) => name)
  const listed =
    names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ')
  throw new TinkerError('refused', `policy.model: ${session.connection.origin} has no model ${model}`, {
    hint: `set policy.model to one of those that it has: ${listed}`,
  })
}

/**
 * Opens a session, finds out what the server makes of losses, and has an adapter made.
 * @throws TinkerError where the server cannot be had, or refuses key, model or rank; nothing is left behind then
 */
export const openTraining = async (options: TinkerOptions): Promise<OpenTraining> => {
  const { model, lora, dialect, heartbeatMs, reduction, ...rest } = options
  const { url, apiKey, patienceMs, attemptTimeoutMs, backoffMs } = rest
  const given = { patienceMs, attemptTimeoutMs, backoffMs }
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const connection = new Connection({ url, apiKey, ...set })
  let session: TinkerSession | null = null
  try {
    session = await TinkerSession.open(connection, { tags: ['gradus'], ...(heartbeatMs && { heartbeatMs }) })
    await assertModel(session, model)
    const { normalisation, isIdempotent } =
      reduction === 'sums' ? UNPROBED : await probeServer(session, model, lora, dialect)
    const client = await TrainingClient.create(session, model, lora, dialect)
    client.isIdempotent = isIdempotent
    return { session, client, normalisation }
  } catch (error) {
    session?.close()
    await connection.close()
    throw error
  }
}
