/** @file A byte-pair tokenizer learnt from texts, as Hugging Face files: it encodes any text, frequent words in one token. */

import { DataError } from '../util/errors.ts'

export interface BytePairTokenizer {
  /** Texts that it is learnt from, with how often each counts. */
  texts: ReadonlyMap<string, number>
  /** Tokens in all: special ones, whole texts, 256 bytes, and merges up to this number. */
  size: number
  /** Tokens that are no text; the first three are padding, start and end. */
  special: readonly string[]
  /** Texts that are one token wherever they stand, word for word. */
  whole?: readonly string[]
  /** What is replaced before anything is cut into words: `pattern` as Hugging Face and JavaScript both read it. */
  replaced?: readonly { pattern: string; content: string }[]
}

/**
 * How text is cut before bytes are merged: words with the blank before them, digits one by one, tags and other marks, line
 * breaks one by one.
 */
const PIECES = String.raw`</?[a-z]+>| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}<]+| ?<|\n| +`

/**
 * A visible character for every byte, as byte-level tokenizers write it (openai/gpt-2, encoder.py, `bytes_to_unicode`):
 * printable ones stand for themselves, the others are numbered from 256 on.
 */
const byteCharacters = (): string[] => {
  const isPrintable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
  let hidden = 0
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(isPrintable(byte) ? byte : 256 + hidden++),
  )
}

interface Word {
  parts: string[]
  count: number
}

const wordsOf = (
  { texts, whole = [], special }: BytePairTokenizer,
  characters: readonly string[],
): Word[] => {
  const counts = new Map<string, number>()
  const pieces = new RegExp(PIECES, 'gu')
  const escaped = [...special, ...whole].map(text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const between = escaped.length > 0 ? new RegExp(escaped.join('|')) : /(?!)/
  for (const [text, times] of texts)
    for (const part of text.split(between))
      for (const [piece] of part.matchAll(pieces)) counts.set(piece, (counts.get(piece) ?? 0) + times)
  return [...counts].map(([piece, count]) => ({
    parts: [...Buffer.from(piece, 'utf8')].map(byte => characters[byte]),
    count,
  }))
}

/** What joins the parts of a pair in keys: no byte's character. */
const GAP = ' '

/** Pairs of neighbours with how often they stand in the texts, and in which words. */
class Pairs {
  readonly #counts = new Map<string, number>()
  readonly #words = new Map<string, Set<Word>>()

  constructor(words: readonly Word[]) {
    for (const word of words) this.#add(word, 1)
  }

  #add(word: Word, sign: 1 | -1): void {
    for (let i = 1; i < word.parts.length; i++) {
      const pair = `${word.parts[i - 1]}${GAP}${word.parts[i]}`
      this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + sign * word.count)
      const words = this.#words.get(pair) ?? new Set()
      this.#words.set(pair, words)
      // A word that loses the pair for good is found without it when the pair is merged.
      if (sign > 0) words.add(word)
    }
  }

  /** The most frequent; of several the first in order of their text, so that the same texts give the same tokens. */
  best(): string | null {
    let best: string | null = null
    let most = 1
    for (const [pair, count] of this.#counts)
      if (count > most || (count === most && best !== null && pair < best)) {
        best = pair
        most = count
      }
    return best
  }

  merge(pair: string): void {
    const [left, right] = pair.split(GAP)
    for (const word of this.#words.get(pair) ?? []) {
      this.#add(word, -1)
      for (let i = 1; i < word.parts.length; i++)
        if (word.parts[i - 1] === left && word.parts[i] === right) word.parts.splice(i - 1, 2, left + right)
      this.#add(word, 1)
    }
    this.#counts.delete(pair)
    this.#words.delete(pair)
  }
}

/** Merges in order (Sennrich et al. 2016, algorithm 1), over bytes. */
const learnMerges = (words: readonly Word[], most: number): string[] => {
  const pairs = new Pairs(words)
  const merges: string[] = []
  while (merges.length < most) {
    const pair = pairs.best()
    if (pair === null) break
    pairs.merge(pair)
    merges.push(pair)
  }
  return merges
}

const added = (content: string, id: number, special: boolean) => ({
  ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false },
  special,
})

/** The content of `tokenizer.json`. @throws DataError when the size leaves no room for the bytes */
export const bytePairTokenizerJson = (options: BytePairTokenizer): object => {
  const { size, special, whole = [], replaced = [] } = options
  const characters = byteCharacters()
  const base = [...special, ...whole, ...characters]
  if (size < base.length)
    throw new DataError(
      `byte-pair tokenizer: expected room for ${base.length} tokens (${special.length} special, ${whole.length} whole texts, 256 bytes), got size ${size}`,
    )
  const merges = learnMerges(wordsOf(options, characters), size - base.length)
  const vocabulary = [...new Set([...base, ...merges.map(pair => pair.replace(GAP, ''))])]
  return {
    ...{ version: '1.0', truncation: null, padding: null },
    added_tokens: [...special, ...whole].map((token, id) => added(token, id, id < special.length)),
    normalizer:
      replaced.length === 0
        ? null
        : {
            type: 'Sequence',
            normalizers: replaced.map(({ pattern, content }) => ({
              ...{ type: 'Replace', pattern: { Regex: pattern }, content },
            })),
          },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: PIECES }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      ...{
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
      },
      ...{ fuse_unk: false, byte_fallback: false, ignore_merges: false },
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
      merges,
    },
  }
}

/** Both files by name, as text. @param chatTemplate in Jinja @param maxLength context of the model, tokens */
export const bytePairTokenizerFiles = (
  options: BytePairTokenizer,
  { maxLength, chatTemplate }: { maxLength: number; chatTemplate: string },
): Record<string, string> => {
  const [pad, start, end] = options.special
  const config = {
    ...{ tokenizer_class: 'PreTrainedTokenizerFast', bos_token: start, eos_token: end, pad_token: pad },
    ...{ model_max_length: maxLength, clean_up_tokenization_spaces: false, chat_template: chatTemplate },
  }
  return {
    'tokenizer.json': `${JSON.stringify(bytePairTokenizerJson(options), null, 1)}\n`,
    'tokenizer_config.json': `${JSON.stringify(config, null, 2)}\n`,
  }
}
