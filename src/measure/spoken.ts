/**
 * @file The format of a model that is spoken to in words, of whose tokens nothing is known: a token is a UTF-16 code unit, a prompt
 * the messages as JSON. So a task that asks by a chat template can ask any model, and grade what it said, saved answers too.
 */

import type { ChatMessage } from '../chat/chat-model.ts'
import { type ChatFormat, withoutThinking } from '../model/chat-format.ts'
import type { TokenIds } from '../rl/datum.ts'

/** Behind what came to its end by itself; no code unit. */
const END = 0x10000

const unitsOf = (text: string): number[] => Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))

const textOf = (tokens: ArrayLike<number>): string => {
  const units = Uint16Array.from(Array.from(tokens).filter(token => token !== END))
  return Buffer.from(units.buffer).toString('utf16le')
}

export const spoken: ChatFormat = {
  encode: messages => unitsOf(JSON.stringify(messages)),
  render: messages => JSON.stringify(messages),
  encodeRendered: unitsOf,
  tokens: unitsOf,
  read: tokens => ({ text: textOf(tokens), ends: Array.from(tokens, (_, i) => i + 1) }),
  answer: tokens => withoutThinking(textOf(tokens)),
  show: textOf,
  stopTokens: [END],
  maxPositions: Number.POSITIVE_INFINITY,
}

/** The same, with another reading of what is graded. */
export const spokenAs = (read: (response: string) => string): ChatFormat => ({
  ...spoken,
  answer: tokens => read(textOf(tokens)),
})

/** The messages of a prompt. */
export const promptMessages = (prompt: TokenIds): ChatMessage[] => JSON.parse(textOf(prompt))

/** An answer as tokens. @param finishReason `length`: it was cut off */
export const spokenTokens = (response: string, finishReason: string | undefined): Int32Array =>
  Int32Array.from([...unitsOf(response), ...(finishReason === 'length' ? [] : [END])])
