/** @file The small model's tokenizer as Hugging Face files: same ids and text as format.ts. */

import { type WordTokenizer, wordTokenizerConfig, wordTokenizerJson } from '../../model/word-tokenizer.ts'
import { SPECIAL } from '../small-vocabulary.ts'
import { LOGIC_VOCABULARY, PHRASES } from './vocabulary.ts'

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

/** One match is one token; `wumpuses` is two. Phrases, where there are any, go before words. */
const PHRASE = '(?<=pus)es are(?: not)?\\b| is (?:not|an?)\\b|'

const PIECE = '\n[0-9]+\\.|\n?</?[a-z]+>|\nquestion:| [a-z]+pus(?=es\\b)|(?<=pus)es\\b| ?[a-z]+|\\.'

/**
 * A word-level model whose tokens are the exact texts that they decode to. Encoding puts `<bos>` first (without it:
 * `add_special_tokens: false`), so a prompt is `encode(promptText)` and a response is encoded without.
 */
const tokenizerOf = (tokens: readonly string[]): WordTokenizer => ({
  tokens,
  special: SPECIAL,
  pattern: tokens.includes(PHRASES[0]) ? PHRASE + PIECE : PIECE,
  normalizers: NORMALIZERS,
  leads: true,
  fused: true,
})

/** The content of `tokenizer.json` for one of the two vocabularies. */
export const buildLogicTokenizerJson = (vocabulary: readonly string[] = LOGIC_VOCABULARY): object =>
  wordTokenizerJson(tokenizerOf(vocabulary))

/** The content of `tokenizer_config.json`. */
export const buildLogicTokenizerConfig = (maxLength = 256): object => wordTokenizerConfig(SPECIAL, maxLength)
