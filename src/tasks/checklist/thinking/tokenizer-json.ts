/** @file The tokenizer of a small model that thinks, as Hugging Face files. */

import { wordTokenizerFiles } from '../../../model/word-tokenizer.ts'
import { BOS, EOS, PAD, UNK } from '../vocabulary.ts'
import { THOUGHT_VOCABULARY } from './vocabulary.ts'

/** Words with the space before them, the tags of thinking, and the colon that asks. @param maxLength context of the model, tokens */
export const thoughtTokenizer = (maxLength: number): Record<string, string> =>
  wordTokenizerFiles(
    {
      tokens: THOUGHT_VOCABULARY,
      special: [PAD, BOS, EOS, UNK],
      pattern: ' [a-z]+| </?think>|:',
      keepOnly: true,
      normalizers: [{ type: 'Lowercase' }, { type: 'Prepend', prepend: ' ' }],
      leads: true,
      fused: true,
    },
    maxLength,
  )
