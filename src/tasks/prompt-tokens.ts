/** @file Tokens of prompts: counted for a plan, and cut to the room that there is. */

import { existsSync } from 'node:fs'
import { type ChatFormat, chatFormatOf } from '../model/chat-format.ts'
import { hasTokenizer } from '../model/tokenizer.ts'
import type { TokenIds } from '../rl/datum.ts'

/** Where there is no tokenizer to count with. */
export const CHARACTERS_PER_TOKEN = 4

export interface PromptCounter {
  count(messages: Parameters<ChatFormat['encode']>[0]): number
  /** By characters. */
  estimated: boolean
}

/**
 * Counts as the model of a folder does.
 * @param folder null, not there or without a tokenizer: by characters
 * @param where who counts, for messages
 */
export const promptCounter = (folder: string | null, where: string): PromptCounter => {
  if (folder !== null && existsSync(folder) && hasTokenizer(folder)) {
    const format = chatFormatOf(folder, where)
    return { count: messages => format.encode(messages).length, estimated: false }
  }
  return {
    count: messages =>
      messages.reduce((sum, { content }) => sum + Math.ceil(content.length / CHARACTERS_PER_TOKEN), 0),
    estimated: true,
  }
}

/**
 * The longest prompt found that has room, by halving; the shortest where none has.
 * @param encode with at most so many characters of what can be cut; null: with all of it
 * @param tries how often it is tried how much there is room for
 */
export const cutToRoom = (
  encode: (characters: number | null) => TokenIds,
  { room, least, most, tries }: { room: number; least: number; most: number; tries: number },
): TokenIds => {
  const whole = encode(null)
  if (whole.length <= room) return whole
  let [below, above] = [least, most]
  let found = encode(least)
  for (let round = 0; round < tries && above - below > 1; round++) {
    const middle = (below + above) >> 1
    const tokens = encode(middle)
    if (tokens.length <= room) [below, found] = [middle, tokens]
    else above = middle
  }
  return found
}
