/** @file A conversation between a policy and an environment in tokens: by a chat template, or as plain words. */

import { type ChatFormat, chatFormatOf, stopTokensOf } from '../../model/chat-format.ts'
import { loadChatTemplate } from '../../model/chat-template.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import { wholeFolder } from '../../model/lora-files.ts'
import { assertTokenizerFits, hasTokenizer, loadTokenizer } from '../../model/tokenizer.ts'
import { CheckpointError } from '../../util/errors.ts'
import { personSays } from '../research/index.ts'

export interface TurnFormat {
  /** What the policy is shown first. */
  prompt(text: string): number[]
  /** What it is told after a turn, up to where its next one begins. @param text made safe */
  say(text: string, turn: Int32Array): number[]
  /** A turn as text, without special tokens. */
  read(turn: ArrayLike<number>): string
  /** Everything, special tokens too. */
  show(tokens: ArrayLike<number>): string
  stopTokens: readonly number[]
  maxPositions: number
}

const chatTurns = (format: ChatFormat, maxTokens: number): TurnFormat => {
  const say = personSays(format, maxTokens)
  return {
    prompt: text => format.encode([{ role: 'user', content: text }]),
    say,
    read: turn => format.answer(turn),
    show: tokens => format.show(tokens),
    stopTokens: format.stopTokens,
    maxPositions: format.maxPositions,
  }
}

const plainTurns = (folder: string, maxTokens: number): TurnFormat => {
  const config = loadConfig(folder)
  const tokenizer = loadTokenizer(folder)
  assertTokenizerFits(tokenizer, config, folder)
  const start = tokenizer.bosId === null ? [] : [tokenizer.bosId]
  const special = new Set([tokenizer.bosId, tokenizer.padId, ...stopTokensOf(config, tokenizer)])
  const words = (text: string) => tokenizer.encode(text).filter(id => !special.has(id))
  return {
    prompt: text => [...start, ...words(text)],
    say: text => words(text).slice(0, maxTokens),
    read: turn => tokenizer.decode(Array.from(turn)),
    show: tokens => tokenizer.decode(Array.from(tokens), { keepSpecialTokens: true }),
    stopTokens: stopTokensOf(config, tokenizer),
    maxPositions: config.maxPositions,
  }
}

/**
 * The format of the model in a folder.
 * @param kind `auto`: by its chat template where it has one
 * @throws CheckpointError for a model without a tokenizer, or, with `chat`, without a template
 */
export const turnFormatOf = (
  folder: string,
  kind: 'auto' | 'chat' | 'plain',
  maxObservationTokens: number,
): TurnFormat => {
  const base = wholeFolder(folder)
  if (!hasTokenizer(base))
    throw new CheckpointError(`${base}: an environment needs a tokenizer, but there is no tokenizer.json`, {
      hint: 'put the tokenizer files beside the model',
    })
  const isChat = kind === 'chat' || (kind === 'auto' && loadChatTemplate(base) !== null)
  return isChat
    ? chatTurns(chatFormatOf(folder, 'task.format "chat"'), maxObservationTokens)
    : plainTurns(base, maxObservationTokens)
}
