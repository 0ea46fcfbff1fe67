/** @file Tokens of a chat model as thinking and answer, also where the tags are special tokens, which plain text leaves out. */

import type { ChatFormat } from '../../model/chat-format.ts'
import { partThinking, type ThoughtResponse } from '../thinking.ts'

const CLOSE = '</think>'

/** How many of the tokens it takes until the closing tag is there. */
const throughClose = (format: ChatFormat, tokens: readonly number[]): number => {
  let [below, enough] = [0, tokens.length]
  while (enough - below > 1) {
    const middle = (below + enough) >> 1
    if (format.show(tokens.slice(0, middle)).includes(CLOSE)) enough = middle
    else below = middle
  }
  return enough
}

/** What a model wrote, parted at the end of its thinking. */
export const readThought = (format: ChatFormat, given: ArrayLike<number>): ThoughtResponse => {
  const tokens = Array.from(given)
  const { text } = format.read(tokens)
  if (text.includes(CLOSE) || !format.show(tokens).includes(CLOSE)) return partThinking(text)
  const end = throughClose(format, tokens)
  const [before, after] = [tokens.slice(0, end - 1), tokens.slice(end)].map(part => format.read(part).text)
  return partThinking(`${before}${CLOSE}${after}`)
}
