/** @file How a verifier reads: criterion, prompt and response as words, then one token that is the verdict. */

import type { Tokenizer } from '../../model/tokenizer.ts'
import { wordTokenizerFiles } from '../../model/word-tokenizer.ts'

const PAD = '<pad>'
const BOS = '<bos>'
const EOS = '<eos>'
const UNK = '<unk>'
const SEPARATOR = '<sep>'
const ASK = '<met?>'
const YES = '<yes>'
const NO = '<no>'
const SPECIAL = [PAD, BOS, EOS, UNK, SEPARATOR, ASK, YES, NO] as const

/** A word, a digit, or one sign. Digits stand alone, so that every number can be read. */
const PIECE = '\\p{L}+|\\p{N}|[^\\s\\p{L}\\p{N}]'

/** The words of texts that occur at least `minCount` times, most frequent first, at most `size` of them. */
export const frequentWords = (
  texts: Iterable<string>,
  { size, minCount }: { size: number; minCount: number },
): string[] => {
  const counts = new Map<string, number>()
  const piece = new RegExp(PIECE, 'gu')
  for (const text of texts)
    for (const [word] of text.toLowerCase().matchAll(piece)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const byCount = [...counts].filter(([, count]) => count >= minCount)
  byCount.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return byCount.slice(0, size).map(([word]) => word)
}

/** `tokenizer.json` and `tokenizer_config.json` of a verifier with these words. */
export const verifierTokenizer = (words: readonly string[], maxLength: number) =>
  wordTokenizerFiles(
    {
      tokens: [...SPECIAL, ...words],
      special: SPECIAL,
      pattern: PIECE,
      keepOnly: true,
      normalizers: [{ type: 'Lowercase' }],
      leads: false,
      fused: false,
    },
    maxLength,
  )

/** Vocabulary size with these words. */
export const vocabularySize = (words: readonly string[]): number => SPECIAL.length + words.length

export const END_TOKEN = SPECIAL.indexOf(EOS)
export const START_TOKEN = SPECIAL.indexOf(BOS)

/** Whether a tokenizer belongs to a verifier. */
export const isVerifierTokenizer = (tokenizer: Tokenizer): boolean =>
  [SEPARATOR, ASK, YES, NO].every(token => tokenizer.idOf(token) === SPECIAL.indexOf(token as typeof YES))

export interface VerifierQuestion {
  criterion: string
  prompt: string
  response: string
}

/** The middle of what is too long is left out: a response shows itself at its start and its end. */
const shorten = (tokens: number[], room: number): number[] => {
  if (tokens.length <= room) return tokens
  const head = Math.floor(room / 2)
  return [...tokens.slice(0, head), ...tokens.slice(tokens.length - (room - head))]
}

/** Turns what is judged into prompt tokens and a verdict into its token. */
export class VerifierReader {
  readonly #tokenizer: Tokenizer
  readonly #maxTokens: number
  readonly #special: Readonly<Record<string, number>>

  /** `maxTokens`: context of the model, the verdict included. */
  constructor(tokenizer: Tokenizer, maxTokens: number) {
    this.#tokenizer = tokenizer
    this.#maxTokens = maxTokens
    this.#special = Object.fromEntries(SPECIAL.map((token, id) => [token, id]))
  }

  /**
   * `<bos> criterion <sep> prompt <sep> response <met?>`. The criterion may take a quarter of the context, the response what
   * it needs of the rest, the prompt what is left.
   */
  read({ criterion, prompt, response }: VerifierQuestion): number[] {
    const { [BOS]: bos, [SEPARATOR]: separator, [ASK]: ask } = this.#special
    const room = this.#maxTokens - 5
    const about = shorten(this.#words(criterion), Math.floor(room / 4))
    const text = shorten(this.#words(response), room - about.length)
    const question = shorten(this.#words(prompt), room - about.length - text.length)
    return [bos, ...about, separator, ...question, separator, ...text, ask]
  }

  verdictToken(met: boolean): number {
    return this.#special[met ? YES : NO]
  }

  /** Words that look like a special token are words: judged text cannot write a verdict. */
  #words(text: string): number[] {
    return this.#tokenizer.encode(text.replaceAll('<', '< '))
  }
}
