/** @file What a request is: what a user asks, a right answer and a wrong one. */

import type { Rng } from '../../util/rng.ts'
import type { Body } from './style.ts'

export interface DialogueRequest {
  ask: string
  right: Body
  /** An answer to the same request that is wrong; absent where nearly anything is right. */
  wrong?: Body
  /** Whether an answer is right, however it is put; absent where that cannot be computed. */
  isRight?(answer: string): boolean
  /** The whole answer stands there as it is: no way to put it is added. */
  fixed?: boolean
}

/** A family of requests. */
export interface Kind {
  name: string
  draw(rng: Rng): DialogueRequest
}

/** Whether a text has a phrase as whole words, whatever the case of its letters. */
export const has = (text: string, phrase: string): boolean => {
  const escaped = phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\d])${escaped}(?![\\p{L}\\d])`, 'iu').test(text)
}

/** Whether a text says what a body says, in few words or in a sentence. */
export const says = ({ short, sentence }: Body, text: string): boolean =>
  has(text, short) || has(text, sentence)
