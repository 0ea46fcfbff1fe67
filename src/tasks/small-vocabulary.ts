/** @file What the small vocabularies share: special tokens, and a tokenizer of pieces that hold their own blanks. */

import { wordTokenizerFiles } from '../model/word-tokenizer.ts'

/** The first four of each: padding, start, end, unknown. */
export const SPECIAL = ['<pad>', '<bos>', '<eos>', '<unk>'] as const

/** Their ids. */
export const SPECIAL_TOKENS = { pad: 0, bos: 1, eos: 2, unk: 3 } as const

/**
 * Hugging Face files of a vocabulary's tokenizer, for a model with a context of so many tokens.
 * @param pattern one match is one token; what matches nothing is dropped
 */
export const pieceTokenizer =
  (tokens: readonly string[], pattern: string, normalizers: readonly object[] = []) =>
  (maxLength: number): Record<string, string> =>
    wordTokenizerFiles(
      { tokens, special: SPECIAL, pattern, keepOnly: true, normalizers, leads: true, fused: true },
      maxLength,
    )

/** Words in lower case, each with the blank before it. */
export const WORDS_WITH_BLANKS = [{ type: 'Lowercase' }, { type: 'Prepend', prepend: ' ' }] as const
