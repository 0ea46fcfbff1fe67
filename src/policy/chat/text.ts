/** @file From sampled tokens to the text that whoever asked sees: stop strings cut off, log-probs by token. */

import { decodeWithOffsets, TextStream, type Tokenizer } from '../../model/tokenizer.ts'
import type { Sample, TokenAlternative } from '../policy.ts'

/** Where the first of the stop strings begins in a text, or -1. */
const stopAt = (text: string, stops: readonly string[]): number => {
  const places = stops.map(stop => text.indexOf(stop)).filter(at => at >= 0)
  return places.length > 0 ? Math.min(...places) : -1
}

/** A token as the log-prob lists of the protocol show it. */
export interface ShownToken {
  token: string
  logprob: number
  bytes: number[]
}

export interface ShownSample {
  text: string
  /** Tokens of the text with their alternatives; those of a stop string and the end-of-text token are left out. */
  tokens: (ShownToken & { top: ShownToken[]; offset: number })[]
  finishReason: Sample['finishReason']
}

/** Spelling of one token by itself; a special token keeps its name. */
const spell = (tokenizer: Tokenizer, id: number): string =>
  tokenizer.decode([id], { keepSpecialTokens: true })

const shown = (tokenizer: Tokenizer, { token: id, logprob }: TokenAlternative): ShownToken => {
  const token = spell(tokenizer, id)
  return { token, logprob, bytes: [...Buffer.from(token)] }
}

/** The text of a finished sample up to the first stop string, with its tokens. */
export const showSample = (
  tokenizer: Tokenizer,
  { tokens, logprobs, top, finishReason }: Sample,
  stops: readonly string[],
  endTokens: ReadonlySet<number>,
): ShownSample => {
  const ended = endTokens.has(tokens[tokens.length - 1])
  const ids = Array.from(ended ? tokens.subarray(0, -1) : tokens)
  const { text, ends } = decodeWithOffsets(tokenizer, ids)
  const stop = stopAt(text, stops)
  const length = stop < 0 ? text.length : stop
  const kept = ids.flatMap((id, t) => {
    const offset = t === 0 ? 0 : ends[t - 1]
    if (offset >= length && length < text.length) return []
    const alternatives = (top?.[t] ?? []).map(alternative => shown(tokenizer, alternative))
    return [{ ...shown(tokenizer, { token: id, logprob: logprobs[t] }), top: alternatives, offset }]
  })
  return { text: text.slice(0, length), tokens: kept, finishReason }
}

/** The text of a growing sample, held back as long as it may still turn out to be a stop string. */
export class StreamedText {
  readonly #stream: TextStream
  readonly #stops: readonly string[]
  #held = ''
  #stopped = false

  constructor(tokenizer: Tokenizer, stops: readonly string[]) {
    this.#stream = new TextStream(tokenizer)
    this.#stops = stops
  }

  /** Text that is certain after one more token. */
  push(id: number): string {
    return this.#release(this.#stream.push(id))
  }

  /** What was held back, when the sample is over. */
  end(): string {
    const text = this.#release(this.#stream.flush())
    const rest = this.#stopped ? '' : this.#held
    this.#held = ''
    return text + rest
  }

  #release(fresh: string): string {
    if (this.#stopped) return ''
    const text = this.#held + fresh
    const stop = stopAt(text, this.#stops)
    if (stop >= 0) {
      this.#stopped = true
      return text.slice(0, stop)
    }
    const held = this.#heldBack(text)
    this.#held = text.slice(text.length - held)
    return text.slice(0, text.length - held)
  }

  /** Length of the longest end of the text that a stop string begins with. */
  #heldBack(text: string): number {
    const longest = Math.max(0, ...this.#stops.map(stop => stop.length - 1))
    for (let length = Math.min(longest, text.length); length > 0; length--)
      if (this.#stops.some(stop => stop.startsWith(text.slice(-length)))) return length
    return 0
  }
}
