/** @file The small model's tokenizer as Hugging Face files. */

import { wordTokenizerFiles } from '../../model/word-tokenizer.ts'
import { ARITHMETIC_VOCABULARY, BOS, EOS, PAD, PIECE_PATTERN, UNK } from './vocabulary.ts'

/** Pieces hold their own blanks and line breaks. @param maxLength context of the model, tokens */
export const arithmeticTokenizer = (maxLength: number): Record<string, string> =>
  wordTokenizerFiles(
    {
      tokens: ARITHMETIC_VOCABULARY,
      special: [PAD, BOS, EOS, UNK],
      pattern: PIECE_PATTERN,
      keepOnly: true,
      normalizers: [],
      leads: true,
      fused: true,
    },
    maxLength,
  )
