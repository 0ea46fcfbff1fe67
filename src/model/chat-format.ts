/** @file Conversations as a chat model's tokens, and its tokens as text. */

import { CheckpointError } from '../util/errors.ts'
import { type ChatTemplate, type ChatTurn, loadChatTemplate, type RenderOptions } from './chat-template.ts'
import { loadConfig } from './checkpoint.ts'
import type { ModelConfig } from './config.ts'
import { tokenizerFolder, wholeFolder } from './lora-files.ts'
import { readModelText } from './model-files.ts'
import {
  assertTokenizerFits,
  decodeWithOffsets,
  hasTokenizer,
  loadTokenizer,
  type Tokenizer,
} from './tokenizer.ts'

/** Text of tokens, and where each of them ends in it (token i covers [ends[i - 1] or 0, ends[i])). */
export interface TokenText {
  text: string
  ends: ArrayLike<number>
}

/** What a turn of a plain conversation is. */
interface Turn {
  role: string
  content: string
}

export interface ChatFormat {
  /** Tokens of a conversation, ending where the assistant's turn begins. */
  encode(messages: readonly Turn[]): number[]
  /** A conversation as the template writes it, tools and calls included. @throws DataError where it refuses them */
  render(messages: readonly ChatTurn[], options?: RenderOptions): string
  /** Tokens of what `render` wrote, from the start of a conversation. */
  encodeRendered(text: string): number[]
  /** Tokens of a text alone. */
  tokens(text: string): number[]
  /** A response without special tokens, with the place of every token in it. */
  read(tokens: ArrayLike<number>): TokenText
  /** What a person or a judge reads of a response: without special tokens and without thinking. */
  answer(tokens: ArrayLike<number>): string
  /** Everything, special tokens too. */
  show(tokens: ArrayLike<number>): string
  /** A response ends with one of these. */
  stopTokens: readonly number[]
  /** Most tokens of prompt and response together. */
  maxPositions: number
}

/**
 * The text outside `<think>` blocks. A block that is never closed hides the rest; a close without an opening (the template
 * wrote that) hides what stands before it.
 */
export const withoutThinking = (text: string): string => {
  const closed = text.replace(/<think>[\s\S]*?<\/think>/g, '')
  const [visible] = closed.split('</think>').at(-1)!.split('<think>')
  return visible.trim()
}

/**
 * Tokens that end a response: those of the model's configuration (`loadConfig` adds those of generation_config.json) and the
 * tokenizer's own. Checkpoints differ in which of the three names the end of a turn and which the end of a text. vLLM stops at those
 * of generation_config.json and the tokenizer's; the transformers library at those of generation_config.json, or without one of
 * config.json. Nothing that any of them names is followed by more of a response.
 */
export const stopTokensOf = (
  { eosTokenIds }: Pick<ModelConfig, 'eosTokenIds'>,
  { eosId }: Pick<Tokenizer, 'eosId'>,
): number[] => [...new Set([...eosTokenIds, ...(eosId === null ? [] : [eosId])])]

/** What to do where a chat is asked of a model without a template. */
export const WITHOUT_TEMPLATE =
  'use the instruction-tuned checkpoint, or choose a template (--template FILE of `gradus sample` and `gradus serve chat`; for training put it into the folder as chat_template.jinja) and teach it: `gradus train sft`'

/** Whether a model is meant to be spoken to; false also where what it has for that is damaged. */
export const hasChatTemplate = (folder: string, adapter?: string): boolean => {
  try {
    return loadChatTemplate(tokenizerFolder(folder, adapter)) !== null
  } catch {
    return false
  }
}

/**
 * The format of the model in a folder.
 * @param purpose what needs it, for messages: `task "conversations"`
 * @param adapter that goes on the model
 * @param template file with a Jinja template in place of the model's own
 * @throws CheckpointError when the model lacks its tokenizer or its template
 */
export const chatFormatOf = (
  folder: string,
  purpose: string,
  { adapter, template: file }: { adapter?: string; template?: string } = {},
): ChatFormat => {
  const config = loadConfig(wholeFolder(folder))
  const base = tokenizerFolder(folder, adapter)
  if (!hasTokenizer(base))
    throw new CheckpointError(`${base}: ${purpose} needs a tokenizer, but there is no tokenizer.json`, {
      hint: 'put the tokenizer files beside the model',
    })
  const tokenizer = loadTokenizer(base)
  assertTokenizerFits(tokenizer, config, base)
  const template = loadChatTemplate(base, file)
  if (template === null)
    throw new CheckpointError(
      `${base}: ${purpose} needs a chat template, but this is a base model, which has none and was never taught to answer`,
      { hint: WITHOUT_TEMPLATE },
    )
  return chatFormat(tokenizer, template, config)
}

/** See `chatFormatOf`. @param addSpecialTokens also those that the tokenizer adds; a model's own template writes them itself */
export const chatFormat = (
  tokenizer: Tokenizer,
  template: ChatTemplate,
  config: Pick<ModelConfig, 'eosTokenIds' | 'maxPositions'>,
  { addSpecialTokens = false }: { addSpecialTokens?: boolean } = {},
): ChatFormat => {
  const encodeRendered = (text: string) => tokenizer.encode(text, { addSpecialTokens })
  return {
    encode: messages =>
      encodeRendered(
        template.render(
          messages.map(({ role, content }) => ({ role, content })),
          { addGenerationPrompt: true },
        ),
      ),
    render: (messages, options) => template.render(messages, options),
    encodeRendered,
    tokens: text => tokenizer.encode(text),
    read: tokens => decodeWithOffsets(tokenizer, Array.from(tokens)),
    answer: tokens => withoutThinking(tokenizer.decode(Array.from(tokens))),
    show: tokens => tokenizer.decode(Array.from(tokens), { keepSpecialTokens: true }),
    stopTokens: stopTokensOf(config, tokenizer),
    maxPositions: config.maxPositions,
  }
}

/**
 * @param setting that names `other`, for messages
 * @throws CheckpointError unless both folders' tokenizers are the same
 */
export const assertSameTokenizer = (folder: string, other: string, setting: string): void => {
  const read = (dir: string) => readModelText(tokenizerFolder(dir), 'tokenizer.json')
  if (hasTokenizer(tokenizerFolder(other)) && read(folder) === read(other)) return
  throw new CheckpointError(`${setting}: ${other} has another tokenizer than ${folder}`, {
    hint: 'choose a model of the same family, whose tokens mean the same',
  })
}
