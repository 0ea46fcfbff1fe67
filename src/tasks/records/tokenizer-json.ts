/** @file The small model's tokenizer as Hugging Face files. */

import { wordTokenizerFiles } from '../../model/word-tokenizer.ts'
import { BOS, EOS, PAD, PIECE_PATTERN, RECORDS_VOCABULARY, UNK } from './vocabulary.ts'

/** Pieces hold their own blanks and line breaks. @param maxLength context of the model, tokens */
export const recordsTokenizer = (maxLength: number): Record<string, string> =>
  wordTokenizerFiles(
    {
      tokens: RECORDS_VOCABULARY,
      special: [PAD, BOS, EOS, UNK],
      pattern: PIECE_PATTERN,
      keepOnly: true,
      normalizers: [],
      leads: true,
      fused: true,
    },
    maxLength,
  )
