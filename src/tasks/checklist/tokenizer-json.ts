/** @file The small model's tokenizer as Hugging Face files. */

import { BOS, CHECKLIST_TOKENS, CHECKLIST_VOCABULARY, EOS, PAD, UNK } from './vocabulary.ts'

const added = (content: string, id: number) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
})

/** A word-level tokenizer: words with the space before them, and the colon that asks. */
export const checklistTokenizer = (maxLength: number): Record<string, string> => ({
  'tokenizer.json': `${JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [PAD, BOS, EOS, UNK].map((token, id) => added(token, id)),
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Lowercase' }, { type: 'Prepend', prepend: ' ' }] },
    pre_tokenizer: { type: 'Split', pattern: { Regex: ' [a-z]+|:' }, behavior: 'Removed', invert: true },
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: BOS, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [
        { SpecialToken: { id: BOS, type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { Sequence: { id: 'B', type_id: 0 } },
      ],
      special_tokens: { [BOS]: { id: BOS, ids: [CHECKLIST_TOKENS.bos], tokens: [BOS] } },
    },
    decoder: { type: 'Fuse' },
    model: {
      type: 'WordLevel',
      vocab: Object.fromEntries(CHECKLIST_VOCABULARY.map((token, id) => [token, id])),
      unk_token: UNK,
    },
  })}\n`,
  'tokenizer_config.json': `${JSON.stringify({
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: BOS,
    eos_token: EOS,
    pad_token: PAD,
    unk_token: UNK,
    model_max_length: maxLength,
    clean_up_tokenization_spaces: false,
  })}\n`,
})
