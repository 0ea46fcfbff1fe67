/** @file The small model's tokenizer as Hugging Face files. */

import { wordTokenizerFiles } from '../../model/word-tokenizer.ts'
import { BOS, CHECKLIST_VOCABULARY, EOS, PAD, UNK } from './vocabulary.ts'

/** Words with the space before them, and the colon that asks. @param maxLength context of the model, tokens */
export const checklistTokenizer = (maxLength: number): Record<string, string> =>
  wordTokenizerFiles(
    {
      tokens: CHECKLIST_VOCABULARY,
      special: [PAD, BOS, EOS, UNK],
      pattern: ' [a-z]+|:',
      keepOnly: true,
      normalizers: [{ type: 'Lowercase' }, { type: 'Prepend', prepend: ' ' }],
      leads: true,
      fused: true,
    },
    maxLength,
  )
