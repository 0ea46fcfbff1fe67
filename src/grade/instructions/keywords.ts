/** @file Instructions about keywords and letters (IFEval). Keywords are literal text, not regular expressions. */

import { z } from 'zod'
import { countSchema, holds, instruction, phrase, phrases, relation } from './definition.ts'
import { isInLanguage, LANGUAGES } from './language.ts'
import { splitSentences } from './sentences.ts'
import { firstCharacter, isLower, isUpper, literally, strip, WORD_CHARACTER } from './text.ts'
import { tokenize } from './tokens.ts'

const isWordCharacter = new RegExp(WORD_CHARACTER, 'u')
const has = (text: string, word: string) => new RegExp(literally(word), 'iu').test(text)

/** A word as a whole: no word character touches it, where its own edge is one. */
const wholeWord = (word: string): RegExp => {
  const last = [...word].at(-1) ?? ''
  const before = isWordCharacter.test(firstCharacter(word)) ? `(?<!${WORD_CHARACTER})` : ''
  const after = isWordCharacter.test(last) ? `(?!${WORD_CHARACTER})` : ''
  return new RegExp(`${before}${literally(word)}${after}`, 'iu')
}

/** Whether a text has a word as a whole, in any case. */
export const hasWholeWord = (text: string, word: string): boolean => wholeWord(word).test(text)

export const keywordInstructions = [
  /** `keywords:existence` {keywords}: all of them occur, in any case, also inside longer words. */
  instruction('keywords:existence', { keywords: phrases }, (response, { keywords }) =>
    keywords.every(keyword => has(response, keyword)),
  ),

  /** `keywords:frequency` {keyword, frequency, relation}: how often it occurs, in any case, also inside words. */
  instruction(
    'keywords:frequency',
    { keyword: phrase, frequency: countSchema, relation },
    (response, { keyword, frequency, relation }) => {
      const found = response.match(new RegExp(literally(strip(keyword)), 'giu'))?.length ?? 0
      return holds(found, relation, frequency)
    },
  ),

  /** `keywords:forbidden_words` {forbidden_words}: none occurs as a whole word, in any case. */
  instruction('keywords:forbidden_words', { forbidden_words: phrases }, (response, { forbidden_words }) =>
    forbidden_words.every(word => !hasWholeWord(response, word)),
  ),

  /** `keywords:letter_frequency` {letter, let_frequency, let_relation}: how often a character occurs, in any case. */
  instruction(
    'keywords:letter_frequency',
    {
      letter: phrase.refine(
        text => [...strip(text)].length === 1,
        'one character; a longer text is a keyword (keywords:frequency)',
      ),
      let_frequency: countSchema,
      let_relation: relation,
    },
    (response, { letter, let_frequency, let_relation }) => {
      const asked = strip(letter).toLowerCase()
      return holds(response.toLowerCase().split(asked).length - 1, let_relation, let_frequency)
    },
  ),

  /**
   * `keywords:key_sentences` {key_sentences, num_sentences}: exactly so many of the sentences occur, word for word. In
   * IFEval's code, not in its data.
   */
  instruction(
    'keywords:key_sentences',
    { key_sentences: z.array(phrase).min(1), num_sentences: countSchema },
    (response, { key_sentences, num_sentences }) => {
      const sentences = new Set(splitSentences(response))
      return new Set(key_sentences.filter(sentence => sentences.has(sentence))).size === num_sentences
    },
  ),
]

export const caseInstructions = [
  /** `language:response_language` {language}: the whole response is in the language (ISO 639-1 code). */
  instruction('language:response_language', { language: z.enum(LANGUAGES) }, (response, { language }) =>
    isInLanguage(response, language),
  ),

  /** `change_case:capital_word_frequency` {capital_frequency, capital_relation}: words all in capitals. */
  instruction(
    'change_case:capital_word_frequency',
    { capital_frequency: countSchema, capital_relation: relation },
    (response, { capital_frequency, capital_relation }) =>
      holds(tokenize(response).filter(isUpper).length, capital_relation, capital_frequency),
  ),

  /** `change_case:english_capital`: English, all in capitals. */
  instruction(
    'change_case:english_capital',
    {},
    // In lower case, because capitals are rare in what language detectors learned from.
    response => isUpper(response) && isInLanguage(response.toLowerCase(), 'en'),
  ),

  /** `change_case:english_lowercase`: English, no capitals. */
  instruction(
    'change_case:english_lowercase',
    {},
    response => isLower(response) && isInLanguage(response, 'en'),
  ),

  /** `punctuation:no_comma`: no ASCII comma. */
  instruction('punctuation:no_comma', {}, response => !response.includes(',')),
]
