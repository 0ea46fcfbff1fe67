/** @file A word-level tokenizer as Hugging Face files, for small models with a closed vocabulary. */

import { DataError } from '../util/errors.ts'

export interface WordTokenizer {
  /** Spelling of every token by id, special ones included. */
  tokens: readonly string[]
  /** Tokens that are no text; the first four are padding, start, end and unknown. */
  special: readonly string[]
  /** One match of this pattern is one token; what matches nothing is dropped when `keepOnly`, else a token of its own. */
  pattern: string
  keepOnly?: boolean
  normalizers: readonly object[]
  /** Encoding with special tokens puts the start token first. */
  leads: boolean
  /** Decoding is concatenation: tokens hold their own spaces. */
  fused: boolean
}

const added = (content: string, id: number) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
})

/** `<bos>` before a text and before a pair of texts. */
const leading = (start: string, id: number) => ({
  type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: start, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
  pair: [
    { SpecialToken: { id: start, type_id: 0 } },
    { Sequence: { id: 'A', type_id: 0 } },
    { Sequence: { id: 'B', type_id: 0 } },
  ],
  special_tokens: { [start]: { id: start, ids: [id], tokens: [start] } },
})

/** A token that stands there twice would lose one of its ids, and a special one that is missing would get -1. */
const refuseClashes = (tokens: readonly string[], special: readonly string[]): void => {
  const ids = new Map(tokens.map((token, id) => [token, id]))
  const twice = tokens.find((token, id) => ids.get(token) !== id)
  if (twice !== undefined)
    throw new DataError(
      `word tokenizer: token ${JSON.stringify(twice)} stands there twice, as ${tokens.indexOf(twice)} and ${ids.get(twice)}; give every token one place`,
    )
  const absent = special.find(token => !ids.has(token))
  if (absent !== undefined)
    throw new DataError(
      `word tokenizer: the special token ${JSON.stringify(absent)} is not among the tokens; add it to them`,
    )
}

/** The content of `tokenizer.json`. @throws DataError when a token stands there twice or a special one is missing */
export const wordTokenizerJson = (options: WordTokenizer): object => {
  const { tokens, special, pattern, keepOnly = false, normalizers, leads, fused } = options
  const [, start, , unknown] = special
  refuseClashes(tokens, special)
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: special.map(token => added(token, tokens.indexOf(token))),
    normalizer: { type: 'Sequence', normalizers },
    pre_tokenizer: {
      type: 'Split',
      pattern: { Regex: pattern },
      behavior: keepOnly ? 'Removed' : 'Isolated',
      invert: keepOnly,
    },
    post_processor: leads ? leading(start, tokens.indexOf(start)) : null,
    decoder: fused ? { type: 'Fuse' } : null,
    model: {
      type: 'WordLevel',
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      unk_token: unknown,
    },
  }
}

/** The content of `tokenizer_config.json`. @param maxLength context of the model, tokens */
export const wordTokenizerConfig = (
  [pad, start, end, unknown]: readonly string[],
  maxLength: number,
): object => ({
  tokenizer_class: 'PreTrainedTokenizerFast',
  bos_token: start,
  eos_token: end,
  pad_token: pad,
  unk_token: unknown,
  model_max_length: maxLength,
  clean_up_tokenization_spaces: false,
})

/** Both files by name, as text. */
export const wordTokenizerFiles = (tokenizer: WordTokenizer, maxLength: number) => ({
  'tokenizer.json': `${JSON.stringify(wordTokenizerJson(tokenizer), null, 1)}\n`,
  'tokenizer_config.json': `${JSON.stringify(wordTokenizerConfig(tokenizer.special, maxLength), null, 2)}\n`,
})
