/**
 * @file Tokens by the conventions of the Penn Treebank, as NLTK's word tokenizer applies them: punctuation stands alone,
 * contractions are cut (`do` `n't`), quotes become `` and '', a period is cut only at the end of a sentence.
 */

import { splitSentences } from './sentences.ts'
import { splitBlanks, WORD_CHARACTER } from './text.ts'

type Rule = readonly [pattern: RegExp, replacement: string]

const OPENING_QUOTES: readonly Rule[] = [
  [/([«“‘„]|`+)/g, ' $1 '],
  [/^"/, '``'],
  [/(``)/g, ' $1 '],
  [/([ ([{<])("|'')/g, '$1 `` '],
  [
    new RegExp(
      `(?<!${WORD_CHARACTER})'(?!(?:re|ve|ll|m|t|s|d|n)(?!${WORD_CHARACTER}))(?=${WORD_CHARACTER})`,
      'giu',
    ),
    "' ",
  ],
]

const MARKS: readonly Rule[] = [
  // The last period, and whatever closes after it.
  [/([^.])\.([\])}>"'»”’ ]*)$/, '$1 . $2 '],
  [/([:,])([^\d])/g, ' $1 $2'],
  [/([:,])$/, ' $1 '],
  [/\.{2,}/g, ' $& '],
  [/[;@#$%&\u2012-\u2015]/g, ' $& '],
  [/[?!*]/g, ' $& '],
  [/([^'])' /g, "$1 ' "],
  [/[\][(){}<>]/g, ' $& '],
  [/--/g, ' -- '],
]

const CLOSING_QUOTES: readonly Rule[] = [
  [/[»”’]/g, ' $& '],
  [/''/g, " '' "],
  [/"/g, " '' "],
]

const CONTRACTIONS: readonly Rule[] = [
  [/([^' ])('[smd]|') /gi, '$1 $2 '],
  [/([^' ])('ll|'re|'ve|n't) /gi, '$1 $2 '],
  [/\b(can)(not)\b/gi, ' $1 $2 '],
  [/\b(gim|lem)(me)\b/gi, ' $1 $2 '],
  [/\b(gon)(na)\b/gi, ' $1 $2 '],
  [/\b(got)(ta)\b/gi, ' $1 $2 '],
  [/\b(wan)(na)(?=\s)/gi, ' $1 $2 '],
  [/\b(d)('ye)\b/gi, ' $1 $2 '],
  [/\b(more)('n)\b/gi, ' $1 $2 '],
  [/ ('t)(is|was)\b/gi, ' $1 $2 '],
]

const apply = (text: string, rules: readonly Rule[]): string =>
  rules.reduce((changed, [pattern, replacement]) => changed.replace(pattern, replacement), text)

const tokenizeSentence = (sentence: string): string[] => {
  const marked = apply(apply(sentence, OPENING_QUOTES), MARKS)
  const quoted = apply(` ${marked} `, CLOSING_QUOTES).replace(/\s+/g, ' ')
  return splitBlanks(apply(quoted, CONTRACTIONS))
}

/** Tokens of a text, sentence by sentence. */
export const tokenize = (text: string): string[] => splitSentences(text).flatMap(tokenizeSentence)

/** Tokens that have a letter or digit. */
export const wordTokens = (text: string): string[] =>
  tokenize(text).filter(token => /[\p{L}\p{N}]/u.test(token))
