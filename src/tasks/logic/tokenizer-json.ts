/** @file The small model's tokenizer as Hugging Face files: same ids and text as format.ts. */

import { BOS, EOS, LOGIC_TOKENS, LOGIC_VOCABULARY, PAD, UNK } from './vocabulary.ts'

const replace = (pattern: string, content: string) => ({
  type: 'Replace',
  pattern: { Regex: pattern },
  content,
})

/**
 * Brings any spelling of a problem or response to the text that tokens decode to: lower case; a space before words; a line
 * break before step numbers, closing reasoning tag, answer tag and question; ProntoQA's question sentence as its token;
 * no full stop at the end of a step.
 */
const NORMALIZERS = [
  { type: 'Lowercase' },
  { type: 'Prepend', prepend: ' ' },
  replace('\\s+', ' '),
  replace(
    ' (?:based on the above information, )?is the following statement true,? (?:or )?false(?:,? or unknown)?\\?',
    '\nquestion:',
  ),
  replace(' (?=[0-9]+\\. )', '\n'),
  replace(' ?(?=</reasoning>|<answer>|question:)', '\n'),
  replace('\n+', '\n'),
  replace('^\\s+(?=<)', ''),
  replace(' (?=<reasoning>|</answer>|\\.)', ''),
  replace('(?<=<answer>) ', ''),
  replace('(?<=[a-z])\\.(?=\n[0-9]|\n</)', ''),
  replace('(?<=[a-z.>]) $', ''),
]

/** One match is one token; `wumpuses` is two. */
const PIECE = '\n[0-9]+\\.|\n?</?[a-z]+>|\nquestion:| [a-z]+pus(?=es\\b)|(?<=pus)es\\b| ?[a-z]+|\\.'

const added = (content: string, id: number) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
})

/**
 * The content of `tokenizer.json`: a word-level model whose tokens are the exact texts that they decode to. Encoding puts
 * `<bos>` first (without it: `add_special_tokens: false`), so a prompt is `encode(promptText)` and a response is encoded without.
 */
export const buildLogicTokenizerJson = (): object => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [
    added(PAD, LOGIC_TOKENS.pad),
    added(BOS, LOGIC_TOKENS.bos),
    added(EOS, LOGIC_TOKENS.eos),
    added(UNK, LOGIC_TOKENS.unk),
  ],
  normalizer: { type: 'Sequence', normalizers: NORMALIZERS },
  pre_tokenizer: { type: 'Split', pattern: { Regex: PIECE }, behavior: 'Isolated', invert: false },
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: BOS, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [
      { SpecialToken: { id: BOS, type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { Sequence: { id: 'B', type_id: 0 } },
    ],
    special_tokens: { [BOS]: { id: BOS, ids: [LOGIC_TOKENS.bos], tokens: [BOS] } },
  },
  decoder: { type: 'Fuse' },
  model: {
    type: 'WordLevel',
    vocab: Object.fromEntries(LOGIC_VOCABULARY.map((token, id) => [token, id])),
    unk_token: UNK,
  },
})

/** The content of `tokenizer_config.json`. */
export const buildLogicTokenizerConfig = (maxLength = 256): object => ({
  tokenizer_class: 'PreTrainedTokenizerFast',
  bos_token: BOS,
  eos_token: EOS,
  pad_token: PAD,
  unk_token: UNK,
  model_max_length: maxLength,
  clean_up_tokenization_spaces: false,
})
