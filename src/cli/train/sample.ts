/** @file `gradus sample`: new tokens of a checkpoint, or of a model on a server, after one prompt. */

import { chatFormatOf, hasChatTemplate } from '../../model/chat-format.ts'
import {
  describeSampling,
  loadGenerationConfig,
  type SamplingDefaults,
} from '../../model/generation-config.ts'
import { tokenizerFolder, wholeFolder } from '../../model/lora-files.ts'
import { assertTokenizerFits, hasTokenizer, loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { sourceConfig } from '../../policy/local/model-source.ts'
import { openPolicy, policySchema } from '../../policy/open.ts'
import { CheckpointError, UsageError } from '../../util/errors.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { type FetchedModel, fetchedModel, fetchedTokenizer } from '../model-option.ts'
import { identityOf, isServed, openServed, type ServedModelOptions } from './served.ts'

interface SampleServedOptions extends ServedModelOptions {
  prompt?: string
  promptTokens?: number[]
  maxTokens: number
  temperature?: number
  topK?: number
  topP?: number
  seed: string
  json?: boolean
}

/**
 * Samples one continuation. A text becomes tokens here where a tokenizer is named, else at the server.
 * @throws ConfigError, ServedError; as `fetchModel`; CheckpointError for a folder without a tokenizer
 */
const sampleServed = async (options: SampleServedOptions, io: Io): Promise<void> => {
  const { prompt, promptTokens, tokenizer: folder, json, ...rest } = options
  const tokenizer = folder === undefined ? null : loadTokenizer(await fetchedTokenizer(folder, io))
  const given = promptTokens ?? tokenizer?.encode(prompt!, { addSpecialTokens: true }) ?? prompt!
  const model = await openServed(rest)
  try {
    const { maxTokens, temperature = 1, topK = 0, topP = 1, seed } = rest
    const sample = await model.continuation(given, { maxTokens, temperature, topK, topP, seed })
    const { tokens, logprobs, finishReason } = sample
    const text = tokenizer && tokens ? tokenizer.decode([...tokens]) : sample.text
    if (json)
      printJson(io, {
        tokens: tokens && [...tokens],
        logprobs: logprobs && [...logprobs],
        text,
        finishReason,
        model: identityOf(model, typeof given === 'string' ? 'text' : 'tokens'),
      })
    else io.out.write(`${text}\n`)
  } finally {
    await model.close()
  }
}

export interface SampleOptions extends SampleServedOptions {
  adapter?: string
  threads: number
  /** The prompt is what a user says to a chat model. */
  chat?: boolean
  /** File with a chat template in place of the model's own. */
  template?: string
}

/** A prompt's tokens, and how what comes after it ends and is read. */
interface Prompted {
  tokens: number[]
  stopTokens?: readonly number[]
  /** Null where the model has no tokenizer. */
  read(tokens: ArrayLike<number>): string | null
}

/** @throws CheckpointError where the model has no chat template */
const chatPrompt = ({ prompt, template }: SampleOptions, { folder, adapter }: FetchedModel): Prompted => {
  const format = chatFormatOf(folder, '--chat', { adapter, template })
  const tokens = format.encode([{ role: 'user', content: prompt! }])
  return { tokens, stopTokens: format.stopTokens, read: format.answer }
}

const plainPrompt = ({ prompt, promptTokens }: SampleOptions, model: FetchedModel, io: Io): Prompted => {
  const { folder, adapter } = model
  const words = tokenizerFolder(folder, adapter)
  const tokenizer = hasTokenizer(words) ? loadTokenizer(words) : null
  if (tokenizer) assertTokenizerFits(tokenizer, sourceConfig(model))
  const read = (tokens: ArrayLike<number>) => tokenizer?.decode(Array.from(tokens)) ?? null
  if (promptTokens !== undefined) return { tokens: promptTokens, read }
  const tokens = encode(prompt!, tokenizer, folder)
  warnOfUnknown(prompt!, tokens, tokenizer!, folder, io)
  if (hasChatTemplate(folder, adapter))
    io.err.write(
      'note: this is a chat model, and its prompt is continued as plain text; --chat says it as a user would\n',
    )
  return { tokens, read }
}

/** Samples one continuation. @throws UsageError without exactly one kind of prompt; CheckpointError, DataError. */
export const sampleCommand = async (options: SampleOptions, io: Io): Promise<number> => {
  const { prompt, promptTokens } = options
  if ((prompt === undefined) === (promptTokens === undefined))
    throw new UsageError('expected either --prompt TEXT or --prompt-tokens 1,2,3')
  if (options.chat && prompt === undefined)
    throw new UsageError('--chat: expected --prompt TEXT, what the user says')
  if (options.template !== undefined && !options.chat)
    throw new UsageError('--template: expected --chat beside it; a plain prompt has no template')
  if (isServed(options, '--api-key-env')) {
    if (options.chat)
      throw new UsageError(
        '--chat: expected a folder as --model; a server is spoken to at /v1/chat/completions',
      )
    if (options.adapter !== undefined)
      throw new UsageError('--adapter: expected a folder as --model; a server names its adapters itself')
    await sampleServed(options, io)
    return EXIT.ok
  }
  const model = await fetchedModel(options, io)
  const { tokens, stopTokens, read } = options.chat
    ? chatPrompt(options, model)
    : plainPrompt(options, model, io)
  const policy = await openPolicy(policySchema.parse({ threads: options.threads }), model)
  try {
    const { maxTokens, seed } = options
    const request = {
      prompts: [tokens],
      maxTokens,
      ...samplingOf(options, model.folder, io),
      seed,
      stopTokens,
    }
    const [sample] = await policy.sample(request)
    const text = read(sample.tokens)
    if (options.json) {
      const { logprobs, finishReason } = sample
      printJson(io, { tokens: [...sample.tokens], logprobs: [...logprobs], text, finishReason })
    } else io.out.write(`${text ?? sample.tokens.join(',')}\n`)
  } finally {
    await policy.close()
  }
  return EXIT.ok
}

/** What was asked for, and else what the model's makers recommend; the likeliest token is that of any cut. */
const samplingOf = (options: SampleOptions, folder: string, io: Io): SamplingDefaults => {
  const { temperature, topK, topP } = options
  const given =
    temperature === 0 ? { temperature, topK: topK ?? 0, topP: topP ?? 1 } : { temperature, topK, topP }
  const generation = loadGenerationConfig(wholeFolder(folder))
  const words = describeSampling(generation, given)
  if (words !== null) io.err.write(`${words}\n`)
  const asked = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...generation.sampling, ...Object.fromEntries(asked) }
}

