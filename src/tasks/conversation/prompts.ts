/** @file Conversations with their prompts as tokens; those that are too long are left out, and said. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import { ConfigError } from '../../util/errors.ts'
import type { ConversationRow, ConversationSplit } from './rows.ts'
import type { Conversation } from './task.ts'

/** How rows become prompts, and how long they may be. */
export interface PromptSettings {
  maxPromptTokens: number
  /** Most tokens of a response. */
  maxTokens: number
  /** What is trained and evaluated on. */
  plain(row: ConversationRow): readonly ChatMessage[]
  /** The longest that is shown in its place, in training and in evaluation. */
  longest: Record<Side, (row: ConversationRow) => readonly ChatMessage[]>
}

type Side = 'train' | 'test'

interface Encoded {
  conversations: Conversation[]
  /** Longer than `maxPromptTokens`. */
  tooLong: number
  /** Without room for the longest prompt and a response in the model's context. */
  noRoom: number
}

const bytesOf = (messages: readonly ChatMessage[]): number =>
  messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)

const encodeRows = (
  rows: readonly ConversationRow[],
  format: ChatFormat,
  { maxPromptTokens, maxTokens, plain, longest }: PromptSettings,
  side: Side,
): Encoded => {
  const encoded: Encoded = { conversations: [], tooLong: 0, noRoom: 0 }
  const room = format.maxPositions - maxTokens
  for (const row of rows) {
    const promptTokens = format.encode(plain(row))
    if (promptTokens.length > maxPromptTokens) {
      encoded.tooLong++
      continue
    }
    const shown = longest[side](row)
    // A token is at least a byte: most long prompts need not be encoded to see that they fit.
    const fits = promptTokens.length + 2 * bytesOf(shown) <= room || format.encode(shown).length <= room
    if (fits) encoded.conversations.push({ ...row, promptTokens })
    else encoded.noRoom++
  }
  return encoded
}

const leftOut = (side: string, { tooLong, noRoom }: Encoded, limit: number): string[] => [
  ...(tooLong > 0 ? [`${tooLong} ${side} conversations left out: longer than ${limit} tokens`] : []),
  ...(noRoom > 0
    ? [
        `${noRoom} ${side} conversations left out: no room in the model's context beside scaffold and response`,
      ]
    : []),
]

/** What to change, by what most rows were left out for. */
const hintFor = (sides: readonly Encoded[]): string => {
  const sum = (name: 'tooLong' | 'noRoom') => sides.reduce((all, side) => all + side[name], 0)
  return sum('noRoom') > sum('tooLong')
    ? 'their whole rubric has to fit into the prompt as well, also where nothing of it is shown, so that every arm has the same rows: take a model with a longer context, shorten the rubric, or lower rollout.maxTokens'
    : 'raise task.maxPromptTokens, or lower rollout.maxTokens'
}

/**
 * Both sides of a split with their plain prompts, and what a person should know of it. The same cut on both sides, so that
 * training and test rows are alike.
 * @throws ConfigError when one side is empty
 */
export const encodeSplit = (
  split: ConversationSplit,
  format: ChatFormat,
  settings: PromptSettings,
): { train: Conversation[]; test: Conversation[]; notes: string[] } => {
  const train = encodeRows(split.train, format, settings, 'train')
  const test = encodeRows(split.test, format, settings, 'test')
  const { maxPromptTokens, maxTokens } = settings
  if (train.conversations.length === 0 || test.conversations.length === 0)
    throw new ConfigError(
      `task.maxPromptTokens: expected conversations of at most ${maxPromptTokens} tokens, with room for a response of ${maxTokens} in a context of ${format.maxPositions}, got ${train.conversations.length} to train on and ${test.conversations.length} to test on`,
      { hint: hintFor([train, test]) },
    )
  const notes = [
    ...leftOut('training', train, maxPromptTokens),
    ...leftOut('test', test, maxPromptTokens),
    ...(split.repeated > 0
      ? [`${split.repeated} training conversations left out: also among the test rows`]
      : []),
  ]
  return { train: train.conversations, test: test.conversations, notes }
}
