/** @file Conversations as a chat model's tokens, and its tokens as text. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatMessage } from '../../chat/chat-model.ts'
import { type ChatTemplate, loadChatTemplate } from '../../model/chat-template.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import { isAdapterFolder } from '../../model/lora-files.ts'
import { assertTokenizerFits, hasTokenizer, loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { CheckpointError } from '../../util/errors.ts'

export interface ChatFormat {
  /** Tokens of a conversation, ending where the assistant's turn begins. */
  encode(messages: readonly ChatMessage[]): number[]
  /** Tokens of a text alone. */
  tokens(text: string): number[]
  /** What a person or a judge reads of a response: without special tokens and without thinking. */
  answer(tokens: ArrayLike<number>): string
  /** Everything, special tokens too. */
  show(tokens: ArrayLike<number>): string
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

/** Folder of the whole model: an adapter names its base. */
const baseFolder = (folder: string): string => {
  if (!isAdapterFolder(folder)) return folder
  const path = join(folder, 'adapter_config.json')
  const { base_model_name_or_path: named = '' } = JSON.parse(readFileSync(path, 'utf8'))
  return existsSync(named) ? named : join(folder, named)
}

/** @throws CheckpointError when the model lacks its tokenizer or its template */
export const chatFormatOf = (folder: string): ChatFormat => {
  const base = baseFolder(folder)
  const config = loadConfig(base)
  if (!hasTokenizer(base))
    throw new CheckpointError(
      `${base}: task "conversations" needs a tokenizer, but there is no tokenizer.json`,
      {
        hint: 'put the tokenizer files beside the model',
      },
    )
  const tokenizer = loadTokenizer(base)
  assertTokenizerFits(tokenizer, config)
  const template = loadChatTemplate(base)
  if (template === null)
    throw new CheckpointError(`${base}: task "conversations" needs a chat template, but the model has none`, {
      hint: 'use an instruction-tuned checkpoint, or add chat_template.jinja',
    })
  const stops = new Set([...config.eosTokenIds, ...(tokenizer.eosId === null ? [] : [tokenizer.eosId])])
  return chatFormat(tokenizer, template, [...stops], config.maxPositions)
}

/** See `chatFormatOf`. */
export const chatFormat = (
  tokenizer: Tokenizer,
  template: ChatTemplate,
  stopTokens: readonly number[],
  maxPositions: number,
): ChatFormat => ({
  encode: messages =>
    tokenizer.encode(
      template.render(
        messages.map(({ role, content }) => ({ role, content })),
        { addGenerationPrompt: true },
      ),
    ),
  tokens: text => tokenizer.encode(text),
  answer: tokens => withoutThinking(tokenizer.decode(Array.from(tokens))),
  show: tokens => tokenizer.decode(Array.from(tokens), { keepSpecialTokens: true }),
  stopTokens,
  maxPositions,
})

/** @throws CheckpointError unless both folders' tokenizers are the same */
export const assertSameTokenizer = (folder: string, other: string): void => {
  const read = (dir: string) => readFileSync(join(baseFolder(dir), 'tokenizer.json'), 'utf8')
  if (hasTokenizer(baseFolder(other)) && read(folder) === read(other)) return
  throw new CheckpointError(`sft.teacher: ${other} has another tokenizer than ${folder}`, {
    hint: 'choose a teacher of the same family, whose tokens mean the same',
  })
}