/** How vocabularies spell the token for what they lack. */
const UNKNOWN = ['<unk>', '[UNK]']
/** Most words that a warning names. */
const SHOWN_WORDS = 10

/** Says which words of a prompt the model cannot know: each became the one token for what is unknown. */
const warnOfUnknown = (
  prompt: string,
  tokens: readonly number[],
  tokenizer: Tokenizer,
  folder: string,
  io: Io,
): void => {
  const unknownId = UNKNOWN.map(name => tokenizer.idOf(name)).find(id => id !== undefined)
  if (unknownId === undefined || !tokens.includes(unknownId)) return
  const words = [...new Set(prompt.split(/\s+/))].filter(word => tokenizer.encode(word).includes(unknownId))
  const shown = words.slice(0, SHOWN_WORDS).map(word => JSON.stringify(word))
  const more = words.length > SHOWN_WORDS ? ` and ${words.length - SHOWN_WORDS} more` : ''
  io.err.write(
    `warning: ${folder}: its vocabulary lacks ${words.length > 0 ? `${shown.join(', ')}${more}` : 'parts of the prompt'}; the model sees an unknown token in place of each\n`,
  )
}

const encode = (text: string, tokenizer: Tokenizer | null, folder: string): number[] => {
  if (tokenizer) return tokenizer.encode(text, { addSpecialTokens: true })
  throw new CheckpointError(`${folder}: --prompt needs a tokenizer.json, which this model lacks`, {
    hint: 'give token ids with --prompt-tokens',
  })
}
