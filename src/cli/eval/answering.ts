/** @file Who answers the problems of `gradus eval`: a checkpoint here, or a model on a server, by tokens or by words. */

import { type ChatModel, judgeFleet } from '../../chat/index.ts'
import { isServerAddress, modelAddress } from '../../chat/model-address.ts'
import type { AskedPolicy } from '../../measure/ask.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import type { LocalChat } from '../../policy/chat/local-chat.ts'
import type { SampleBits } from '../../policy/local/weight-sizes.ts'
import { contextLength, existingModel } from '../../recipes/common/starting-model.ts'
import { UsageError } from '../../util/errors.ts'
import { StatusLine } from '../../util/status-line.ts'
import type { Io } from '../io.ts'
import { type FetchedModel, fetchedModel } from '../model-option.ts'
import {
  identityOf,
  isServed,
  openServed,
  type ServedIdentity,
  type ServedModelOptions,
} from '../train/served.ts'

const DEFAULT_CONCURRENCY = 32
/** An answer of a thousand tokens from a busy server. */
const CHAT_TIMEOUT_MS = 600_000

/** A model that is spoken to. */
export interface TalkingModel {
  chat: ChatModel
  /** Requests at a time. */
  concurrency: number
  /** Of a model on a server. */
  served?: ServedIdentity
  close(): Promise<void>
}

const openServedChat = async (
  options: ServedModelOptions,
  setting: string,
): Promise<TalkingModel & { served: ServedIdentity }> => {
  const { apiKeyEnv, concurrency = DEFAULT_CONCURRENCY } = options
  // The name, and whether it is there at all.
  const listed = await openServed(options)
  await listed.close()
  const endpoint = { url: modelAddress(options.model, setting).url, model: listed.name, concurrency }
  const fleet = judgeFleet({
    endpoints: [{ ...endpoint, attemptTimeoutMs: CHAT_TIMEOUT_MS, apiKeyEnv }],
    deadlineMs: 3 * CHAT_TIMEOUT_MS,
  })
  return {
    chat: fleet,
    concurrency,
    served: identityOf(listed, 'chat'),
    close: async () => fleet.close?.(),
  }
}

export interface TalkingOptions extends ServedModelOptions {
  /** Goes on the model. */
  adapter?: string
  threads: number
  sampleBits?: SampleBits
  /** Most tokens of an answer. */
  maxTokens?: number
  /** Ends the fetch of a model. */
  signal?: AbortSignal
}

const MOST_ROWS = 128
/** Of an answer where nobody says: a judge's. */
const ANSWER_TOKENS = 1024
/** Of a prompt, about. */
const PROMPT_TOKENS = 256

/** Whether there is a model of that name, before another one is asked. @throws CheckpointError; what `fetchModel` throws */
export const checkTalking = async (
  model: string,
  setting: string,
  io: Io,
  signal?: AbortSignal,
): Promise<void> => {
  if (isServerAddress(model)) return
  await fetchModel(model, { status: new StatusLine(io.err), signal })
  existingModel(model, setting)
}

/** A model of this machine, with its adapter. */
const openLocal = async (
  { model, adapter, threads, sampleBits, signal }: TalkingOptions,
  setting: string,
  io: Io,
): Promise<LocalChat> => {
  const { openLocalChat } = await import('../../policy/chat/local-chat.ts')
  await checkTalking(model, setting, io, signal)
  const status = new StatusLine(io.err)
  const brought: Partial<FetchedModel> =
    adapter === undefined ? {} : await fetchedModel({ model, adapter, signal }, io)
  return openLocalChat(model, { threads, sampleBits, status, adapter: brought.adapter })
}

/** Rows that are decoded together here are told as requests at a time are. */
const isElsewhere = (options: TalkingOptions, setting: string): boolean => {
  const isIt = isServed(
    { ...options, concurrency: undefined, tokenizer: undefined },
    `${setting}-api-key-env`,
  )
  if (isIt && options.adapter !== undefined)
    throw new UsageError('--adapter: expected a model of this machine; a server names its adapters itself')
  if (isIt && options.sampleBits !== undefined)
    throw new UsageError('--sample-bits: expected a model of this machine; a server computes as it does')
  return isIt
}

/** As many as have memory: few long answers keep a small batch waiting longer than a large one. */
const concurrencyOf = async (
  { concurrency, maxTokens: newTokens = ANSWER_TOKENS, sampleBits }: TalkingOptions,
  { config }: LocalChat,
): Promise<number> => {
  if (concurrency !== undefined) return concurrency
  const { rowsThatFit } = await import('../../recipes/common/feasible.ts')
  return rowsThatFit(config, { maxRows: MOST_ROWS, promptTokens: PROMPT_TOKENS, newTokens }, { sampleBits })
}

/**
 * Whatever a user may name as a model, to be spoken to: the one place where a command line's name becomes that.
 * @param setting that named it, for errors
 * @throws ConfigError, ServedError, CheckpointError
 */
export const openTalking = async (
  options: TalkingOptions,
  setting: string,
  io: Io,
): Promise<TalkingModel> => {
  if (isElsewhere(options, setting)) return openServedChat(options, setting)
  const { policyChatModel } = await import('../../policy/chat/chat-model.ts')
  const local = await openLocal(options, setting, io)
  if (!local.ownTemplate)
    io.err.write(`${setting}: ${options.model} has no chat template: messages are joined as plain text\n`)
  const concurrency = await concurrencyOf(options, local)
  const chat = policyChatModel(local, { maxRows: concurrency, maxWaiting: Math.max(1024, 4 * concurrency) })
  return { chat, concurrency, close: () => local.policy.close() }
}

/** A model that is asked in tokens. */
export interface TokenModel extends AskedPolicy, Omit<TalkingModel, 'chat'> {
  chat: Pick<ChatModel, 'name' | 'variant'>
}

/** The same to be asked in tokens; on a server with the folder of `--tokenizer`. @throws as `openTalking` */
export const openInTokens = async (options: TalkingOptions, setting: string, io: Io): Promise<TokenModel> => {
  if (isElsewhere(options, setting)) {
    const { tokenizer = '', concurrency = DEFAULT_CONCURRENCY } = options
    const positions = contextLength(existingModel(tokenizer, '--tokenizer'))
    const policy = await openServed({ ...options, concurrency })
    const { name } = policy
    const served = identityOf(policy, 'tokens')
    return { policy, served, positions, concurrency, chat: { name }, close: () => policy.close() }
  }
  const local = await openLocal(options, setting, io)
  const { policy, config, name, variant } = local
  const concurrency = await concurrencyOf(options, local)
  const positions = config.maxPositions
  return { policy, positions, concurrency, chat: { name, variant }, close: () => policy.close() }
}
